internal import DBusTypes

/// Decodes the output of `DBusEncoder` and its equivalents from other clients, such as dictionaries of one value type.
struct DBusDecoder: Decoder {
  let codingPath: [any CodingKey]
  let userInfo: [CodingUserInfoKey: Any] = [:]
  private let value: DBusValue

  init(_ value: DBusValue, _ codingPath: [any CodingKey] = []) {
    self.value = value.lookedThrough
    self.codingPath = codingPath
  }

  fileprivate static func decode<Value: Decodable>(
    _ type: Value.Type, _ value: DBusValue, _ path: [any CodingKey]
  ) throws -> Value {
    if let representable = type as? any DBusRepresentable.Type {
      do {
        if let decoded = try representable.init(dbusValue: value) as? Value { return decoded }
      } catch let error as DBusConversionError {
        throw DBusConversionError("'\(path.pointer)': \(error)")
      }
    }
    return try Value(from: DBusDecoder(value, path))
  }

  private func mismatch(_ expected: Any.Type) -> DecodingError {
    .typeMismatch(expected, .init(codingPath: codingPath, debugDescription: "the value is of type '\(value.type)'"))
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .dictionary(let dictionary) = value, dictionary.keyType == .string else {
      throw mismatch([String: any Decodable].self)
    }
    var values: [String: DBusValue] = [:]
    for entry in dictionary.entries { values[entry.key.basicText ?? ""] = entry.value }
    return KeyedDecodingContainer(KeyedContainer(values: values, codingPath: codingPath))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    switch value {
    case .array(let array): UnkeyedContainer(values: Array(array), codingPath: codingPath)
    case .structure(let members): UnkeyedContainer(values: members, codingPath: codingPath)
    default: throw mismatch([any Decodable].self)
    }
  }

  func singleValueContainer() -> any SingleValueDecodingContainer {
    SingleContainer(value: value, codingPath: codingPath)
  }

  private struct KeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let values: [String: DBusValue]
    let codingPath: [any CodingKey]

    var allKeys: [Key] { values.keys.compactMap { Key(stringValue: $0) } }
    func contains(_ key: Key) -> Bool { values[key.stringValue] != nil }
    func decodeNil(forKey key: Key) -> Bool { values[key.stringValue] == nil }

    private func value(_ key: any CodingKey) throws -> DBusValue {
      guard let value = values[key.stringValue] else {
        throw DecodingError.keyNotFound(
          key, .init(codingPath: codingPath, debugDescription: "the dictionary has no key '\(key.stringValue)'"))
      }
      return value
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
      try DBusDecoder.decode(type, value(key), codingPath + [key])
    }

    private func nested(_ key: any CodingKey) throws -> DBusDecoder {
      DBusDecoder(try value(key), codingPath + [key])
    }

    func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
      try nested(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
      try nested(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try nested(DBusCodingKey(stringValue: "super")) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try nested(key) }
  }

  private struct UnkeyedContainer: UnkeyedDecodingContainer {
    let values: [DBusValue]
    let codingPath: [any CodingKey]
    var currentIndex = 0

    var count: Int? { values.count }
    var isAtEnd: Bool { currentIndex >= values.count }
    func decodeNil() -> Bool { false }

    private mutating func next() throws -> DBusDecoder {
      let path = codingPath + [DBusCodingKey(intValue: currentIndex)]
      guard !isAtEnd else {
        throw DecodingError.valueNotFound(
          Any.self, .init(codingPath: path, debugDescription: "the array has \(values.count) elements"))
      }
      defer { currentIndex += 1 }
      return DBusDecoder(values[currentIndex], path)
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      let decoder = try next()
      return try DBusDecoder.decode(type, decoder.value, decoder.codingPath)
    }

    /// `Data` reads each of its bytes so.
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
      if !isAtEnd, case .byte(let byte) = values[currentIndex] {
        currentIndex += 1
        return byte
      }
      let decoder = try next()
      return try DBusDecoder.decode(type, decoder.value, decoder.codingPath)
    }

    mutating func nestedContainer<Nested: CodingKey>(
      keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
      try next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }
    mutating func superDecoder() throws -> any Decoder { try next() }
  }

  private struct SingleContainer: SingleValueDecodingContainer {
    let value: DBusValue
    let codingPath: [any CodingKey]

    func decodeNil() -> Bool {
      guard case .array(let array) = value else { return false }
      return array.isEmpty
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      try DBusDecoder.decode(type, value, codingPath)
    }
  }
}

extension [any CodingKey] {
  /// The path as the members' names and indices, `todos/0/done`.
  fileprivate var pointer: String { map(\.stringValue).joined(separator: "/") }
}

extension DecodingError {
  /// Where a value does not match, and why.
  var explained: String {
    let context: Context =
      switch self {
      case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context): context
      case .dataCorrupted(let context): context
      @unknown default: Context(codingPath: [], debugDescription: "\(self)")
      }
    return (context.codingPath.isEmpty ? "" : "'\(context.codingPath.pointer)': ") + context.debugDescription
  }
}
