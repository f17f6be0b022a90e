package import DBusTypes

/// The same sequence of numbers for the same seed (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Random D-Bus types, and values of them that any message can carry.
package struct ValueGenerator {
  package var numbers: SeededGenerator

  package init(seed: UInt64) { numbers = SeededGenerator(seed: seed) }

  package static let basicTypes: [DBusType] = [
    .byte, .boolean, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double, .string, .objectPath, .signature,
  ]

  /// A type of at most `depth` nested containers.
  package mutating func type(depth: Int) -> DBusType {
    switch depth > 0 ? Int.random(in: 0..<9, using: &numbers) : 8 {
    case 0, 1: return .array(type(depth: depth - 1))
    case 2, 3:
      return .structure((0..<Int.random(in: 1...3, using: &numbers)).map { _ in type(depth: depth - 1) })
    case 4, 5: return .dictionary(key: basicType(), value: type(depth: depth - 2))
    case 6: return .variant
    default: return basicType()
    }
  }

  package mutating func basicType() -> DBusType {
    Self.basicTypes[Int.random(in: 0..<Self.basicTypes.count, using: &numbers)]
  }

  /// A value of `type`, with at most `depth` containers more within each of its variants.
  package mutating func value(of type: DBusType, depth: Int = 2) -> DBusValue {
    switch type {
    case .byte: return .byte(number())
    case .boolean: return .boolean(.random(using: &numbers))
    case .int16: return .int16(number())
    case .uint16: return .uint16(number())
    case .int32: return .int32(number())
    case .uint32: return .uint32(number())
    case .int64: return .int64(number())
    case .uint64: return .uint64(number())
    case .double: return .double(double())
    case .string: return .string(string())
    case .objectPath: return .objectPath(path())
    case .signature: return .signature((try? Signature([self.type(depth: 2)])) ?? .empty)
    case .unixFD: return .unixFD(UnixFD(owning: -1))
    case .array(let element):
      return .array(DBusArray(known: element, elements().map { _ in value(of: element, depth: depth) }))
    case .structure(let members): return .structure(members.map { value(of: $0, depth: depth) })
    case .dictionary(let key, let element): return .dictionary(dictionary(key, element, depth))
    case .variant: return .variant(value(of: self.type(depth: depth), depth: depth - 1))
    }
  }

  private mutating func elements() -> Range<Int> { 0..<Int.random(in: 0...3, using: &numbers) }

  private mutating func dictionary(_ keyType: DBusType, _ valueType: DBusType, _ depth: Int) -> DBusDictionary {
    var entries: [DBusDictionary.Entry] = []
    for _ in elements() {
      let key = value(of: keyType)
      guard !entries.contains(where: { $0.key == key }) else { continue }
      entries.append(.init(key: key, value: value(of: valueType, depth: depth)))
    }
    return DBusDictionary(known: keyType, valueType, entries)
  }

  /// Any number, but the type's limits, 0 and 1 more often than others.
  private mutating func number<I: FixedWidthInteger>() -> I {
    switch Int.random(in: 0..<8, using: &numbers) {
    case 0: I.min
    case 1: I.max
    case 2: 0
    case 3: 1
    default: I.random(in: I.min...I.max, using: &numbers)
    }
  }

  private mutating func double() -> Double {
    let special: [Double] = [
      0, -0.0, .infinity, -.infinity, .nan, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 0.1,
    ]
    let choice = Int.random(in: 0..<16, using: &numbers)
    return choice < special.count ? special[choice] : Double(bitPattern: number())
  }

  private mutating func string() -> String {
    let scalars: [Unicode.Scalar] = [
      "a", "Z", "0", " ", "'", "\"", "\\", "\n", "\t", "\u{1}", "\u{7F}", "é", "\u{301}", "\u{2028}", "\u{FEFF}",
      "\u{FFFF}", "日", "\u{1F468}", "\u{10FFFF}",
    ]
    var text = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...8, using: &numbers) {
      text.append(scalars[Int.random(in: 0..<scalars.count, using: &numbers)])
    }
    return String(text)
  }

  private mutating func path() -> ObjectPath {
    let elements = elements().map { _ in "e\(Int.random(in: 0..<100, using: &numbers))" }
    return (try? ObjectPath("/" + elements.joined(separator: "/"))) ?? .root
  }
}

extension DBusValue {
  /// The value with each NaN made the usual one: text keeps neither its sign nor its payload.
  package var withPlainNaN: DBusValue {
    switch self {
    case .double(let number): return number.isNaN ? .double(.nan) : self
    case .array(let array): return .array(DBusArray(known: array.elementType, array.map(\.withPlainNaN)))
    case .structure(let members): return .structure(members.map(\.withPlainNaN))
    case .dictionary(let dictionary):
      var entries: [DBusDictionary.Entry] = []
      for entry in dictionary.entries where !entries.contains(where: { $0.key == entry.key.withPlainNaN }) {
        entries.append(.init(key: entry.key.withPlainNaN, value: entry.value.withPlainNaN))
      }
      return .dictionary(DBusDictionary(known: dictionary.keyType, dictionary.valueType, entries))
    case .variant(let content): return .variant(content.withPlainNaN)
    default: return self
    }
  }
}
