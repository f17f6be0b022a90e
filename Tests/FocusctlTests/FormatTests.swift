import DBusTypes
import Testing

@testable import focusctl

@Suite struct FormatTests {
  @Test(arguments: [
    ("{key}={value}", "K=8"), ("{{{value}}}", "{8}"), ("\\t{value}\\n\\\\", "\t8\n\\"), ("", ""), ("{none}", "nil"),
    ("{none:-}", ""), ("{none:-a b}", "a b"), ("{value:-x}", "8"),
  ])
  func replacesParts(format: String, line: String) throws {
    let template = try Template(format, .init(parts: ["key", "value", "none"]))
    let values = [FormatPart.name("key"): "K", .name("value"): "8"]
    #expect(template.text(ValueText.text) { values[$0].map(FormatValue.string) } == line)
  }

  private static let song: [FormatPart: DBusValue] = [
    .name("value"): .string("A <b> é"), .name("empty"): .string(""), .name("number"): .int64(3_725_000_000),
    .name("volume"): .double(0.5), .name("list"): .variant(.strings(["x", "y"])), .name("status"): .string("Playing"),
    .name("big"): .uint64(10_000_000_000_000_000_001),
  ]

  /// What playerctl's functions and arithmetic do, and what they do with nil.
  @Test(arguments: [
    ("{lc(value)}{uc(value)}", "a <b> éA <B> É"), ("{markup_escape(value)}", "A &lt;b&gt; é"),
    ("{default(none, 'x')}{default(empty, value)}{default(value, 1)}", "xA <b> éA <b> é"),
    ("{trunc(value, 3)}|{trunc(value, 7)}|{trunc(value, 0)}|{trunc(value, -1):-}", "A <…|A <b> é|…|"),
    ("{round(7 / 2)} {round(volume * 100)} {round(-0.4)}{round(value):-no}", "4 50 0no"),
    ("{duration(number)} {duration(61000000)} {duration(0.9)}", "1:02:05 1:01 0:00"), ("{duration(value):-no}", "no"),
    ("{emoji(status)}{emoji(volume)}{emoji(0.1)}{emoji(value):-}", "▶️🔉🔈"), ("{join(list, ', ')}", "x, y"),
    ("{volume * 100}% {number / 1000000}s {1 + 2 * 3} {(1 + 2) * 3} {-number / 2}", "50.0% 3725s 7 9 -1862500000"),
    ("{1 / 0:-}{7 / 2}{number - none:-x}{value + 1:-y}", "3.5xy"), ("{uc(default(none, 'a)b'))}", "A)B"),
    ("{ uc( value ) }", "A <B> É"),
    ("{big + 0} {round(big)} {big - big} {big * 2:-over}", "10000000000000000001 10000000000000000001 0 over"),
    ("{volume / 2} {volume - 1} {volume + 0.25} {volume / 0:-none}", "0.25 -0.5 0.75 none"), ("{list}", #"["x","y"]"#),
    ("{uc(none):-a (b) :- c}", "a (b) :- c"),
  ])
  func functionsChangeParts(format: String, line: String) throws {
    let parts = ["value", "empty", "number", "volume", "list", "status", "none", "big"]
    let template = try Template(format, .init(parts: parts))
    #expect(template.text(ValueText.text) { Self.song[$0].map { .value($0.lookedThrough) } } == line)
  }

  @Test(arguments: [
    ("{Metadata/xesam:title}", ["Metadata/xesam:title"]), ("{a.B.C} {uc(Title)} {value} {Title}", ["a.B.C", "Title"]),
    ("{Length / 2} {Tags/-1 - Volume*2}", ["Length", "Tags/-1", "Volume"]), ("{{Title}}", []),
  ])
  func keysArePartsWhereTheyMayBe(format: String, keys: [String]) throws {
    let names = Template.Names(parts: ["value"], allowsKeys: true)
    #expect(try Template(format, names).keys.map(\.text) == keys)
  }

  @Test(arguments: [
    ("{uc}", "unknown part '{uc}' of a format: expected one of {key} {value}"),
    ("{up(value)}", "unknown function 'up' of a format; did you mean 'uc'?"),
    (
      "{reverse(value)}",
      "unknown function 'reverse' of a format; expected one of lc uc markup_escape default duration emoji round trunc join"
    ),
    ("{uc(value, key)}", "the function 'uc' of a format takes 1 argument, but 2 were given"),
    ("{trunc(value)}", "the function 'trunc' of a format takes 2 arguments, but 1 was given"),
    ("{uc(value}", "'{uc(value}' is not a part of a format: it lacks ')'"),
    ("{uc('value)}", "'{uc('value)}' is not a part of a format: it has a string that is not closed"),
    ("{value key}", "'{value key}' is not a part of a format: expected '}' before 'key}'"),
    ("{1.2.3}", "'{1.2.3}' is not a part of a format: it has '1.2.3', which is not a number"),
    ("{Title}", "unknown part '{Title}' of a format: expected one of {key} {value}"),
  ])
  func refusesExpressions(format: String, message: String) {
    #expect(throws: CommandError.usage(message)) { try Template(format, .init(parts: ["key", "value"])) }
  }

  @Test func deepNestingEnds() {
    let format = "{" + String(repeating: "(", count: 100_000) + "1" + String(repeating: ")", count: 100_000) + "}"
    #expect(throws: CommandError.self) { try Template(format, .init(parts: [])) }
  }

  @Test func longArithmeticEnds() throws {
    func template(_ count: Int) throws -> Template {
      try Template("{1" + String(repeating: "+1", count: count) + "}", .init(parts: []))
    }
    #expect(try template(256).text(ValueText.text) { _ in nil } == "257")
    for count in [257, 100_000] {
      let error = #expect(throws: CommandError.self) { try template(count) }
      #expect(error?.status == .usage && error?.message?.hasSuffix("it has more than 256 operators") == true)
      #expect((error?.message?.utf8.count ?? 0) < 1000)
    }
  }

  /// Swift takes a sign and a combining mark for one character; Pango does not.
  @Test func signsWithMarksAreEscaped() throws {
    let mark = "\u{301}"
    let text = ["<", "&", ">"].map { $0 + mark }.joined()
    let escaped = ["&lt;", "&amp;", "&gt;"].map { $0 + mark }.joined()
    let template = try Template("{markup_escape(value)}", .init(parts: ["value"]))
    #expect(template.text(ValueText.text) { _ in .string(text) }.utf8.elementsEqual(escaped.utf8))
    var options = Options()
    options.set(.waybar, "")
    let line = try WatchFormat(options, keys: 1).line(.init(key: "K", value: .string(text)))
    let head = #"{"text":""# + escaped
    #expect(line.utf8.starts(with: head.utf8), "\(line)")
  }

  @Test(arguments: [
    ("{vale}", "unknown part '{vale}' of a format; did you mean '{value}'?"),
    ("{zebra}", "unknown part '{zebra}' of a format: expected one of {key} {value}"),
    ("{value", "'{value' is not a format: '{value' is not closed; write '{{' for a literal brace"),
    ("a}", "'a}' is not a format: write '}}' for a literal brace"),
    ("\\x", "'\\x' is not an escape of a format; write '\\\\' for a backslash"),
  ])
  func refusesFormats(format: String, message: String) {
    #expect(throws: CommandError.usage(message)) { try Template(format, .init(parts: ["key", "value"])) }
  }

  @Test(arguments: [
    (nil, #"{"text":"","alt":"nil","tooltip":"K: nil","class":"nil"}"#),
    (DBusValue.int32(8), #"{"text":"8","alt":"8","tooltip":"K: 8 (i)","class":"set"}"#),
    (.boolean(true), #"{"text":"true","alt":"true","tooltip":"K: true (b)","class":"true"}"#),
    (
      .string("<a>&\n\""),
      #"{"text":"&lt;a&gt;&amp;\\n\"","alt":"<a>&\\n\"","tooltip":"K: &lt;a&gt;&amp;\n\" (s)","class":"set"}"#
    ),
  ])
  func writesForWaybar(value: DBusValue?, line: String) throws {
    var options = Options()
    options.set(.waybar, "")
    #expect(try WatchFormat(options, keys: 1).line(.init(key: "K", value: value)) == line + "\n")
  }

  @Test(arguments: [
    ("2", Duration.seconds(2)), ("0.5", .milliseconds(500)), ("2s", .seconds(2)), ("300ms", .milliseconds(300)),
  ])
  func readsTimeouts(text: String, duration: Duration) throws {
    #expect(try Timeout.read(text) == duration)
  }

  @Test(arguments: [
    ("host", true, "argv1=-xT,argv2=--,argv3=host,argv4=systemd-stdio-bridge"),
    ("me@host:22", true, "argv1=-xT,argv2=-p,argv3=22,argv4=--,argv5=me%40host,argv6=systemd-stdio-bridge"),
    ("[::1]", false, "argv1=-xT,argv2=--,argv3=%3a%3a1,argv4=exec%20sh%20-c%20%27exec%20systemd-stdio-bridge%20"),
    ("me@[fe80::1]:22", true, "argv1=-xT,argv2=-p,argv3=22,argv4=--,argv5=me%40fe80%3a%3a1,argv6=systemd-stdio-bridge"),
  ])
  func hostsHaveAddresses(host: String, isSystem: Bool, words: String) throws {
    #expect(try RemoteHost(host).address(ofSystemBus: isSystem).hasPrefix("unixexec:path=ssh," + words))
  }

  @Test(arguments: ["", "a b", "-x", "@a", "a:x", "a;b", "$(a)", "u@", "a/b"])
  func refusesHosts(text: String) {
    #expect(throws: CommandError.self) { try RemoteHost(text) }
  }
}
