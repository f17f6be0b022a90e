import DBusTypes
import FoundationEssentials

/// Reads JSON as a value of a known or inferred type.
///
/// Arrays and structures are read from arrays, dictionaries from objects, a variant from `{"type":…,"data":…}` or from
/// plain JSON, whose type is inferred.
enum JSONReader {
  /// Reads `text` as a value of `type`, or of the type that it suggests.
  /// - Throws: `SyntaxError` if it is not valid JSON, or not a value of the type.
  static func read(_ text: String, as type: DBusType?) throws(SyntaxError) -> DBusValue {
    let decoder = JSONDecoder()
    let needsTags = type?.holdsVariant ?? true
    let input = Data((needsTags ? FractionTag.tagged(text) : text).utf8)
    let expected = type.map { "value of type '\($0)'" } ?? "value in JSON"
    let example = type.map(Example.clause) ?? ""
    do {
      return try decoder.decode(JSONValue.self, from: input, configuration: type).value
    } catch let problem as JSONProblem {
      throw SyntaxError(expected: expected, text: text, rule: problem.description + example)
    } catch {
      throw SyntaxError(expected: expected, text: text, rule: "expected valid JSON" + example)
    }
  }
}

/// An error at one place of a JSON text.
private struct JSONProblem: Error, CustomStringConvertible {
  let path: [any CodingKey]
  let wanted: String

  var description: String {
    guard !path.isEmpty else { return "expected \(wanted)" }
    return "'\(path.map { "/" + ($0.intValue.map(String.init) ?? $0.stringValue) }.joined())' must be \(wanted)"
  }
}

/// The name of any member of a JSON object.
private struct JSONName: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { nil }
}

/// Marks numbers with a fraction or an exponent, which `JSONDecoder` does not distinguish from integers: 1.0 is a double.
private enum FractionTag {
  /// No D-Bus text holds NUL, so no dictionary has this key.
  static let name = JSONName("\0")

  /// `text` with each such number as the only member of an object.
  static func tagged(_ text: String) -> String {
    var result: [UInt8] = []
    var number: [UInt8] = []
    var inString = false
    var escaped = false
    func endNumber() {
      let isTagged = number.contains { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }
      result += isTagged ? Array("{\"\\u0000\":".utf8) + number + Array("}".utf8) : number
      number = []
    }
    for byte in text.utf8 {
      if inString {
        result.append(byte)
        if !escaped, byte == UInt8(ascii: "\"") { inString = false }
        escaped = !escaped && byte == UInt8(ascii: "\\")
      } else if isDigit(byte) || byte == UInt8(ascii: "-") || (!number.isEmpty && isWithinNumber(byte)) {
        number.append(byte)
      } else {
        endNumber()
        inString = byte == UInt8(ascii: "\"")
        result.append(byte)
      }
    }
    endNumber()
    return String(decoding: result, as: UTF8.self)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  private static func isWithinNumber(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ".") || byte == UInt8(ascii: "+") || byte | 0x20 == UInt8(ascii: "e")
  }
}

/// One value in a JSON text; the configuration is its type, or nil to infer it.
private struct JSONValue: DecodableWithConfiguration {
  let value: DBusValue

  init(from decoder: any Decoder, configuration type: DBusType?) throws {
    if let type {
      value = try JSONValue.typed(decoder, type)
    } else {
      value = try JSONValue.inferred(decoder)
    }
  }

  private static func typed(_ decoder: any Decoder, _ type: DBusType) throws -> DBusValue {
    switch type {
    case .boolean: .boolean(try leaf(decoder, "true or false"))
    case .byte, .int16, .uint16, .int32, .uint32, .int64, .uint64: try integer(decoder, type)
    case .double: .double(try double(decoder))
    case .string, .objectPath, .signature:
      try text(try leaf(decoder, "a string"), of: type, decoder)
    case .unixFD: throw JSONProblem(path: decoder.codingPath, wanted: "a file descriptor, which has no text form")
    case .variant: .variant(try inferred(decoder))
    case .array(let element): try array(decoder, of: element)
    case .structure(let members): try structure(decoder, members)
    case .dictionary(let key, let value): try dictionary(decoder, key, value)
    }
  }

  private static func leaf<T: Decodable>(_ decoder: any Decoder, _ wanted: String) throws -> T {
    guard let value = try? decoder.singleValueContainer().decode(T.self) else {
      throw JSONProblem(path: decoder.codingPath, wanted: wanted)
    }
    return value
  }

  private static func number<T: Decodable>(_ decoder: any Decoder, _ wanted: String) throws -> T {
    if let tagged = try? decoder.container(keyedBy: JSONName.self), tagged.contains(FractionTag.name),
      let value = try? tagged.decode(T.self, forKey: FractionTag.name)
    {
      return value
    }
    return try leaf(decoder, wanted)
  }

  private static func double(_ decoder: any Decoder) throws -> Double {
    if let text = try? decoder.singleValueContainer().decode(String.self), let value = Double(text), !value.isFinite {
      return value
    }
    return try number(decoder, "a number, \"inf\", \"-inf\" or \"nan\"")
  }

  private static func integer(_ decoder: any Decoder, _ type: DBusType) throws -> DBusValue {
    let range = type.integerRange ?? 0...0
    let wanted = "a whole number from \(range.lowerBound) to \(range.upperBound)"
    let value: Int128
    if type == .uint64 {
      value = Int128(try number(decoder, wanted) as UInt64)
    } else {
      value = Int128(try number(decoder, wanted) as Int64)
    }
    guard let value = DBusValue(value, of: type) else {
      throw JSONProblem(path: decoder.codingPath, wanted: wanted)
    }
    return value
  }

  private static func text(_ text: String, of type: DBusType, _ decoder: any Decoder) throws -> DBusValue {
    do {
      return try DBusValue(text: text, of: type)
    } catch {
      throw JSONProblem(path: decoder.codingPath, wanted: "\(error.expected.withArticle), \(error.rule)")
    }
  }

  private static func array(_ decoder: any Decoder, of element: DBusType) throws -> DBusValue {
    guard var list = try? decoder.unkeyedContainer() else {
      throw JSONProblem(path: decoder.codingPath, wanted: "an array")
    }
    var elements: [DBusValue] = []
    elements.reserveCapacity(list.count ?? 0)
    while !list.isAtEnd { elements.append(try list.decode(JSONValue.self, configuration: element).value) }
    return .array(DBusArray(known: element, elements))
  }

  private static func structure(_ decoder: any Decoder, _ members: [DBusType]) throws -> DBusValue {
    guard var list = try? decoder.unkeyedContainer(), list.count == members.count else {
      throw JSONProblem(path: decoder.codingPath, wanted: "an array of \(members.count) members")
    }
    return .structure(try members.map { try list.decode(JSONValue.self, configuration: $0).value })
  }

  private static func dictionary(_ decoder: any Decoder, _ key: DBusType, _ value: DBusType) throws -> DBusValue {
    guard let object = try? decoder.container(keyedBy: JSONName.self), !object.contains(FractionTag.name) else {
      throw JSONProblem(path: decoder.codingPath, wanted: "an object")
    }
    let names = object.allKeys.sorted { $0.stringValue < $1.stringValue }
    let entries = try names.map { name in
      DBusDictionary.Entry(
        key: try text(name.stringValue, of: key, decoder),
        value: try object.decode(JSONValue.self, forKey: name, configuration: value).value)
    }
    return .dictionary(DBusDictionary(known: key, value, entries))
  }

  private static func inferred(_ decoder: any Decoder) throws -> DBusValue {
    if var list = try? decoder.unkeyedContainer() {
      var elements: [DBusValue] = []
      while !list.isAtEnd { elements.append(try list.decode(JSONValue.self, configuration: nil).value) }
      return InferredType.array(elements)
    }
    if let object = try? decoder.container(keyedBy: JSONName.self) {
      if object.contains(FractionTag.name) { return try typed(decoder, .double) }
      if let type = explicitType(of: object) {
        return try object.decode(JSONValue.self, forKey: JSONName("data"), configuration: type).value
      }
      return try dictionary(decoder, .string, .variant)
    }
    let single = try decoder.singleValueContainer()
    if let truth = try? single.decode(Bool.self) { return .boolean(truth) }
    if let number = try? single.decode(Int32.self) { return .int32(number) }
    if let number = try? single.decode(Int64.self) { return .int64(number) }
    if let number = try? single.decode(UInt64.self) { return .uint64(number) }
    if let string = try? single.decode(String.self) { return try text(string, of: .string, decoder) }
    throw JSONProblem(
      path: decoder.codingPath, wanted: "a value that D-Bus supports: not null, and no integer of more than 64 bits")
  }

  /// The type that an object `{"type":…,"data":…}` names, or nil for any other object.
  private static func explicitType(of object: KeyedDecodingContainer<JSONName>) -> DBusType? {
    guard object.allKeys.count == 2, object.contains(JSONName("data")),
      let signature = try? object.decode(String.self, forKey: JSONName("type"))
    else { return nil }
    return try? DBusType(signature)
  }
}

extension String {
  fileprivate var withArticle: String { ("aeiou".contains(prefix(1)) ? "an " : "a ") + self }
}

extension DBusType {
  /// Whether a value of this type may contain a variant.
  fileprivate var holdsVariant: Bool {
    switch self {
    case .variant: true
    case .array(let element): element.holdsVariant
    case .structure(let members): members.contains(where: \.holdsVariant)
    case .dictionary(_, let value): value.holdsVariant
    default: false
    }
  }
}
