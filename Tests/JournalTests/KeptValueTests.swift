import DBusTypes
import TestSupport
import Testing

@testable import FocusService

@Suite struct KeptValueTests {
  @Test func randomValuesSurvive() throws {
    var generator = ValueGenerator(seed: 9)
    for number in 0..<3000 {
      let type = number.isMultiple(of: 2) ? generator.basicType() : generator.type(depth: 4)
      let value = generator.value(of: type, depth: 3)
      guard !value.holdsUnixFD else { continue }
      let kept = MarshalledValue(value)
      #expect(kept.value == value, "\(value)")
      #expect(try KeptValue.read(kept.storage) == kept, "\(value)")
    }
  }

  @Test(
    arguments: [
      (.byte(.max), "y 255"), (.boolean(true), "b 1"), (.int16(-2), "n 254 255"), (.uint16(258), "q 2 1"),
      (.int32(.min), "i 0 0 0 128"), (.uint32(1), "u 1 0 0 0"), (.int64(-1), "x 255 255 255 255 255 255 255 255"),
      (.uint64(1 << 56), "t 0 0 0 0 0 0 0 1"), (.double(-0.0), "d 0 0 0 0 0 0 0 128"), (.string("é"), "s 195 169 0"),
      (.string(""), "s 0"), (.objectPath(.root), "o 47 0"), (.signature(.empty), "g 0"),
    ] as [(DBusValue, String)])
  func basicValuesOfVersion1AreRead(value: DBusValue, text: String) throws {
    let words = text.split(separator: " ")
    let bytes = Array(words[0].utf8) + words.dropFirst().compactMap { UInt8($0) }
    #expect(try KeptValue.read(bytes) == MarshalledValue(value))
  }

  /// Any other value of version 0.1 is a reply that carries it in a variant.
  @Test func otherValuesOfVersion1AreRead() throws {
    var generator = ValueGenerator(seed: 10)
    for _ in 0..<500 {
      let value = generator.value(of: generator.type(depth: 4), depth: 3)
      var bytes: [UInt8] = [UInt8(ascii: "l"), 2, 0, 1]
      var body = WireWriter()
      body.append(.variant(value))
      var header = WireWriter()
      header.append(UInt32(body.count))
      header.append(UInt32(1))
      header.append(UInt32(15))
      bytes += header.finish()
      bytes += [5, 1, 0x75, 0, 1, 0, 0, 0, 8, 1, 0x67, 0, 1, 0x76, 0, 0]
      #expect(try KeptValue.read(bytes + body.finish()) == MarshalledValue(value), "\(value)")
    }
  }

  @Test(
    arguments: [
      [], [0], Array("y".utf8), Array("y12".utf8), [0x62, 2], Array("i123".utf8), Array("x1234567".utf8),
      [0x73, 0xff, 0],
      [0x73, 0, 0], Array("s".utf8), Array("sa".utf8), Array("oa\0".utf8), Array("o/".utf8), Array("g{\0".utf8),
      [0x68, 0, 0, 0, 0], Array("as".utf8),
      Array("l".utf8),
      Array("v".utf8), Array("(".utf8),
    ] as [[UInt8]])
  func otherBytesAreRefused(bytes: [UInt8]) {
    #expect(throws: (any Error).self) { try KeptValue.read(bytes) }
  }

  /// Bytes that are almost a value are refused or read as one that is kept as these bytes.
  @Test func damagedBytesAreRefusedOrRead() {
    var generator = ValueGenerator(seed: 11)
    var read = 0
    for _ in 0..<20_000 {
      var bytes = MarshalledValue(generator.value(of: generator.type(depth: 4), depth: 3)).storage
      for _ in 0..<Int.random(in: 1...4, using: &generator.numbers) {
        let index = Int.random(in: 1..<bytes.count, using: &generator.numbers)
        bytes[index] = Bool.random(using: &generator.numbers) ? generator.numbers.next() as UInt8 : bytes[index] ^ 1
      }
      guard let value = try? MarshalledValue(checking: bytes) else { continue }
      #expect(MarshalledValue(value.value) == value)
      read += 1
    }
    #expect(read > 1000)
  }
}
