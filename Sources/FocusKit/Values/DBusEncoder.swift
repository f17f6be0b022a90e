internal import DBusTypes

/// Encodes types without their own D-Bus type: keyed containers as `a{sv}`, unkeyed containers as arrays.
final class DBusEncoder: Encoder {
  let codingPath: [any CodingKey]
  let userInfo: [CodingUserInfoKey: Any] = [:]
  private var result: Part?

  /// The content of a container, complete once everything has been encoded into it.
  private enum Part {
    case value(DBusValue)
    case keyed(Keyed)
    case elements(Elements)
    case nested(DBusEncoder)

    func value() throws -> DBusValue {
      switch self {
      case .value(let value): value
      case .keyed(let keyed): .properties(try keyed.parts.map { (name: $0.name, value: try $0.part.value()) })
      case .elements(let elements): try elements.value()
      case .nested(let encoder): try encoder.result?.value() ?? .properties([])
      }
    }
  }

  private final class Keyed {
    var parts: [(name: String, part: Part)] = []
  }

  private final class Elements {
    var parts: [Part] = []
    /// The elements before those, which were encoded together, as `Data` does.
    var bytes: [UInt8] = []

    var count: Int { bytes.count + parts.count }

    /// An array of the elements' type if they all have the same type, else of variants.
    func value() throws -> DBusValue {
      if parts.isEmpty, !bytes.isEmpty { return .array(DBusArray(bytes: bytes)) }
      let values = bytes.map(DBusValue.byte) + (try parts.map { try $0.value() })
      guard let type = values.first?.type, values.allSatisfy({ $0.type == type }) else { return .variants(values) }
      return .array(try DBusArray(of: type, values))
    }
  }

  private init(_ codingPath: [any CodingKey]) { self.codingPath = codingPath }

  /// `value` as sent over the bus.
  /// - Throws: The error of the encoding.
  static func encode(_ value: some Encodable) throws -> DBusValue {
    let encoder = DBusEncoder([])
    try value.encode(to: encoder)
    return try Part.nested(encoder).value()
  }

  private static func part(_ value: some Encodable, _ path: [any CodingKey]) throws -> Part {
    if let value = value as? any DBusRepresentable { return .value(try value.dbusValue()) }
    let encoder = DBusEncoder(path)
    try value.encode(to: encoder)
    return .nested(encoder)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    let keyed: Keyed
    if case .keyed(let begun)? = result { keyed = begun } else { keyed = Keyed() }
    result = .keyed(keyed)
    return KeyedEncodingContainer(KeyedContainer(keyed: keyed, codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    let elements: Elements
    if case .elements(let begun)? = result { elements = begun } else { elements = Elements() }
    result = .elements(elements)
    return UnkeyedContainer(elements: elements, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { SingleContainer(encoder: self) }

  private struct KeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let keyed: Keyed
    let codingPath: [any CodingKey]

    /// Nil values are omitted.
    func encodeNil(forKey key: Key) {}

    func encode(_ value: some Encodable, forKey key: Key) throws {
      keyed.parts.append((key.stringValue, try DBusEncoder.part(value, codingPath + [key])))
    }

    private func nested(_ key: any CodingKey) -> DBusEncoder {
      let encoder = DBusEncoder(codingPath + [key])
      keyed.parts.append((key.stringValue, .nested(encoder)))
      return encoder
    }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
      nested(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { nested(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { nested(DBusCodingKey(stringValue: "super")) }
    func superEncoder(forKey key: Key) -> any Encoder { nested(key) }
  }

  private struct UnkeyedContainer: UnkeyedEncodingContainer {
    let elements: Elements
    let codingPath: [any CodingKey]
    var count: Int { elements.count }

    private var path: [any CodingKey] { codingPath + [DBusCodingKey(intValue: count)] }

    func encodeNil() throws {
      throw EncodingError.invalidValue(
        Any?.none as Any, .init(codingPath: path, debugDescription: "an array on the bus cannot contain nil"))
    }

    func encode(_ value: some Encodable) throws { elements.parts.append(try DBusEncoder.part(value, path)) }

    func encode<Bytes: Sequence>(contentsOf sequence: Bytes) throws where Bytes.Element == UInt8 {
      if elements.parts.isEmpty {
        elements.bytes.append(contentsOf: sequence)
      } else {
        elements.parts += sequence.map { .value(.byte($0)) }
      }
    }

    private func nested() -> DBusEncoder {
      let encoder = DBusEncoder(path)
      elements.parts.append(.nested(encoder))
      return encoder
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
      nested().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }
    func superEncoder() -> any Encoder { nested() }
  }

  private struct SingleContainer: SingleValueEncodingContainer {
    let encoder: DBusEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() { encoder.result = .value(.variants([])) }

    func encode(_ value: some Encodable) throws { encoder.result = try DBusEncoder.part(value, codingPath) }
  }
}

/// A key of any type.
struct DBusCodingKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) {
    stringValue = String(intValue)
    self.intValue = intValue
  }
}
