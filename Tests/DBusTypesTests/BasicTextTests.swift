import DBusTypes
import TestSupport
import Testing

@Suite struct BasicTextTests {
  @Test(
    arguments: [
      ("0", .byte, .byte(0)), ("255", .byte, .byte(255)), ("true", .boolean, .boolean(true)),
      ("false", .boolean, .boolean(false)), ("-32768", .int16, .int16(.min)), ("65535", .uint16, .uint16(.max)),
      ("-2147483648", .int32, .int32(.min)), ("4294967295", .uint32, .uint32(.max)),
      ("-9223372036854775808", .int64, .int64(.min)), ("18446744073709551615", .uint64, .uint64(.max)),
      ("0.8", .double, .double(0.8)), ("-1e-3", .double, .double(-0.001)), ("inf", .double, .double(.infinity)),
      ("-inf", .double, .double(-.infinity)), ("nan", .double, .double(.nan)), ("8", .double, .double(8)),
      ("", .string, .string("")), (" a\n", .string, .string(" a\n")), ("é", .string, .string("é")),
      ("/", .objectPath, .objectPath(.root)), ("", .signature, .signature(.empty)),
    ] as [(String, DBusType, DBusValue)])
  func reads(text: String, type: DBusType, value: DBusValue) throws {
    #expect(try DBusValue(text: text, of: type) == value)
  }

  @Test(
    arguments: [
      ("256", .byte), ("-1", .byte), ("300", .byte), ("", .byte), ("1.0", .int32), ("1 ", .int32), ("0x1", .int32),
      ("2147483648", .int32), ("-2147483649", .int32), ("-1", .uint32), ("9223372036854775808", .int64),
      ("18446744073709551616", .uint64), ("1", .boolean), ("True", .boolean), ("yes", .boolean), ("", .boolean),
      ("", .double), ("x", .double), ("1,5", .double), (" 1", .double), ("1e999", .double), ("-1e999", .double),
      ("a\0b", .string), ("a", .objectPath), ("/a/", .objectPath), ("z", .signature), ("x", .variant),
      ("[]", .array(.byte)), ("()", .structure([.byte])), ("3", .unixFD),
    ] as [(String, DBusType)])
  func refuses(text: String, type: DBusType) {
    #expect(throws: SyntaxError.self) { try DBusValue(text: text, of: type) }
  }

  @Test func aRefusalNamesTheRange() throws {
    let error = try #require(throws: SyntaxError.self) { try DBusValue(text: "300", of: .byte) }
    #expect(error.description == "'300' is not a byte: a whole number from 0 to 255")
  }

  @Test func randomBasicValuesSurviveTheirText() throws {
    var generator = ValueGenerator(seed: 3)
    for _ in 0..<5000 {
      let value = generator.value(of: generator.basicType())
      let text = try #require(value.basicText)
      let back = try DBusValue(text: text, of: value.type)
      if case .double(let number) = value, number.isNaN {
        guard case .double(let again) = back else {
          Issue.record("\(back)")
          continue
        }
        #expect(again.isNaN)
      } else {
        #expect(back == value, "\(text)")
      }
    }
  }

  @Test func containersHaveNoPlainText() {
    for value: DBusValue in [
      .variant(.int32(1)), .strings([]), .structure([.byte(1)]), .properties([]), .unixFD(UnixFD(owning: -1)),
    ] {
      #expect(value.basicText == nil)
    }
  }
}
