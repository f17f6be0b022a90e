import DBusTypes
import TestSupport
import Testing

/// A value as a tree of boxes that know their children by name alone, and that are changed in place.
private final class Box {
  enum Kind {
    case leaf(DBusValue)
    case variant
    case array(DBusType)
    case structure
    case dictionary(DBusType, DBusType)
  }

  struct Child {
    let name: String
    let key: DBusValue?
    let box: Box
  }

  enum Refusal: Error {
    case nothingThere
    case otherType
  }

  var kind: Kind
  var children: [Child] = []

  init(_ value: DBusValue) {
    switch value {
    case .variant(let content):
      kind = .variant
      children = [Child(name: "", key: nil, box: Box(content))]
    case .array(let array):
      kind = .array(array.elementType)
      for element in array { children.append(Child(name: "\(children.count)", key: nil, box: Box(element))) }
    case .structure(let members):
      kind = .structure
      for member in members { children.append(Child(name: "\(children.count)", key: nil, box: Box(member))) }
    case .dictionary(let dictionary):
      kind = .dictionary(dictionary.keyType, dictionary.valueType)
      for entry in dictionary.entries {
        children.append(Child(name: Box.name(entry.key), key: entry.key, box: Box(entry.value)))
      }
    default:
      kind = .leaf(value)
    }
  }

  var value: DBusValue {
    get throws {
      switch kind {
      case .leaf(let value): return value
      case .variant: return .variant(try children[0].box.value)
      case .array(let type): return .array(try DBusArray(of: type, children.map { try $0.box.value }))
      case .structure: return .structure(try children.map { try $0.box.value })
      case .dictionary(let keyType, let valueType):
        let entries = try children.compactMap { child in
          try child.key.map { DBusDictionary.Entry(key: $0, value: try child.box.value) }
        }
        return .dictionary(try DBusDictionary(key: keyType, value: valueType, entries))
      }
    }
  }

  private static func name(_ key: DBusValue) -> String {
    switch key {
    case .byte(let number): "\(number)"
    case .boolean(let truth): "\(truth)"
    case .int16(let number): "\(number)"
    case .uint16(let number): "\(number)"
    case .int32(let number): "\(number)"
    case .uint32(let number): "\(number)"
    case .int64(let number): "\(number)"
    case .uint64(let number): "\(number)"
    case .double(let number): number.description
    case .string(let text): text
    case .objectPath(let path): path.text
    case .signature(let signature): signature.text
    default: "?"
    }
  }

  /// The key of `type` whose name is `name`, found by what such names look like.
  private static func key(_ type: DBusType, named name: String) -> DBusValue? {
    func number(_ bits: Int, signed: Bool) -> Int128? {
      guard name.wholeMatch(of: /-?[1-9][0-9]{0,19}|0/) != nil, let number = Int128(name) else { return nil }
      let size = Int128(1) << bits
      return (signed ? -size / 2 : 0)...(signed ? size / 2 - 1 : size - 1) ~= number ? number : nil
    }
    return switch type {
    case .byte: number(8, signed: false).map { .byte(UInt8($0)) }
    case .int16: number(16, signed: true).map { .int16(Int16($0)) }
    case .uint16: number(16, signed: false).map { .uint16(UInt16($0)) }
    case .int32: number(32, signed: true).map { .int32(Int32($0)) }
    case .uint32: number(32, signed: false).map { .uint32(UInt32($0)) }
    case .int64: number(64, signed: true).map { .int64(Int64($0)) }
    case .uint64: number(64, signed: false).map { .uint64(UInt64($0)) }
    case .boolean: ["false": .boolean(false), "true": .boolean(true)][name]
    case .double: Double(name).flatMap { $0.description == name ? .double($0) : nil }
    case .string: .string(name)
    case .objectPath:
      name.wholeMatch(of: /\/|(\/[A-Za-z0-9_]+)+/) == nil ? nil : .objectPath(ObjectPath(known: name))
    case .signature: (try? Signature(name)).map { .signature($0) }
    default: nil
    }
  }

  private var belowVariants: Box {
    if case .variant = kind { children[0].box.belowVariants } else { self }
  }

  private func child(_ name: String) -> Box? {
    children.first { Array($0.name.utf8) == Array(name.utf8) }?.box
  }

  private func become(_ other: Box) { (kind, children) = (other.kind, other.children) }

  func read(_ path: [String]) throws -> DBusValue {
    var box = self
    for name in path {
      guard let child = box.belowVariants.child(name) else { throw Refusal.nothingThere }
      box = child
    }
    return try path.isEmpty ? box.value : box.belowVariants.value
  }

  func write(_ path: [String], _ new: DBusValue) throws {
    var box = self
    for (number, name) in path.enumerated() {
      let container = box.belowVariants
      if let child = container.child(name) {
        box = child
        continue
      }
      let placeType: DBusType
      var key: DBusValue?
      switch container.kind {
      case .array(let type) where name == "-":
        placeType = type
      case .dictionary(let keyType, let valueType):
        key = Box.key(keyType, named: name)
        guard key != nil else { throw Refusal.nothingThere }
        placeType = valueType
      default: throw Refusal.nothingThere
      }
      guard number == path.count - 1 else { throw Refusal.nothingThere }
      let fitting = placeType == .variant && new.type != .variant ? .variant(new) : new.sameNumber(as: placeType)
      guard let fitting else { throw Refusal.otherType }
      let box = Box(fitting)
      container.children.append(Child(name: key == nil ? "\(container.children.count)" : name, key: key, box: box))
      return
    }
    if try box.value.type == .variant, new.type == .variant { return box.become(Box(new)) }
    let place = box.belowVariants
    guard let fitting = try new.sameNumber(as: place.value.type) else { throw Refusal.otherType }
    place.become(Box(fitting))
  }
}

@Suite("Random pointers into random values, against boxes that are changed in place")
struct PointerPropertyTests {
  private enum Outcome: Equatable {
    case value(DBusValue)
    case nothingThere
    case otherType

    init(_ body: () throws -> DBusValue) throws {
      do {
        self = .value(try body())
      } catch let error as PointerError {
        switch error {
        case .noSuchElement: self = .nothingThere
        case .typeMismatch: self = .otherType
        }
      } catch Box.Refusal.nothingThere {
        self = .nothingThere
      } catch Box.Refusal.otherType {
        self = .otherType
      }
    }
  }

  /// Steps that mostly lead somewhere in `value`.
  private func path(into value: DBusValue, _ generator: inout ValueGenerator) -> [String] {
    let strays = ["-", "0", "00", "01", "1", "3", "-1", "", "x", "~", "/", "true", "9223372036854775808", "nan", "1.0"]
    var path: [String] = []
    var place: DBusValue? = value
    while Int.random(in: 0..<8, using: &generator.numbers) != 0, path.count < 8 {
      let names: [String]
      switch place?.withoutVariants {
      case .array(let array): names = array.indices.map(String.init)
      case .structure(let members): names = members.indices.map(String.init)
      case .dictionary(let dictionary): names = dictionary.entries.compactMap(\.key.basicText)
      default: names = []
      }
      let isStray = names.isEmpty || Int.random(in: 0..<6, using: &generator.numbers) == 0
      if isStray, names.isEmpty, Bool.random(using: &generator.numbers) { return path }
      var name = (isStray ? strays : names).randomElement(using: &generator.numbers) ?? ""
      if isStray, case .dictionary(let dictionary)? = place?.withoutVariants, Bool.random(using: &generator.numbers) {
        name = generator.value(of: dictionary.keyType).basicText ?? name
      }
      path.append(name)
      place = place.flatMap { try? $0.element(at: Pointer(tokens: [name])) }
    }
    return path
  }

  /// A value that mostly fits what is at `path`, as its type, in a variant or next to it.
  private func newValue(at path: [String], of value: DBusValue, _ generator: inout ValueGenerator) -> DBusValue {
    var type = (try? value.element(at: Pointer(tokens: path)))?.type
    if type == nil, let parent = try? value.element(at: Pointer(tokens: path.dropLast())).withoutVariants {
      switch parent {
      case .array(let array): type = array.elementType
      case .dictionary(let dictionary): type = dictionary.valueType
      default: break
      }
    }
    switch Int.random(in: 0..<8, using: &generator.numbers) {
    case 0: return generator.value(of: generator.type(depth: 2))
    case 1: return generator.value(of: .variant)
    case 2: return .variant(generator.value(of: type ?? .byte))
    default: return generator.value(of: type ?? generator.type(depth: 1))
    }
  }

  @Test("10,000 reads and as many writes each", arguments: [11, 12, 13])
  func agree(seed: UInt64) throws {
    var generator = ValueGenerator(seed: seed)
    var outcomes = [0, 0, 0]
    for _ in 0..<10_000 {
      let value = generator.value(of: generator.type(depth: 5), depth: 3)
      let path = path(into: value, &generator)
      let pointer = try Pointer(Pointer(tokens: path).description)
      try #require(pointer.tokens.map { Array($0.utf8) } == path.map { Array($0.utf8) })

      let read = try Outcome { try value.element(at: pointer) }
      let naive = try Outcome { try Box(value).read(path) }
      try #require(read == naive, "read \(pointer) of \(value)")

      let new = newValue(at: path, of: value, &generator)
      let written = try Outcome { try value.replacingElement(at: pointer, with: new) }
      let box = Box(value)
      let expected = try Outcome {
        try box.write(path, new)
        return try box.value
      }
      try #require(written == expected, "write \(new) to \(pointer) of \(value)")
      switch written {
      case .value(let whole):
        outcomes[0] += 1
        try #require(whole.type == value.type)
      case .nothingThere: outcomes[1] += 1
      case .otherType: outcomes[2] += 1
      }
    }
    // The walk is worth little where it does not come to each of them often.
    #expect(outcomes.allSatisfy { $0 > 500 }, "\(outcomes)")
  }
}
