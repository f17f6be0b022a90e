import DBusTypes
import Testing

@testable import focusctl

@Suite struct ExpressionTests {
  @Test(arguments: [
    (["+5"], "i", "1", "6"), (["-5"], "i", "1", "-4"), (["*3"], "n", "-2", "-6"), (["/2"], "i", "-7", "-3"),
    (["+1"], "y", "254", "255"), (["--1"], "q", "1", "2"), (["+-1"], "u", "1", "0"),
    (["*0"], "t", "18446744073709551615", "0"),
    (["-1"], "x", "-9223372036854775807", "-9223372036854775808"), (["/300"], "y", "255", "0"),
    (["+0.5"], "d", "1", "1.5"), (["*2"], "d", "0.25", "0.5"), (["/4"], "d", "1", "0.25"),
    (["-1e3"], "d", "0", "-1000.0"),
    (["+1"], "d", "inf", "inf"),
    (["toggle"], "b", "true", "false"), (["append", "x y"], "s", "a", "ax y"), (["append x"], "s", "a", "ax"),
    (["append", "2"], "ai", "[1]", "[1,2]"), (["append", "b"], "as", "[]", #"["b"]"#),
    (["append", "7"], "ay", "[]", "[7]"),
    (["append", #"["a",true]"#], "a(sb)", "[]", #"[["a",true]]"#),
    (["append", "1"], "av", "[]", #"[{"type":"i","data":1}]"#), (["+1"], "v", "1", #"{"type":"i","data":2}"#),
  ])
  func changes(words: [String], signature: String, before: String, after: String) throws {
    let value = try ValueText.read(before, as: DBusType(signature))
    let changed = try Expression(words).applied(to: value)
    #expect(changed.type == value.type)
    #expect(ValueText.text(changed) == after)
  }

  /// Bounds are as exact as the value, and come before the type's range.
  @Test(arguments: [
    ("+1", "x", "9007199254740993", "9007199254740993", "9007199254740993"),
    ("+100", "x", "9223372036854775800", "9223372036854775807", "9223372036854775807"),
    ("+1", "t", "18446744073709551615", "18446744073709551615", "18446744073709551615"),
    ("+5", "i", "8", "9.5", "9"), ("*10", "d", "1e308", "5", "5.0"), ("+0.25", "d", "0.5", "0.6", "0.6"),
  ])
  func isBounded(text: String, signature: String, before: String, most: String, after: String) throws {
    var options = Options()
    options.set(.most, most)
    let expression = try Expression([text])
    let value = try ValueText.read(before, as: DBusType(signature))
    #expect(ValueText.text(try expression.applied(to: value, within: try Bounds(options, of: expression))) == after)
  }

  @Test(arguments: [
    (["+1"], "y", "255", "255 + 1 is out of the range of type 'y', 0 to 255"),
    (["-1"], "u", "0", "0 - 1 is out of the range of type 'u', 0 to 4294967295"),
    (
      ["*2"], "x", "9223372036854775807",
      "9223372036854775807 * 2 is out of the range of type 'x', -9223372036854775808 to 9223372036854775807"
    ),
    (["/-1"], "i", "-2147483648", "-2147483648 / -1 is out of the range of type 'i', -2147483648 to 2147483647"),
    (["*10"], "d", "1e308", "1e+308 * 10.0 is out of the range of type 'd'"),
  ])
  func refusesResults(words: [String], signature: String, before: String, message: String) throws {
    let value = try ValueText.read(before, as: DBusType(signature))
    let expression = try Expression(words)
    #expect(throws: CommandError.refused(message)) { try expression.applied(to: value) }
  }

  @Test(arguments: [
    (["/0"], "i", "5", "5 cannot be divided by 0"), (["/0"], "d", "5", "5.0 cannot be divided by 0"),
    (["+0.5"], "i", "1", "'+0.5' needs a whole number for a value of type 'i'"),
    (["+1"], "s", "1", "'+1' needs a number, but the value is of type 's'"),
    (["+1"], "b", "true", "'+1' needs a number, but the value is of type 'b'"),
    (["toggle"], "i", "1", "'toggle' needs a boolean, but the value is of type 'i'"),
    (["append", "x"], "a{ss}", "{}", "'append' needs a string or an array, but the value is of type 'a{ss}'"),
    (
      ["append", "x"], "ai", "[]",
      "'x' is not a 32-bit integer (type 'i'): a whole number from -2147483648 to 2147483647, such as 8"
    ),
  ])
  func refusesOperands(words: [String], signature: String, before: String, message: String) throws {
    let value = try ValueText.read(before, as: DBusType(signature))
    let expression = try Expression(words)
    #expect(throws: CommandError.usage(message)) { try expression.applied(to: value) }
  }

  @Test(arguments: [
    ["5"], ["+"], ["+x"], ["+nan"], ["*inf"], ["append"], ["++5"], ["+0x5"], ["+5 "], ["+1_000"], ["+1."], ["+٣"],
    ["toggle", "x"], ["+1", "+2"], [""], ["append", "a", "b"],
  ])
  func refusesWords(words: [String]) {
    #expect { try Expression(words) } throws: { ($0 as? CommandError)?.status == .usage }
  }
}
