import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

@testable import focusctl

/// What other programs wrote reaches a terminal as text that it does not obey, and a pipe as it is.
@Suite struct TerminalSafetyTests {
  /// Sets the title of a terminal, ends a line, and turns the order of text around.
  private static let hostile =
    "\u{1b}]0;x\u{7}\u{9b}1m\u{7f}\u{202e}abc\u{2067}\u{61c}\u{200f}\u{200b}\u{2028}\u{2029}\u{feff}\u{e0041}"

  /// The bytes of it that a terminal must never be sent: but for ESC those of nothing that focusctl itself writes.
  private static let forbidden = hostile.unicodeScalars.filter {
    $0 != "\u{1b}" && ($0.value < 0x20 || $0.value > 0x7e)
  }

  private static let setting = """
    focusctl register z "z.Z.D:a{ss}={\\"$(printf %s "$HOSTILE" | sed 's/\\x1b/\\\\u001b/;s/\\x07/\\\\u0007/')\\":\\"d\\"}" "z.Z.T=$HOSTILE" "z.Z.A=[\\"$(printf %s "$HOSTILE" | sed 's/\\x1b/\\\\u001b/;s/\\x07/\\\\u0007/')\\"]" \\
      --label "$HOSTILE" --focus >/dev/null

    """

  @Test(arguments: [
    "focusctl get T", "focusctl get A", "focusctl get T --json", "focusctl get T A --format '{value} {T} {uc(T)}'",
    "focusctl", "focusctl --json", "focusctl list", "focusctl list --json", "focusctl list --format '{label} {json}'",
    "focusctl describe T/x", "focusctl describe \"D/$HOSTILE\"", "focusctl describe \"D/$HOSTILE\" --json",
    "timeout 600 focusctl watch T \"D/$HOSTILE\"", "timeout --foreground 600 focusctl watch T \"D/$HOSTILE\"",
    "timeout 600 focusctl watch \"D/$HOSTILE\" --format '{key}'", "focusctl get \"D/$HOSTILE\" --format '{key}'",
    "timeout 600 focusctl watch T \"D/$HOSTILE\" --waybar", "focusctl get T \"D/$HOSTILE\" --json",
    "focusctl __complete get D/; echo", "focusctl __complete get --field ''; echo",
    "timeout 600 focusctl watch", "timeout 600 focusctl watch T",
    "timeout 600 focusctl watch T --json",
    "timeout 600 focusctl watch T --waybar", "timeout 600 focusctl watch T --format '{value}'", "focusctl set T/0 1",
    "focusctl get \"$HOSTILE\"", "timeout --foreground 600 focusctl watch", "focusctl \"$HOSTILE\"",
    "focusctl focus \"$HOSTILE\"",
    "focusctl register a \"a.A.A:$HOSTILE=1\"", "focusctl -H \"$HOSTILE\" get T",
    "focusctl --address \"$HOSTILE\" get T",
    "focusctl get T --format \"{$HOSTILE}\"",
  ])
  func aTerminalObeysNoValue(script: String) async throws {
    try await TestDesktop.with { desktop in
      let extra = ["TERM": "dumb", "HOSTILE": Self.hostile]
      let terminal = try await desktop.terminal(200, 24, Self.setting + script, extra: extra)
      if script.contains(" watch") {
        // A page is drawn before the values are there too, and shows the key "D/…" then.
        let showsKeys = script.contains("'{key}'")
        try await terminal.line("the values") { $0.contains("abc") && (showsKeys || !$0.contains("D/")) }
        // It ends with its bus, also in the background, where no key of the terminal reaches it.
        try await desktop.bus.stop()
        #expect(try await desktop.ended() == .status(1))
      }
      let text = try await terminal.result().text
      #expect(!text.isEmpty)
      for scalar in Self.forbidden {
        #expect(!text.unicodeScalars.contains(scalar), "U+\(String(scalar.value, radix: 16)) in \(text)")
      }
      #expect(!text.contains("\u{1b}]"), "\(text)")
    }
  }

  /// Another program's command answers, and refuses, with text that is meant for the terminal.
  @Test(arguments: [true, false]) func aTerminalObeysNoOwner(refuses: Bool) async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.peer()
      let object = Exported(owner, document(("z.Z", method("Go", out: ["s"]))))
      object.rule("Go") { _, _, _ in refuses ? .error("z.Z.Error", Self.hostile) : .values([.string(Self.hostile)]) }
      try await owner.register(
        "z", [], [("object", .objectPath(ObjectPath(known: "/object"))), ("focus", .boolean(true))])
      let terminal = try await desktop.terminal(
        80, 24, "focusctl run Go; focusctl run Go --json", extra: ["TERM": "dumb"])
      let text = try await terminal.result().text
      #expect(text.contains("\\u001b]0;x"))
      for scalar in Self.forbidden { #expect(!text.unicodeScalars.contains(scalar), "\(text)") }
      let piped = try await desktop.shell("focusctl run Go 2>&1")
      // A message is one line.
      let oneLine = Self.hostile.replacing("\u{2028}\u{2029}", with: " ")
      #expect(piped.text == (refuses ? "focusctl: " + oneLine : Self.hostile))
    }
  }

  @Test func aPipeGetsWhatIsThere() async throws {
    try await TestDesktop.with { desktop in
      let result = try await desktop.shell(
        Self.setting + "focusctl get T; focusctl get T --format '{value}'", extra: ["HOSTILE": Self.hostile])
      #expect(result.output == [Self.hostile, Self.hostile], "\(result)")
    }
  }

  /// A person at a terminal is told which key they may have meant; a script is not.
  @Test(arguments: [
    "get Nubmer", "get demo.Form.number", "wait Nubmer --timeout 600", "set Nubmer 1", "describe Nubmer",
    "get Number Form.Nubmer",
  ])
  func aMistypedKeyIsGuessed(arguments: String) async throws {
    try await TestDesktop.with { desktop in
      _ = try await desktop.shell("focusctl register a demo.Form.Humber=1 demo.Form.Number=1 --focus")
      let terminal = try await desktop.terminal(200, 24, "focusctl \(arguments)")
      if arguments.hasPrefix("wait") {
        try await terminal.line("a guess") { $0.contains("did you mean") }
        terminal.send("\u{3}")
      }
      #expect(
        try await terminal.result().text.contains(
          "did you mean '\(arguments.contains("demo") ? "demo.Form." : arguments.contains("Form") ? "Form." : "")Number'?"
        ))
      guard arguments.hasPrefix("get") else { return }
      #expect(try await desktop.shell("focusctl \(arguments)").errors == [])
    }
  }

  @Test(arguments: [
    ("a\u{1b}b\\", "a\\u001bb\\"), ("\n\t\r", "\\n\\t\\r"), ("\u{202e}\u{2069}", "\\u202e\\u2069"), ("…日本", "…日本"),
    ("\u{61c}\u{85}", "\\u061c\\u0085"), ("a\u{200b}\u{2028}\u{2029}\u{feff}", "a\\u200b\\u2028\\u2029\\ufeff"),
    ("a\u{ad}\u{34f}\u{115f}\u{180e}", "a\\u00ad\\u034f\\u115f\\u180e"),
    ("\u{2061}\u{3164}\u{ffa0}\u{fff9}b", "\\u2061\\u3164\\uffa0\\ufff9b"),
    ("نمی\u{200c}خواهم", "نمی\u{200c}خواهم"), ("葛\u{e0100}", "葛\u{e0100}"),
    ("\u{e0041}\u{e007f}", "\\udb40\\udc41\\udb40\\udc7f"), ("👩‍👩‍👧 ✌️", "👩‍👩‍👧 ✌️"),
  ])
  func controlCharactersBecomeVisible(text: String, visible: String) { #expect(Output.visible(text) == visible) }

  @Test(arguments: ["", "a\\nb", "two\nlines\t\\", "\u{1b}[0m", "日本\\", "\\u", "\\u12", "\u{e0041}"])
  func aLineCanBeReadBack(text: String) { #expect(Output.unescaped(Output.escaped(text)[...]) == text) }

  @Test(arguments: [
    ("\\x\\", "\\x\\"), ("a\\u12", "a\\u12"), ("\\u001b", "\u{1b}"), ("\\ud800", "\\ud800"),
    ("\\ud83d\\ude00", "😀"), ("\\ud83d\\u0041", "\\ud83dA"),
  ])
  func aBackslashThatEscapesNothingStays(line: String, text: String) { #expect(Output.unescaped(line[...]) == text) }

  @Test(arguments: [
    ("K2", "K10", true), ("K10", "K2", false), ("K", "K1", true), ("a1b2", "a1b10", true), ("a01", "a1", true),
    ("a1", "a01", false), ("a", "a", false), ("a9", "b1", true),
    ("x99999999999999999999", "x100000000000000000000", true),
  ])
  func namesAreInTheOrderOfTheirNumbers(first: String, second: String, isBefore: Bool) {
    #expect(NaturalOrder.precedes(first, second) == isBefore)
  }
}
