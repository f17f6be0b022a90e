import DBusTypes
import Testing

@testable import focusctl

@Suite struct FocusctlValueTests {
  @Test(arguments: [
    ("true", "b", "true"), ("false", "b", "false"), ("True", "s", #""True""#),
    ("1", "i", "1"), ("-0", "i", "0"), ("2147483647", "i", "2147483647"), ("2147483648", "x", "2147483648"),
    ("-9223372036854775808", "x", "-9223372036854775808"), ("9223372036854775808", "t", "9223372036854775808"),
    ("18446744073709551616", "s", #""18446744073709551616""#),
    ("1.0", "d", "1.0"), ("1e3", "d", "1000.0"), ("-0.5E-1", "d", "-0.05"),
    ("007", "s", #""007""#), ("+5", "s", #""+5""#), ("1.", "s", #""1.""#), (".5", "s", #"".5""#),
    ("nan", "s", #""nan""#),
    ("", "s", #""""#), ("1e400", "s", #""1e400""#), ("-", "s", #""-""#), ("a\nb", "s", #""a\nb""#),
    ("[]", "av", "[]"), ("[1,2]", "ai", "[1,2]"), ("[1,2.5]", "ad", "[1.0,2.5]"),
    ("[1,3000000000]", "ax", "[1,3000000000]"),
    ("[1,18446744073709551615]", "at", "[1,18446744073709551615]"), (" [true]", "ab", "[true]"),
    ("[-1,18446744073709551615]", "av", #"[{"type":"i","data":-1},{"type":"t","data":18446744073709551615}]"#),
    (#"[1,"a"]"#, "av", #"[{"type":"i","data":1},{"type":"s","data":"a"}]"#), ("[[1],[2]]", "aai", "[[1],[2]]"),
    ("{}", "a{sv}", "{}"), (#"[{"a":1},{}]"#, "aa{sv}", #"[{"a":{"type":"i","data":1}},{}]"#),
    (#"{"type":"y","data":7}"#, "y", "7"),
    (#"{"type":"nope","data":7}"#, "a{sv}", #"{"data":{"type":"i","data":7},"type":{"type":"s","data":"nope"}}"#),
    (#"{"type":"ad","data":[1.0,2]}"#, "ad", "[1.0,2.0]"),
    (#"["a\"1.5",1.5]"#, "av", #"[{"type":"s","data":"a\"1.5"},{"type":"d","data":1.5}]"#),
  ])
  func infersTypes(text: String, signature: String, data: String) throws {
    let value = try InferredType.value(of: text)
    #expect(value.type.description == signature)
    #expect(JSONWriter.data(value) == data)
  }

  @Test(arguments: [
    ("8", #"{"type":"i","data":8}"#), (#""8""#, #"{"type":"s","data":"8"}"#), (#""8"#, #"{"type":"s","data":"\"8"}"#),
    (#"{"type":"y","data":8}"#, #"{"type":"y","data":8}"#), ("text", #"{"type":"s","data":"text"}"#),
  ])
  func readsVariants(text: String, data: String) throws {
    #expect(JSONWriter.data(try ValueText.read(text, as: .variant)) == data)
  }

  @Test(arguments: ["[draft", "{a}", #"{"type":"y","data":300}"#, "[null]"])
  func refusesToGuess(text: String) {
    let error = #expect(throws: SyntaxError.self) { try InferredType.value(of: text) }
    #expect(error?.description.hasSuffix("for a string, give the type 's'") == true)
  }

  @Test(arguments: [
    ("demo.Form.Number=1", nil, "demo.Form.Number", "i", "1"),
    ("demo.Form.Number:y=1", nil, "demo.Form.Number", "y", "1"),
    ("demo.Form.Number=1", "d", "demo.Form.Number", "d", "1.0"),
    ("demo.Form.Number:s=1", "d", "demo.Form.Number", "s", "1"),
    ("demo.Form.Url=http://a=b", nil, "demo.Form.Url", "s", "http://a=b"),
    // With "=", these marks are one character.
    ("demo.Form.Tone=🏽", nil, "demo.Form.Tone", "s", "🏽"),
    ("demo.Form.Accent:s=\u{301}", nil, "demo.Form.Accent", "s", "\u{301}"),
    ("demo.Form.Dict:a{sv}={\"a:b\":1}", nil, "demo.Form.Dict", "a{sv}", #"{"a:b":{"type":"i","data":1}}"#),
    // The keys that all programs share have their own types.
    ("org.focusd.Range.Value=1", nil, "org.focusd.Range.Value", "d", "1.0"),
    ("org.focusd.Range.Value:i=1", nil, "org.focusd.Range.Value", "i", "1"),
    ("org.focusd.Text.Content=12", nil, "org.focusd.Text.Content", "s", "12"),
    ("org.focusd.Text.Selection=[1,2]", nil, "org.focusd.Text.Selection", "(ii)", "[1,2]"),
    ("org.focusd.Text.Insert=12", nil, "org.focusd.Text.Insert", "i", "12"),
    ("org.focusd.Text.Other=12", nil, "org.focusd.Text.Other", "i", "12"),
    ("demo.Form.Any:v=1.0", nil, "demo.Form.Any", "v", #"{"type":"d","data":1.0}"#),
  ])
  func readsKeyedValues(operand: String, known: String?, key: String, signature: String, text: String) throws {
    let keyed = try KeyedValue(operand)
    let value = try keyed.value(known: try known.map { try DBusType($0) })
    #expect(keyed.key == key)
    #expect(value.type.description == signature)
    #expect(ValueText.text(value) == text)
  }

  @Test(arguments: [
    (
      "demo.Form.Number",
      "'demo.Form.Number' is not KEY[:SIGNATURE]=VALUE, such as demo.Form.Number=1 or demo.Form.Size:d=1"
    ),
    (
      "Number=1",
      "'Number' is not a whole key: expected an interface name, a dot and a member name, such as demo.Form.Number"
    ),
    ("demo.Form.Number:ii=1", "'ii' is not a type: one single complete type, such as 'i', 'as' or 'a{sv}'"),
    (
      "demo.Form.Number:y=300",
      "demo.Form.Number: '300' is not a byte (type 'y'): a whole number from 0 to 255, such as 8"
    ),
    ("demo.Form.On:b=yes", "demo.Form.On: 'yes' is not a boolean (type 'b'): 'true' or 'false', such as true"),
    (
      "demo.Form.File:h=1",
      "demo.Form.File: '1' is not a value of type 'h': that type has no plain text form"
    ),
  ])
  func refusesKeyedValues(operand: String, message: String) {
    #expect(throws: CommandError.usage(message)) { try KeyedValue(operand).completed(among: []).value() }
  }
}
