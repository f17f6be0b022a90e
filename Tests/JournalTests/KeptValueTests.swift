import DBus
import DBusTypes
import TestSupport
import Testing

@Suite struct KeptValueTests {
  @Test func randomValuesSurvive() throws {
    var generator = ValueGenerator(seed: 9)
    for number in 0..<3000 {
      let type = number.isMultiple(of: 2) ? generator.basicType() : generator.type(depth: 4)
      let value = generator.value(of: type, depth: 3)
      #expect(try Message.demarshalledValue(Message.marshalled(value)) == value, "\(value)")
    }
  }

  @Test(
    arguments: [
      (.byte(.max), "y 255"), (.boolean(true), "b 1"), (.int16(-2), "n 254 255"), (.uint16(258), "q 2 1"),
      (.int32(.min), "i 0 0 0 128"), (.uint32(1), "u 1 0 0 0"), (.int64(-1), "x 255 255 255 255 255 255 255 255"),
      (.uint64(1 << 56), "t 0 0 0 0 0 0 0 1"), (.double(-0.0), "d 0 0 0 0 0 0 0 128"), (.string("é"), "s 195 169 0"),
      (.string(""), "s 0"), (.objectPath(.root), "o 47 0"), (.signature(.empty), "g 0"),
    ] as [(DBusValue, String)])
  func basicValuesAreKeptAs(value: DBusValue, text: String) throws {
    let bytes = try Message.marshalled(value)
    let words = [String(Unicode.Scalar(bytes[0]))] + bytes.dropFirst().map(String.init)
    #expect(words.joined(separator: " ") == text)
    #expect(try Message.demarshalledValue(bytes) == value)
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
    #expect(throws: DBusError.self) { try Message.demarshalledValue(bytes) }
  }

  @Test func valuesThatNoMessageCarriesAreRefused() {
    for value: DBusValue in [.string("a\0b"), .structure([])] {
      #expect(throws: DBusError.self) { try Message.marshalled(value) }
    }
  }
}
