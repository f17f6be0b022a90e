import DBusTypes

/// Reads JSON as a value of a known or inferred type.
///
/// Arrays and structures are read from arrays, dictionaries from objects, a variant from `{"type":…,"data":…}` or from
/// plain JSON, whose type is inferred.
enum JSONReader {
  /// Reads `text` as a value of `type`, or of the type that it suggests.
  /// - Throws: `SyntaxError` that names the place, if it is not valid JSON, or not a value of the type.
  static func read(_ text: String, as type: DBusType?) throws(SyntaxError) -> DBusValue {
    let expected = type.map { "value of type '\($0)'" } ?? "value in JSON"
    let example = type.map(Example.clause) ?? ""
    let node: JSONNode
    do {
      node = try JSONParser.parse(text)
    } catch {
      let place = place(of: error.offset, in: text)
      throw SyntaxError(expected: expected, text: text, rule: "expected \(error.expected) at \(place)\(example)")
    }
    do {
      return try value(of: JSONPlace(node, path: ""), type)
    } catch {
      // Where the quotation does not show the place, its number does.
      let isShown = text.utf8.count <= 300 && !text.contains("\n")
      let place = isShown ? "" : " (\(place(of: error.offset, in: text)))"
      let rule =
        error.path.isEmpty ? "expected \(error.wanted)" : "'\(error.path.excerpt)'\(place) must be \(error.wanted)"
      throw SyntaxError(expected: expected, text: text, rule: rule + example)
    }
  }

  private static func place(of offset: Int, in text: String) -> String {
    let before = text.utf8.prefix(offset)
    let line = before.count { $0 == UInt8(ascii: "\n") } + 1
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { text.utf8.index(after: $0) } ?? text.startIndex
    let column = text.unicodeScalars[start..<before.endIndex].count + 1
    return "line \(line), column \(column)"
  }

  private static func value(of place: JSONPlace, _ type: DBusType?) throws(JSONProblem) -> DBusValue {
    guard let type else { return try inferred(place) }
    switch type {
    case .boolean:
      guard case .boolean(let truth) = place.content else { throw place.must("true or false") }
      return .boolean(truth)
    case .byte, .int16, .uint16, .int32, .uint32, .int64, .uint64: return try integer(place, type)
    case .double: return .double(try double(place))
    case .string, .objectPath, .signature:
      guard case .string(let text) = place.content else { throw place.must("a string") }
      return try basic(text, of: type, place)
    case .unixFD: throw place.must("a file descriptor, which has no text form")
    case .variant: return .variant(try inferred(place))
    case .array(let element):
      guard let places = place.elements else { throw place.must("an array") }
      var elements: [DBusValue] = []
      elements.reserveCapacity(places.count)
      for each in places { elements.append(try value(of: each, element)) }
      return .array(DBusArray(known: element, elements))
    case .structure(let types):
      guard let places = place.elements, places.count == types.count else {
        throw place.must("an array of \(types.count) members")
      }
      var members: [DBusValue] = []
      for (each, type) in zip(places, types) { members.append(try value(of: each, type)) }
      return .structure(members)
    case .dictionary(let key, let value): return try dictionary(place, key, value)
    }
  }

  private static func integer(_ place: JSONPlace, _ type: DBusType) throws(JSONProblem) -> DBusValue {
    let range = type.integerRange ?? 0...0
    var number: Int128?
    if case .number(let text) = place.content {
      // Programs write 8.0 for a whole number that was calculated.
      number = NumberText.integer(text) ?? NumberText.number(text).flatMap { Int128(exactly: $0) }
    }
    guard let number, let value = DBusValue(number, of: type) else {
      throw place.must("a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return value
  }

  private static func double(_ place: JSONPlace) throws(JSONProblem) -> Double {
    switch place.content {
    case .number(let text): if let number = NumberText.number(text) { return number }
    case .string("inf"): return .infinity
    case .string("-inf"): return -.infinity
    case .string("nan"): return .nan
    default: break
    }
    throw place.must("a number, \"inf\", \"-inf\" or \"nan\"")
  }

  private static func basic(_ text: String, of type: DBusType, _ place: JSONPlace) throws(JSONProblem) -> DBusValue {
    do {
      return try DBusValue(text: text, of: type)
    } catch {
      let article = "aeiou".contains(error.expected.prefix(1)) ? "an" : "a"
      throw place.must("\(article) \(error.expected), \(error.rule)")
    }
  }

  private static func dictionary(
    _ place: JSONPlace, _ key: DBusType, _ type: DBusType
  ) throws(JSONProblem) -> DBusValue {
    guard let members = place.members else { throw place.must("an object") }
    var entries: [DBusDictionary.Entry] = []
    // One order, whatever that of the text: the same members are the same value.
    for (name, each) in members.sorted(by: { $0.name < $1.name }) {
      entries.append(.init(key: try basic(name, of: key, place), value: try value(of: each, type)))
    }
    return .dictionary(DBusDictionary(known: key, type, entries))
  }

  private static func inferred(_ place: JSONPlace) throws(JSONProblem) -> DBusValue {
    switch place.content {
    case .boolean(let truth): return .boolean(truth)
    case .string(let text): return try basic(text, of: .string, place)
    case .number(let text):
      if let value = InferredType.number(String(text)) { return value }
    case .array:
      var elements: [DBusValue] = []
      for each in place.elements ?? [] { elements.append(try inferred(each)) }
      return InferredType.array(elements)
    case .object:
      guard let (type, data) = explicit(place) else { return try dictionary(place, .string, .variant) }
      return try value(of: data, type)
    case .null: break
    }
    throw place.must("a value that D-Bus supports: not null, and no number of more than 64 bits")
  }

  /// The type that an object `{"type":…,"data":…}` names, and its data; nil for any other object.
  private static func explicit(_ place: JSONPlace) -> (DBusType, JSONPlace)? {
    guard let members = place.members, members.count == 2,
      let data = members.first(where: { $0.name == "data" })?.place,
      case .string(let signature)? = members.first(where: { $0.name == "type" })?.place.content,
      let type = try? DBusType(signature)
    else { return nil }
    return (type, data)
  }
}

/// A node, and the pointer that leads to it.
private struct JSONPlace {
  private let node: JSONNode
  private let path: String

  init(_ node: JSONNode, path: String) {
    self.node = node
    self.path = path
  }

  var content: JSONNode.Content { node.content }

  var elements: [JSONPlace]? {
    guard case .array(let elements) = node.content else { return nil }
    return elements.enumerated().map { JSONPlace($0.element, path: "\(path)/\($0.offset)") }
  }

  var members: [(name: String, place: JSONPlace)]? {
    guard case .object(let members) = node.content else { return nil }
    return members.map { ($0.name, JSONPlace($0.value, path: "\(path)/\(Pointer.escaped($0.name))")) }
  }

  func must(_ wanted: String) -> JSONProblem { JSONProblem(path: path, wanted: wanted, offset: node.offset) }
}

/// A value that is not of the type that it should have.
private struct JSONProblem: Error {
  let path: String
  let wanted: String
  let offset: Int
}
