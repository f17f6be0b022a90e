import DBusTypes
internal import FocusContract

/// The type of every key that anyone publishes: one type a key, for as long as there is a publisher.
struct KeyTypes: Hashable {
  private struct Entry: Hashable {
    let type: DBusType
    var publishers: Int
  }

  private var entries: [Key: Entry] = [:]

  /// Checks that `value` may be published as, or written to, `key`.
  /// - Throws: `ModelError.typeMismatch` if the key has another type now.
  func check(_ value: MarshalledValue, of key: Key) throws(ModelError) {
    guard let expected = entries[key]?.type else { return }
    let actual = value.type
    guard actual == expected else { throw .typeMismatch(BindingPath(key), expected: expected, actual: actual) }
  }

  mutating func add(_ key: Key, _ type: DBusType) {
    entries[key, default: Entry(type: type, publishers: 0)].publishers += 1
  }

  mutating func remove(_ key: Key) {
    guard var entry = entries[key] else { return }
    entry.publishers -= 1
    entries[key] = entry.publishers > 0 ? entry : nil
  }
}
