public import DBusTypes

extension Array: DBusRepresentable where Element: DBusRepresentable {
  /// The type `aT`.
  public static var dbusType: DBusType { .array(Element.dbusType) }

  /// Creates the array.
  /// - Throws: `DBusConversionError` if an element cannot be converted.
  public init(dbusValue: DBusValue) throws {
    guard case .array(let array) = dbusValue.lookedThrough else { throw DBusConversionError(dbusValue, to: Self.self) }
    self = try array.map { try Element(dbusValue: $0) }
  }

  /// The array; it has its element type even if it is empty.
  /// - Throws: `DBusConversionError` if D-Bus cannot represent an element.
  public func dbusValue() throws -> DBusValue {
    .array(try DBusArray(of: Element.dbusType, try map { try $0.dbusValue() }))
  }
}

extension Optional: DBusRepresentable where Wrapped: DBusRepresentable {
  /// `aT`: D-Bus has no nil, so an optional is an array with one element or none.
  public static var dbusType: DBusType { .array(Wrapped.dbusType) }

  /// Creates the optional from an array.
  /// - Throws: `DBusConversionError` if it has more than one element, or the element cannot be converted.
  public init(dbusValue: DBusValue) throws {
    guard case .array(let array) = dbusValue.lookedThrough, array.count <= 1 else {
      throw DBusConversionError(dbusValue, to: Self.self)
    }
    self = try array.first.map { try Wrapped(dbusValue: $0) }
  }

  /// An array with the value, or an empty array.
  /// - Throws: `DBusConversionError` if D-Bus cannot represent the value.
  public func dbusValue() throws -> DBusValue {
    .array(try DBusArray(of: Wrapped.dbusType, try map { [try $0.dbusValue()] } ?? []))
  }
}

extension Dictionary: DBusRepresentable where Key: DBusRepresentable, Value: DBusRepresentable {
  /// The type `a{KV}`.
  public static var dbusType: DBusType { .dictionary(key: Key.dbusType, value: Value.dbusType) }

  /// Creates the dictionary; if a key occurs twice, the last value counts.
  /// - Throws: `DBusConversionError` if a key or a value cannot be converted.
  public init(dbusValue: DBusValue) throws {
    guard case .dictionary(let dictionary) = dbusValue.lookedThrough else {
      throw DBusConversionError(dbusValue, to: Self.self)
    }
    self = [:]
    for entry in dictionary.entries {
      self[try Key(dbusValue: entry.key)] = try Value(dbusValue: entry.value)
    }
  }

  /// The dictionary; it has its types even if it is empty.
  /// - Throws: `DBusConversionError` if D-Bus cannot represent a key or a value.
  public func dbusValue() throws -> DBusValue {
    guard Key.dbusType.isBasic else {
      throw DBusConversionError("dictionary keys must have a basic type on the bus, and '\(Key.self)' does not")
    }
    let entries = try map { DBusDictionary.Entry(key: try $0.key.dbusValue(), value: try $0.value.dbusValue()) }
    return .dictionary(try DBusDictionary(key: Key.dbusType, value: Value.dbusType, entries))
  }
}

extension DBusRepresentable where Self: Codable {
  /// The type `a{sv}`.
  public static var dbusType: DBusType { .properties }

  /// Creates the value from its properties by name.
  /// - Throws: `DecodingError`, `DBusConversionError`.
  public init(dbusValue: DBusValue) throws { self = try Self.withProperties(dbusValue) }

  /// The value's properties by name.
  /// - Throws: `EncodingError`, `DBusConversionError`.
  public func dbusValue() throws -> DBusValue { try properties() }

  static func withProperties(_ value: DBusValue) throws -> Self { try Self(from: DBusDecoder(value)) }

  func properties() throws -> DBusValue {
    let value = try DBusEncoder.encode(self)
    guard value.type == .properties else {
      throw DBusConversionError(
        "'\(Self.self)' is encoded as '\(value.type)', not as properties by name; implement 'dbusType', 'dbusValue()' and "
          + "'init(dbusValue:)'")
    }
    return value
  }
}
