public import DBusTypes
public import FocusContract

/// Where a session-scoped field stands among the others.
public struct Activity: Hashable, Sendable {
  /// What makes a field active.
  public struct Condition: Hashable, Sendable {
    /// The key of the field.
    public let key: Key
    /// The value that it has while the field is active.
    public let value: MarshalledValue
    /// What the value and the key's name take up.
    let extent: Extent

    /// Creates a condition.
    public init(key: Key, value: MarshalledValue) {
      self.key = key
      self.value = value
      extent = Extent(bytes: value.size + Extent(nameOf: key).bytes, elements: value.measure.elements)
    }
  }

  /// What makes the field active, or nil if nothing does.
  public internal(set) var condition: Condition?
  /// Whether the field is active.
  public internal(set) var isActive: Bool
  /// Whether `Activate` named the field last.
  public internal(set) var isActivated: Bool
  /// When the field became active, or stopped being so; 0: it never was.
  public internal(set) var moment: UInt64

  /// Creates the activity of a field.
  public init(
    _ condition: Condition? = nil, isActive: Bool = false, isActivated: Bool = false, moment: UInt64 = 0
  ) {
    (self.condition, self.isActive, self.isActivated, self.moment) = (condition, isActive, isActivated, moment)
  }
}
