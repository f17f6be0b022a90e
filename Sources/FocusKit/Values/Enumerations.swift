public import DBusTypes

// Types with a list of their values, or a raw value. A type that qualifies for several forms has the first of: raw value,
// case name, properties by name.

extension DBusRepresentable where Self: RawRepresentable, RawValue: DBusRepresentable {
  /// The raw value's type.
  public static var dbusType: DBusType { RawValue.dbusType }

  /// Creates the value from its raw value.
  /// - Throws: `DBusConversionError` if no value has this raw value.
  public init(dbusValue: DBusValue) throws { self = try Self.withRawValue(dbusValue) }

  /// The raw value.
  /// - Throws: `DBusConversionError` if D-Bus cannot represent the value.
  public func dbusValue() throws -> DBusValue { try rawValue.dbusValue() }

  fileprivate static func withRawValue(_ value: DBusValue) throws -> Self {
    if let value = Self(rawValue: try RawValue(dbusValue: value)) { return value }
    let text = value.lookedThrough.basicText ?? "…"
    throw DBusConversionError("'\(text)' is not a raw value of '\(Self.self)'\(rawValueList())")
  }

  private static func rawValueList() -> String {
    guard let type = Self.self as? any CaseIterable.Type else { return "" }
    func texts<Cases: CaseIterable>(_ type: Cases.Type) -> [String] {
      type.allCases.compactMap { try? ($0 as? Self)?.rawValue.dbusValue().basicText }
    }
    return ": \(oneOf(texts(type)))"
  }
}

extension DBusRepresentable where Self: Codable, Self: RawRepresentable, RawValue: DBusRepresentable {
  /// The raw value's type.
  public static var dbusType: DBusType { RawValue.dbusType }

  /// Creates the value from its raw value.
  /// - Throws: `DBusConversionError` if no value has this raw value.
  public init(dbusValue: DBusValue) throws { self = try Self.withRawValue(dbusValue) }

  /// The raw value.
  /// - Throws: `DBusConversionError` if D-Bus cannot represent the value.
  public func dbusValue() throws -> DBusValue { try rawValue.dbusValue() }
}

extension DBusRepresentable where Self: CaseIterable, Self: RawRepresentable, RawValue: DBusRepresentable {
  /// The raw value's type.
  public static var dbusType: DBusType { RawValue.dbusType }

  /// Creates the value from its raw value.
  /// - Throws: `DBusConversionError` if no value has this raw value; it lists those that there are.
  public init(dbusValue: DBusValue) throws { self = try Self.withRawValue(dbusValue) }

  /// The raw value.
  /// - Throws: `DBusConversionError` if D-Bus cannot represent the value.
  public func dbusValue() throws -> DBusValue { try rawValue.dbusValue() }
}

extension DBusRepresentable where Self: CaseIterable & Codable, Self: RawRepresentable, RawValue: DBusRepresentable {
  /// The raw value's type.
  public static var dbusType: DBusType { RawValue.dbusType }

  /// Creates the value from its raw value.
  /// - Throws: `DBusConversionError` if no value has this raw value; it lists those that there are.
  public init(dbusValue: DBusValue) throws { self = try Self.withRawValue(dbusValue) }

  /// The raw value.
  /// - Throws: `DBusConversionError` if D-Bus cannot represent the value.
  public func dbusValue() throws -> DBusValue { try rawValue.dbusValue() }
}

extension DBusRepresentable where Self: CaseIterable {
  /// The type `s`: the case's name.
  public static var dbusType: DBusType { .string }

  /// Creates the value from its case's name.
  /// - Throws: `DBusConversionError` if there is no such case; it lists those that there are.
  public init(dbusValue: DBusValue) throws { self = try Self.withCaseName(dbusValue) }

  /// The case's name.
  /// - Throws: `DBusConversionError` if it is not an enum's case without associated values.
  public func dbusValue() throws -> DBusValue { try Self.name(of: self) }

  fileprivate static func withCaseName(_ value: DBusValue) throws -> Self {
    guard case .string(let name) = value.lookedThrough else {
      throw DBusConversionError(
        "a value of type '\(value.type)' is not a case of '\(Self.self)': \(oneOf(allCases.compactMap(caseName)))")
    }
    if let found = allCases.first(where: { caseName(of: $0) == name }) { return found }
    throw DBusConversionError("'\(name)' is not a case of '\(Self.self)': \(oneOf(allCases.compactMap(caseName)))")
  }

  fileprivate static func name(of value: Self) throws -> DBusValue {
    guard let name = caseName(of: value) else {
      throw DBusConversionError(
        "'\(Self.self)' has values other than cases without associated values: implement 'dbusType', 'dbusValue()' and "
          + "'init(dbusValue:)'")
    }
    return .string(name)
  }
}

extension DBusRepresentable where Self: CaseIterable & Codable {
  /// The type `s`, the case's name, for an enum without associated values; otherwise `a{sv}`.
  public static var dbusType: DBusType { hasCaseNames ? .string : .properties }

  /// Creates the value from its case's name, or from its properties by name.
  /// - Throws: `DBusConversionError` if there is no such case; it lists those that there are. `DecodingError`.
  public init(dbusValue: DBusValue) throws {
    self = try Self.hasCaseNames ? Self.withCaseName(dbusValue) : Self.withProperties(dbusValue)
  }

  /// The case's name, or the value's properties by name.
  /// - Throws: `EncodingError`, `DBusConversionError`.
  public func dbusValue() throws -> DBusValue { try Self.hasCaseNames ? Self.name(of: self) : properties() }

  private static var hasCaseNames: Bool { allCases.allSatisfy { caseName(of: $0) != nil } }
}

/// The name of an enum's case without associated values, even if the enum has a description of its own; otherwise nil.
private func caseName<Value>(of value: Value) -> String? {
  guard let name = enumCaseName(value), Mirror(reflecting: value).children.isEmpty else { return nil }
  return String(cString: name)
}

/// What the standard library prints cases with.
///
/// Nothing public says a case's name: `String(describing:)` and `dump` give a description that the type has for people, which
/// another language would change. `RepresentationTests` has such a type.
@_silgen_name("swift_EnumCaseName")
private func enumCaseName<Value>(_ value: Value) -> UnsafePointer<CChar>?

/// `'a', 'b' or 'c'`.
private func oneOf(_ names: [String]) -> String {
  let most = 30
  let quoted = names.prefix(most).map { "'\($0)'" }
  if names.count > most { return quoted.joined(separator: ", ") + " …" }
  guard let last = quoted.last, quoted.count > 1 else { return quoted.joined() }
  return quoted.dropLast().joined(separator: ", ") + " or " + last
}
