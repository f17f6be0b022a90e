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
  ])
  func hostsHaveAddresses(host: String, isSystem: Bool, words: String) throws {
    #expect(try RemoteHost(host).address(ofSystemBus: isSystem).hasPrefix("unixexec:path=ssh," + words))
  }

  @Test(arguments: ["", "a b", "-x", "@a", "a:x", "a;b", "$(a)", "u@", "a/b"])
  func refusesHosts(text: String) {
    #expect(throws: CommandError.self) { try RemoteHost(text) }
  }
}
