internal import DBusTypes

/// What one value, field or owner, and all of them together, may take up; past it an operation is refused and nothing
/// changes.
public enum Limits {
  /// Fields of one owner; those without an owner, or that would linger, count as one owner's all together.
  public static let fieldsPerOwner = 4096
  /// What the values and keys of one owner may take up; likewise.
  public static let perOwner = Extent(bytes: 16 << 20, elements: 262_144)
  /// Fields in all.
  public static let fields = 131_072
  /// What all values may take up.
  public static let total = Extent(bytes: 64 << 20, elements: 1_048_576)
  /// Keys of one field.
  public static let keysPerField = 256
  /// Keys and commands of the fields of one scene that are not scoped to themselves.
  public static let keysPerScene = 16_384
  /// What one value may take up.
  public static let value = Extent(bytes: 1 << 20, elements: 65_536)
  /// Nested containers in one value: the depth that still fits into the deepest reply that shows it, which is that of
  /// `GetManagedObjects` with seven containers around each value.
  public static let valueDepth = ProtocolLimits.sendableDepth - 7
  /// What the arguments of one call may take up, if they are read.
  public static let arguments = Extent(bytes: 4 << 20, elements: 131_072)
  /// Bytes of a label.
  public static let labelLength = 4096
  /// Fields that one object stands behind.
  public static let fieldsPerObject = 16
  /// Fields from a scene down to its innermost field.
  public static let fieldDepth = 64
  /// Calls that wait for one owner.
  public static let callsPerOwner = 256
  /// File descriptors of calls that wait for one owner.
  public static let waitingDescriptorsPerOwner = 64
  /// File descriptors of calls that wait for any owner.
  public static let waitingDescriptors = 512
  /// Connections that one window adopts.
  public static let adoptedConnections = 256
  /// Keys or commands that a change tells of; of more it tells only that they are others.
  public static let listedNames = 1024
  /// Fields that `History` remembers.
  public static let historyLength = 32
}

/// What values take up.
public struct Extent: Hashable, Sendable {
  /// Bytes, as marshalled.
  public var bytes: Int
  /// Basic values, structures and empty arrays, at any depth; a string and a byte array count as one.
  public var elements: Int

  /// Nothing.
  public static let zero = Extent()

  /// Creates an extent.
  public init(bytes: Int = 0, elements: Int = 0) {
    self.bytes = bytes
    self.elements = elements
  }

  package static func - (left: Extent, right: Extent) -> Extent {
    Extent(bytes: left.bytes - right.bytes, elements: left.elements - right.elements)
  }

  package static prefix func - (extent: Extent) -> Extent { zero - extent }

  package static func += (left: inout Extent, right: Extent) {
    left.bytes += right.bytes
    left.elements += right.elements
  }
}
