public import DBusTypes

extension Array: DBusRepresentable where Element: DBusRepresentable {
  /// The type `aT`.
  public static var dbusType: DBusType { .array(Element.dbusType) }

  /// Creates the array.
  /// - Throws: `DBusConversionError` where an element is none.
  public init(dbusValue: DBusValue) throws {
    guard case .array(let array) = dbusValue.unwrapped else { throw DBusConversionError(dbusValue, to: Self.self) }
    self = try array.map { try Element(dbusValue: $0) }
  }

  /// The array, with its element's type also when it is empty.
  /// - Throws: `DBusConversionError` where D-Bus has no such element.
  public func dbusValue() throws -> DBusValue {
    .array(try DBusArray(of: Element.dbusType, try map { try $0.dbusValue() }))
  }
}

extension Optional: DBusRepresentable where Wrapped: DBusRepresentable {
  /// `aT`: D-Bus has no nil, so an optional is an array of one element or none.
  public static var dbusType: DBusType { .array(Wrapped.dbusType) }

  /// Creates the optional from an array.
  /// - Throws: `DBusConversionError` where it has more than one element, or that is none.
  public init(dbusValue: DBusValue) throws {
    guard case .array(let array) = dbusValue.unwrapped, array.count <= 1 else {
      throw DBusConversionError(dbusValue, to: Self.self)
    }
    self = try array.first.map { try Wrapped(dbusValue: $0) }
  }

  /// An array of the value, or of none.
  /// - Throws: `DBusConversionError` where D-Bus has no such value.
  public func dbusValue() throws -> DBusValue {
    .array(try DBusArray(of: Wrapped.dbusType, try map { [try $0.dbusValue()] } ?? []))
  }
}

extension Dictionary: DBusRepresentable where Key: DBusRepresentable, Value: DBusRepresentable {
  /// The type `a{KV}`.
  public static var dbusType: DBusType { .dictionary(key: Key.dbusType, value: Value.dbusType) }

  /// Creates the dictionary; where a key is there twice, the last value counts.
  /// - Throws: `DBusConversionError` where a key or a value is none.
  public init(dbusValue: DBusValue) throws {
    guard case .dictionary(let dictionary) = dbusValue.unwrapped else {
      throw DBusConversionError(dbusValue, to: Self.self)
    }
    self = [:]
    for entry in dictionary.entries {
      self[try Key(dbusValue: entry.key)] = try Value(dbusValue: entry.value)
    }
  }

  /// The dictionary, with its types also when it is empty.
  /// - Throws: `DBusConversionError` where D-Bus has no such key or value.
  public func dbusValue() throws -> DBusValue {
    guard Key.dbusType.isBasic else {
      throw DBusConversionError("a dictionary's key is of a basic type on the bus, and '\(Key.self)' is not")
    }
    let entries = try map { DBusDictionary.Entry(key: try $0.key.dbusValue(), value: try $0.value.dbusValue()) }
    return .dictionary(try DBusDictionary(key: Key.dbusType, value: Value.dbusType, entries))
  }
}

extension DBusRepresentable where Self: RawRepresentable, RawValue: DBusRepresentable {
  /// The raw value's type.
  public static var dbusType: DBusType { RawValue.dbusType }

  /// Creates the value from its raw value.
  /// - Throws: `DBusConversionError` where no value has that.
  public init(dbusValue: DBusValue) throws {
    guard let value = Self(rawValue: try RawValue(dbusValue: dbusValue)) else {
      throw DBusConversionError("'\(dbusValue.unwrapped.basicText ?? "…")' is the raw value of no '\(Self.self)'")
    }
    self = value
  }

  /// The raw value.
  /// - Throws: `DBusConversionError` where D-Bus has no such value.
  public func dbusValue() throws -> DBusValue { try rawValue.dbusValue() }
}

extension DBusRepresentable where Self: Codable {
  /// The type `a{sv}`.
  public static var dbusType: DBusType { .dictionary(key: .string, value: .variant) }

  /// Creates the value from its properties by name.
  /// - Throws: `DecodingError`, `DBusConversionError`.
  public init(dbusValue: DBusValue) throws { self = try Self(from: DBusDecoder(dbusValue)) }

  /// The value's properties by name.
  /// - Throws: `EncodingError`, `DBusConversionError`.
  public func dbusValue() throws -> DBusValue {
    let value = try DBusEncoder.encode(self)
    guard value.type == Self.dbusType else {
      throw DBusConversionError("'\(Self.self)' encodes itself as '\(value.type)', not as properties by name")
    }
    return value
  }
}

extension DBusRepresentable where Self: Codable, Self: RawRepresentable, RawValue: DBusRepresentable {
  /// The raw value's type.
  public static var dbusType: DBusType { RawValue.dbusType }

  /// Creates the value from its raw value.
  /// - Throws: `DBusConversionError` where no value has that.
  public init(dbusValue: DBusValue) throws {
    guard let value = Self(rawValue: try RawValue(dbusValue: dbusValue)) else {
      throw DBusConversionError("'\(dbusValue.unwrapped.basicText ?? "…")' is the raw value of no '\(Self.self)'")
    }
    self = value
  }

  /// The raw value.
  /// - Throws: `DBusConversionError` where D-Bus has no such value.
  public func dbusValue() throws -> DBusValue { try rawValue.dbusValue() }
}
