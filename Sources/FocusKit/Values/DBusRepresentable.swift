public import DBusTypes

/// A value that can be a focused value, because it has a D-Bus type.
///
/// | Swift | D-Bus |
/// | --- | --- |
/// | `Bool`, `String`, `Double`, `Float` | `b`, `s`, `d`, `d` |
/// | `Int`, `Int8` … `Int64`; `UInt`, `UInt8` … `UInt64` | `x`, `n`, `n`, `i`, `x`; `t`, `y`, `q`, `u`, `t` |
/// | `[T]`, `[K: V]`, `T?` | `aT`, `a{KV}`, `aT` with one element or none |
/// | `RawRepresentable` | as its raw value |
/// | an enum that is `CaseIterable`, without raw values | `s`, the case's name |
/// | `Codable` | `a{sv}`; nil values are omitted |
///
/// A `RawRepresentable`, `CaseIterable` or `Codable` type only needs to declare the conformance; if it is several of them,
/// the first row counts. A number is also read from a number of any other type, and written with the type that its key has,
/// if nothing is lost: 7.0 for an `Int`, not 0.5.
public protocol DBusRepresentable: Sendable {
  /// The type with which the value is published.
  static var dbusType: DBusType { get }

  /// Creates the value from a value received over the bus.
  /// - Throws: `DBusConversionError` if the value cannot be converted; `DecodingError` of a `Codable` type.
  init(dbusValue: DBusValue) throws

  /// The value as sent over the bus, of type `dbusType`.
  /// - Throws: `DBusConversionError` if D-Bus cannot represent the value; `EncodingError` of a `Codable` type.
  func dbusValue() throws -> DBusValue
}

/// An error of the conversion between Swift and D-Bus values.
public struct DBusConversionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The value and the expected type, in one sentence.
  public let description: String

  /// Creates an error with `description`.
  public init(_ description: String) { self.description = description }

  init(_ value: DBusValue, to type: Any.Type) {
    self.init("a value of type '\(value.lookedThrough.type)' cannot be converted to '\(type)', or is out of range")
  }
}

extension DBusValue {
  /// The value converted to `type` if it is a number and `type` can hold it; otherwise unchanged.
  func adapted(to type: DBusType) -> DBusValue { type == self.type ? self : lookedThrough.number(of: type) ?? self }
}

extension DBusRepresentable where Self: FixedWidthInteger, Self: Codable {
  /// The type of integers of this size: `n`, `i` or `x`; `y`, `q`, `u` or `t` without a sign.
  public static var dbusType: DBusType {
    switch (isSigned, bitWidth) {
    case (true, ...16): .int16
    case (true, 32): .int32
    case (true, _): .int64
    case (false, 8): .byte
    case (false, 16): .uint16
    case (false, 32): .uint32
    case (false, _): .uint64
    }
  }

  /// Creates the integer from a number of any type that is exactly an integer within its range.
  /// - Throws: `DBusConversionError`.
  public init(dbusValue: DBusValue) throws {
    // Most are no variants.
    let integer = dbusValue.exactInteger ?? dbusValue.lookedThrough.exactInteger
    guard let value = integer.flatMap({ Self(exactly: $0) }) else {
      throw DBusConversionError(dbusValue, to: Self.self)
    }
    self = value
  }

  /// The integer, as `dbusType`.
  public func dbusValue() -> DBusValue {
    DBusValue(Int128(truncatingIfNeeded: self), of: Self.dbusType) ?? .int64(Int64(truncatingIfNeeded: self))
  }
}

extension Int: DBusRepresentable {}
extension Int8: DBusRepresentable {}
extension Int16: DBusRepresentable {}
extension Int32: DBusRepresentable {}
extension Int64: DBusRepresentable {}
extension UInt: DBusRepresentable {}
extension UInt8: DBusRepresentable {}
extension UInt16: DBusRepresentable {}
extension UInt32: DBusRepresentable {}
extension UInt64: DBusRepresentable {}

extension Double: DBusRepresentable {
  /// The type `d`.
  public static var dbusType: DBusType { .double }

  /// Creates the number from one of any type that a `Double` holds exactly.
  /// - Throws: `DBusConversionError`.
  public init(dbusValue: DBusValue) throws {
    guard let number = dbusValue.exactDouble ?? dbusValue.lookedThrough.exactDouble else {
      throw DBusConversionError(dbusValue, to: Self.self)
    }
    self = number
  }

  /// The number as `d`.
  public func dbusValue() -> DBusValue { .double(self) }
}

extension Float: DBusRepresentable {
  /// The type `d`.
  public static var dbusType: DBusType { .double }

  /// Creates the number from one within its range, rounded to its precision.
  /// - Throws: `DBusConversionError`.
  public init(dbusValue: DBusValue) throws {
    let number = try Double(dbusValue: dbusValue)
    self = Float(number)
    guard isFinite || !number.isFinite else { throw DBusConversionError(dbusValue, to: Self.self) }
  }

  /// The number as `d`.
  public func dbusValue() -> DBusValue { .double(Double(self)) }
}

extension Bool: DBusRepresentable {
  /// The type `b`.
  public static var dbusType: DBusType { .boolean }

  /// Creates the boolean.
  /// - Throws: `DBusConversionError`.
  public init(dbusValue: DBusValue) throws {
    guard case .boolean(let value) = dbusValue.lookedThrough else {
      throw DBusConversionError(dbusValue, to: Self.self)
    }
    self = value
  }

  /// The boolean as `b`.
  public func dbusValue() -> DBusValue { .boolean(self) }
}

extension String: DBusRepresentable {
  /// The type `s`.
  public static var dbusType: DBusType { .string }

  /// Creates the text, also from a path or a signature.
  /// - Throws: `DBusConversionError`.
  public init(dbusValue: DBusValue) throws {
    switch dbusValue {
    case .string(let text): self = text
    case .variant(let content): self = try String(dbusValue: content)
    case .objectPath(let path): self = path.text
    case .signature(let signature): self = signature.text
    default: throw DBusConversionError(dbusValue, to: Self.self)
    }
  }

  /// The text as `s`; D-Bus strings cannot contain NUL.
  /// - Throws: `DBusConversionError` if the text contains NUL.
  public func dbusValue() throws -> DBusValue {
    guard !utf8.contains(0) else { throw DBusConversionError("D-Bus strings cannot contain NUL") }
    return .string(self)
  }
}
