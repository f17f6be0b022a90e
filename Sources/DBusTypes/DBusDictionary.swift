/// The entries of a dictionary in their original order; an empty dictionary has its types too.
public struct DBusDictionary: Sendable {
  /// One key and its value.
  public struct Entry: Hashable, Sendable {
    /// The key, of a basic type.
    public var key: DBusValue
    /// The value.
    public var value: DBusValue

    /// Creates an entry.
    public init(key: DBusValue, value: DBusValue) {
      self.key = key
      self.value = value
    }
  }

  /// The type of every key, a basic one.
  public let keyType: DBusType
  /// The type of every value.
  public let valueType: DBusType
  /// The entries in their original order; a peer may have sent a key twice.
  public let entries: [Entry]

  /// Creates a dictionary of `entries`.
  /// - Throws: `TypeMismatch` if a key is not of `keyType` or a value is not of `valueType`.
  public init(key keyType: DBusType, value valueType: DBusType, _ entries: [Entry] = []) throws(TypeMismatch) {
    for entry in entries {
      guard entry.key.type == keyType else { throw TypeMismatch(expected: keyType, actual: entry.key.type) }
      guard entry.value.type == valueType else {
        throw TypeMismatch(expected: valueType, actual: entry.value.type)
      }
    }
    self.init(known: keyType, valueType, entries)
  }

  package init(known keyType: DBusType, _ valueType: DBusType, _ entries: [Entry]) {
    self.keyType = keyType
    self.valueType = valueType
    self.entries = entries
  }

  /// The value of the first entry with `key`, or nil.
  public subscript(key: DBusValue) -> DBusValue? { entries.first { $0.key == key }?.value }
}

extension DBusDictionary: Hashable {
  /// Compares the types and the entries, ignoring their order.
  public static func == (left: DBusDictionary, right: DBusDictionary) -> Bool {
    guard left.keyType == right.keyType, left.valueType == right.valueType,
      left.entries.count == right.entries.count
    else { return false }
    if left.entries == right.entries { return true }
    var counts: [Entry: Int] = [:]
    for entry in left.entries { counts[entry, default: 0] += 1 }
    for entry in right.entries {
      guard let count = counts[entry], count > 0 else { return false }
      counts[entry] = count - 1
    }
    return true
  }

  /// Feeds the entries into `hasher` in a way that does not depend on their order.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(entries.reduce(0) { $0 &+ $1.hashValue })
  }
}
