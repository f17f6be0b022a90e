internal import DBusTypes

/// What one value, field or owner, and all of them together, may take up; past it an operation is refused and nothing
/// changes.
public enum Limits {
  /// Fields of one owner; those without an owner, or that would linger, count as one owner's all together.
  public static let fieldsPerOwner = 4096
  /// What the values of one owner may take up; likewise.
  public static let perOwner = Extent(bytes: 16 << 20, elements: 262_144)
  /// Fields in all.
  public static let fields = 131_072
  /// What all values may take up.
  public static let total = Extent(bytes: 64 << 20, elements: 1_048_576)
  /// Keys of one field.
  public static let keysPerField = 256
  /// What one value may take up.
  public static let value = Extent(bytes: 1 << 20, elements: 65_536)
  /// Containers within each other in one value: what still fits into the deepest reply that shows it, which is that of
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
  /// Fields that `History` remembers.
  public static let historyLength = 32

  /// Checks that a field may have `count` keys.
  /// - Throws: `FocusError.limitExceeded`.
  static func check(keys count: Int) throws(FocusError) {
    guard count <= keysPerField else {
      throw .limitExceeded("a field may have \(keysPerField) keys, but this one would have \(count)")
    }
  }

  /// Checks that `value` can be a binding's, and measures it.
  /// - Throws: `FocusError.limitExceeded`, or `invalid` for a value with a file descriptor, which cannot be kept.
  static func check(_ value: MarshalledValue, of key: Key) throws(FocusError) -> Extent {
    let bytes = value.size
    guard bytes <= Limits.value.bytes else {
      throw .limitExceeded(
        "the value of \(key) takes \(bytes) bytes, but a value may take at most \(Limits.value.bytes)")
    }
    let measure = value.measure
    guard !measure.holdsUnixFD else {
      throw .invalid("the value of \(key) contains a file descriptor, which cannot be stored")
    }
    guard measure.elements <= Limits.value.elements else {
      throw .limitExceeded(
        "the value of \(key) has \(measure.elements) elements, but a value may have \(Limits.value.elements)")
    }
    guard measure.depth <= valueDepth else {
      throw .limitExceeded("the value of \(key) is nested \(measure.depth) deep, but at most \(valueDepth) is allowed")
    }
    return Extent(bytes: bytes, elements: measure.elements)
  }
}

/// What values take up.
public struct Extent: Hashable, Sendable {
  /// Bytes, as marshalled.
  public var bytes: Int
  /// Basic values, structures and empty arrays, at whatever depth; a string and a byte array count as one.
  public var elements: Int

  /// Nothing.
  public static let zero = Extent()

  /// Creates an extent.
  public init(bytes: Int = 0, elements: Int = 0) {
    self.bytes = bytes
    self.elements = elements
  }

  static func - (left: Extent, right: Extent) -> Extent {
    Extent(bytes: left.bytes - right.bytes, elements: left.elements - right.elements)
  }

  static prefix func - (extent: Extent) -> Extent { zero - extent }

  static func += (left: inout Extent, right: Extent) {
    left.bytes += right.bytes
    left.elements += right.elements
  }
}

/// What one owner, those who have left, or all together have taken up.
struct Allowance: Hashable {
  var fields = 0
  var extent = Extent()

  /// Whose allowance it is, for what a client is told.
  enum Holder {
    case owner
    case lingering
    case everyone

    /// A total, for what a client is told; what others have is not told.
    fileprivate func number(_ total: Int) -> String { self == .owner ? "\(total)" : "more" }

    fileprivate var fieldLimit: Int { self == .everyone ? Limits.fields : Limits.fieldsPerOwner }
    fileprivate var limit: Extent { self == .everyone ? Limits.total : Limits.perOwner }
    fileprivate var name: String {
      switch self {
      case .owner: "one owner"
      case .lingering: "all lingering fields and fields without an owner together"
      case .everyone: "all owners together"
      }
    }
  }

  mutating func add(fields moreFields: Int, _ more: Extent) {
    fields += moreFields
    extent += more
  }

  /// Checks that so much more still fits.
  /// - Throws: `FocusError.limitExceeded`.
  func check(_ holder: Holder, fields moreFields: Int, _ more: Extent) throws(FocusError) {
    guard moreFields <= 0 || fields + moreFields <= holder.fieldLimit else {
      throw .limitExceeded("\(holder.name) may have \(holder.fieldLimit) fields, but this would be one more")
    }
    guard more.bytes <= 0 || extent.bytes + more.bytes <= holder.limit.bytes else {
      throw .limitExceeded(
        "\(holder.name) may have values of \(holder.limit.bytes) bytes, but this would make it "
          + holder.number(extent.bytes + more.bytes))
    }
    guard more.elements <= 0 || extent.elements + more.elements <= holder.limit.elements else {
      throw .limitExceeded(
        "\(holder.name) may have values of \(holder.limit.elements) elements, but this would make it "
          + holder.number(extent.elements + more.elements))
    }
  }
}

/// What all owners have taken up.
struct Allowances: Hashable {
  private var owners: [BusName: Allowance] = [:]
  /// Of fields without an owner, and of those that will have none once theirs has left: else whoever comes and goes would
  /// leave behind more and more.
  private(set) var lingering = Allowance()
  private(set) var total = Allowance()

  /// Whether nothing is taken up.
  var isEmpty: Bool { self == Allowances() }

  /// What `owner` has taken up.
  func extent(of owner: BusName) -> Extent { owners[owner]?.extent ?? .zero }

  /// Checks that so much more fits into what `owner`, the lingering fields and all together may have.
  /// - Throws: `FocusError.limitExceeded`.
  func check(_ owner: BusName?, lingers: Bool, fields: Int, _ more: Extent) throws(FocusError) {
    if let owner { try (owners[owner] ?? Allowance()).check(.owner, fields: fields, more) }
    if lingers || owner == nil { try lingering.check(.lingering, fields: fields, more) }
    try total.check(.everyone, fields: fields, more)
  }

  mutating func add(_ owner: BusName?, lingers: Bool, fields: Int, _ more: Extent) {
    if lingers || owner == nil { lingering.add(fields: fields, more) }
    total.add(fields: fields, more)
    guard let owner else { return }
    owners[owner, default: Allowance()].add(fields: fields, more)
    if owners[owner] == Allowance() { owners[owner] = nil }
  }
}

extension FocusModel {
  /// Checks that so much more fits into what `owner` may have.
  /// - Throws: `FocusError.limitExceeded`.
  func checkAllowance(
    of owner: BusName?, lingers: Bool, fields: Int = 0, _ more: Extent
  ) throws(FocusError) {
    try allowances.check(owner, lingers: lingers, fields: fields, more)
  }

  /// Counts what `field` takes up, or gives back, as its owner's.
  func charge(_ field: Field, fields: Int = 0, _ more: Extent) {
    allowances.add(field.owner, lingers: field.lingers, fields: fields, more)
  }
}
