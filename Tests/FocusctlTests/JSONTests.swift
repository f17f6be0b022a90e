import DBusTypes
import TestSupport
import Testing

@testable import focusctl

@Suite struct JSONTests {
  /// What `busctl --json=short` of systemd 252 prints, but for doubles and integer keys.
  @Test(arguments: [
    ("i", "8", #"{"type":"i","data":8}"#),
    ("x", "-9223372036854775808", #"{"type":"x","data":-9223372036854775808}"#),
    ("t", "18446744073709551615", #"{"type":"t","data":18446744073709551615}"#),
    ("ay", "[0,1,255]", #"{"type":"ay","data":[0,1,255]}"#),
    ("as", "[]", #"{"type":"as","data":[]}"#),
    ("a{sv}", "{}", #"{"type":"a{sv}","data":{}}"#),
    ("a{sv}", #"{"a":1}"#, #"{"type":"a{sv}","data":{"a":{"type":"i","data":1}}}"#),
    (
      "v", #"{"type":"v","data":{"type":"i","data":3}}"#,
      #"{"type":"v","data":{"type":"v","data":{"type":"i","data":3}}}"#
    ),
    ("(isad)", #"[1,"x",[1.5,2]]"#, #"{"type":"(isad)","data":[1,"x",[1.5,2.0]]}"#),
    ("a{sas}", #"{"k":["v"]}"#, #"{"type":"a{sas}","data":{"k":["v"]}}"#),
    ("ab", "[true,false]", #"{"type":"ab","data":[true,false]}"#),
    ("s", #""a\"b\\c/d\n\t\r\u0001é😀\b\f""#, #"{"type":"s","data":"a\"b\\c/d\n\t\r\u0001é😀\b\f"}"#),
    ("o", #""/a/b""#, #"{"type":"o","data":"/a/b"}"#),
    ("g", #""a{sv}""#, #"{"type":"g","data":"a{sv}"}"#),
    ("a{is}", #"{"-2":"b"}"#, #"{"type":"a{is}","data":{"-2":"b"}}"#),
    ("a{bs}", #"{"true":"b"}"#, #"{"type":"a{bs}","data":{"true":"b"}}"#),
    ("ad", #"["nan","inf","-inf",0.1,-0.0,1e300]"#, #"{"type":"ad","data":["nan","inf","-inf",0.1,-0.0,1e+300]}"#),
    (
      "av", #"[1.0,1,1e2,[1.0]]"#,
      #"{"type":"av","data":[{"type":"d","data":1.0},{"type":"i","data":1},{"type":"d","data":100.0},{"type":"ad","data":[1.0]}]}"#
    ),
  ])
  func readsAndWrites(signature: String, text: String, document: String) throws {
    let value = try JSONReader.read(text, as: DBusType(signature))
    #expect(JSONWriter.document(value) == document)
    #expect(try JSONReader.read(JSONWriter.data(value), as: DBusType(signature)) == value)
    #expect(try JSONReader.read(document, as: nil) == value)
  }

  @Test(arguments: [
    ("ay", "[1,300]", "'[1,300]' is not a value of type 'ay': '/1' must be a whole number from 0 to 255, such as [8]"),
    (
      "ai", "[1.5]",
      "'[1.5]' is not a value of type 'ai': '/0' must be a whole number from -2147483648 to 2147483647, such as [8]"
    ),
    (
      "at", "[-1]",
      "'[-1]' is not a value of type 'at': '/0' must be a whole number from 0 to 18446744073709551615, such as [8]"
    ),
    ("as", "[1]", #"'[1]' is not a value of type 'as': '/0' must be a string, such as ["text"]"#),
    ("as", "[", #"'[' is not a value of type 'as': expected a value at line 1, column 2, such as ["text"]"#),
    (
      "as", "[\"é\",\n \"b\" \"c\"]",
      #"'["é",\n "b" "c"]' is not a value of type 'as': expected ',' or ']' at line 2, column 6, such as ["text"]"#
    ),
    (
      "as", "[\n1]",
      #"'[\n1]' is not a value of type 'as': '/0' (line 2, column 1) must be a string, such as ["text"]"#
    ),
    (
      "a{si}", #"{"a/b":1,"c":"x"}"#,
      #"'{"a/b":1,"c":"x"}' is not a value of type 'a{si}': '/c' must be a whole number from -2147483648 to 2147483647, such as {"name":8}"#
    ),
    (
      "a{si}", #"{"a":1,"a":2}"#,
      #"'{"a":1,"a":2}' is not a value of type 'a{si}': expected each name once, not 'a' again, at line 1, column 8, such as {"name":8}"#
    ),
    ("as", "{}", #"'{}' is not a value of type 'as': expected an array, such as ["text"]"#),
    ("(is)", "[1]", #"'[1]' is not a value of type '(is)': expected an array of 2 members, such as [8,"text"]"#),
    (
      "(is)", #"[1,"a",2]"#,
      #"'[1,"a",2]' is not a value of type '(is)': expected an array of 2 members, such as [8,"text"]"#
    ),
    ("a{sb}", "[]", #"'[]' is not a value of type 'a{sb}': expected an object, such as {"name":true}"#),
    (
      "a{yb}", #"{"300":true}"#,
      #"'{"300":true}' is not a value of type 'a{yb}': expected a byte, a whole number from 0 to 255, such as {"8":true}"#
    ),
    (
      "ao", #"["x"]"#,
      #"'["x"]' is not a value of type 'ao': '/0' must be an object path, '/', or elements of [A-Za-z0-9_], each after a slash, such as ["/org/example"]"#
    ),
    (
      "ah", "[1]",
      "'[1]' is not a value of type 'ah': '/0' must be a file descriptor, which has no text form"
    ),
    (
      "a{sv}", #"{"a":null}"#,
      #"'{"a":null}' is not a value of type 'a{sv}': '/a' must be a value that D-Bus supports: not null, and no number of more than 64 bits, such as {"name":{"type":"i","data":8}}"#
    ),
  ])
  func refuses(signature: String, text: String, message: String) throws {
    let type = try DBusType(signature)
    let error = #expect(throws: SyntaxError.self) { try JSONReader.read(text, as: type) }
    #expect(error?.description == message)
  }

  @Test(arguments: [
    ("as", #"["a\u0000b"]"#), ("ad", "[1e400]"), ("av", "[18446744073709551616]"), ("as", #"["\ud800"]"#),
    ("ab", "[1]"), ("ab", #"["true"]"#), ("ai", "[true]"), ("ai", #"["1"]"#), ("ad", #"["1"]"#), ("as", ""),
    ("as", "[] []"), ("as", "[\"\u{1}\"]"), ("as", #"["\x"]"#), ("as", #"["\u12g4"]"#), ("as", #"["\u+123"]"#),
    ("as", #"["\udc00"]"#), ("as", #"["\ud83dx"]"#), ("as", #"["a]"#), ("as", "[,]"), ("as", "[\"a\",]"),
    ("av", "[+1]"),
    ("av", "[.5]"), ("av", "[0x1]"), ("av", "[-]"), ("av", "[tru]"), ("av", "[nul]"), ("a{sv}", "{a:1}"),
    ("a{sv}", "{\"a\"}"),
    ("a{sv}", "{\"a\":1,}"), ("ai", "[1]]"), ("ai", "[1.5e0]"), ("ai", "[\u{a0}1]"),
    ("av", String(repeating: "[", count: 1_000_000)), ("av", "[1.]"), ("av", "[01]"), ("av", "[1e]"), ("a{sd}", "1.5"),
    ("aa{sv}", "[1.5]"),
  ])
  func refusesWhatCannotBe(signature: String, text: String) throws {
    let type = try DBusType(signature)
    #expect(throws: SyntaxError.self) { try JSONReader.read(text, as: type) }
  }

  @Test(arguments: 0..<40) func randomValuesSurvive(seed: UInt64) throws {
    var random = ValueGenerator(seed: seed)
    for _ in 0..<50 {
      let value = random.value(of: random.type(depth: 4)).withPlainNaN
      #expect(try JSONReader.read(JSONWriter.data(value), as: value.type) == value)
      #expect(try JSONReader.read(JSONWriter.document(value), as: nil) == value)
      if value.type.isBasic { #expect(try ValueText.read(ValueText.text(value), as: value.type) == value) }
    }
  }
}
