import DBusTypes

/// Values of every type that has a text form, the same ones for the same seed.
struct RandomValues: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  /// SplitMix64.
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  private static let basic: [DBusType] = [
    .byte, .boolean, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double, .string, .objectPath, .signature,
  ]

  mutating func type(depth: Int) -> DBusType {
    switch Int.random(in: 0..<(depth > 0 ? 8 : 4), using: &self) {
    case 0..<4: basicType()
    case 4: .variant
    case 5: .array(type(depth: depth - 1))
    case 6: .structure((0..<Int.random(in: 1...3, using: &self)).map { _ in type(depth: depth - 1) })
    default: .dictionary(key: basicType(), value: type(depth: depth - 1))
    }
  }

  private mutating func basicType() -> DBusType { Self.basic[Int.random(in: 0..<Self.basic.count, using: &self)] }

  private mutating func integer<I: FixedWidthInteger>(_: I.Type) -> I {
    [I.min, I.max, 0, 1, I(truncatingIfNeeded: next())][Int.random(in: 0..<5, using: &self)]
  }

  private mutating func text() -> String {
    let scalars: [Unicode.Scalar] = [
      "a", "Z", "0", " ", "\"", "\\", "/", "\n", "\t", "\r", "\u{1}", "\u{7f}", "é", "\u{2028}", "😀", "\u{10ffff}",
      "{", "[", "-", ".", "e",
    ]
    var text = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...8, using: &self) {
      text.append(scalars[Int.random(in: 0..<scalars.count, using: &self)])
    }
    return String(text)
  }

  private mutating func double() -> Double {
    let special = [
      0, -0.0, 1, 0.1, .infinity, -.infinity, .nan, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 1e21, 1e-7,
    ]
    let random = Double(bitPattern: next())
    let index = Int.random(in: 0..<(special.count * 2), using: &self)
    return index < special.count ? special[index] : random.isNaN ? .nan : random
  }

  mutating func value(of type: DBusType, depth: Int = 3) -> DBusValue {
    switch type {
    case .byte: return .byte(integer(UInt8.self))
    case .boolean: return .boolean(next() & 1 == 0)
    case .int16: return .int16(integer(Int16.self))
    case .uint16: return .uint16(integer(UInt16.self))
    case .int32: return .int32(integer(Int32.self))
    case .uint32: return .uint32(integer(UInt32.self))
    case .int64: return .int64(integer(Int64.self))
    case .uint64: return .uint64(integer(UInt64.self))
    case .double: return .double(double())
    case .string: return .string(text())
    case .objectPath: return .objectPath((try? ObjectPath("/a/b\(next() % 100)")) ?? .root)
    case .signature: return .signature((try? Signature([self.type(depth: 2)])) ?? .empty)
    case .unixFD, .variant:
      return .variant(value(of: self.type(depth: depth), depth: depth - 1))
    case .array(let element):
      let elements = (0..<Int.random(in: 0...3, using: &self)).map { _ in value(of: element, depth: depth) }
      return (try? .array(DBusArray(of: element, elements))) ?? .boolean(false)
    case .structure(let members): return .structure(members.map { value(of: $0, depth: depth) })
    case .dictionary(let key, let element):
      var entries: [DBusValue: DBusValue] = [:]
      for _ in 0..<Int.random(in: 0...3, using: &self) {
        entries[value(of: key)] = value(of: element, depth: depth)
      }
      let list = entries.map { DBusDictionary.Entry(key: $0.key, value: $0.value) }
      return (try? .dictionary(DBusDictionary(key: key, value: element, list))) ?? .boolean(false)
    }
  }
}
