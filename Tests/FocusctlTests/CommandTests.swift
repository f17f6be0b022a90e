import BusSupport
import Foundation
import TestSupport
import Testing

/// What each command does with the real daemon, as a table: the script, and what it prints.
@Suite struct CommandTests {
  struct Call: Sendable, CustomTestStringConvertible {
    let script: String
    let output: [String]
    var errors: [String] = []
    var testDescription: String { script }

    init(_ script: String, _ output: [String], errors: [String] = []) {
      (self.script, self.output, self.errors) = (script, output, errors)
    }
  }

  /// What is there at first: `form` has focus, `page` had it before, `tone` and `tune` are session fields.
  private static let setting = """
    focusctl register form demo.Form.Number=1 demo.Form.Text=abc demo.Form.Size:d=0.9 demo.Form.Loop=None \\
      demo.Form.Long:x=12345678 demo.Form.On=false 'demo.Form.Tags=["a","b"]' >/dev/null
    focusctl register page --focus demo.Form.Text=page >/dev/null
    focusctl register tone --scope session demo.Tone.Level=1 >/dev/null
    focusctl register tune --scope session demo.Tone.Level=2 >/dev/null
    focusctl focus form

    """

  private static let calls = [
    Call("focusctl focused; focusctl blur form; focusctl focused; echo $?", ["form", "1"]),
    Call(
      "focusctl; focusctl list --json | grep -o '\"writable\":.\"demo.Form.Long\"'",
      [
        "form (focused)", "  demo.Form.Long: 12345678 (x)", "  demo.Form.Loop: None (s)", "  demo.Form.Number: 1 (i)",
        "  demo.Form.On: false (b)", "  demo.Form.Size: 0.9 (d)", "  demo.Form.Tags: [\"a\",\"b\"] (as)",
        "  demo.Form.Text: abc (s)", "page", "session fields:", "  tune", "  tone", "\"writable\":[\"demo.Form.Long\"",
      ]),
    // get
    Call("focusctl get Number demo.Form.Text Form.Tags/1", ["1", "abc", "b"]),
    Call(
      "focusctl --all | grep -A9 session",
      ["session fields:", "  tune", "    demo.Tone.Level: 2 (i)", "  tone", "    demo.Tone.Level: 1 (i)"]),
    Call("focusctl get Number Nothing; echo $?; focusctl get Nothing Number; echo $?", ["1", "", "0", "", "1", "0"]),
    Call("focusctl get Nothing Never; echo $?; focusctl get Nothing Never --json; echo $?", ["1", "1"]),
    Call("focusctl get Number --json", [#"{"type":"i","data":1}"#]),
    Call(
      "focusctl get Number demo.Form.Text Nothing --json",
      [
        #"{"key":"Number","value":{"type":"i","data":1}}"#,
        #"{"key":"demo.Form.Text","value":{"type":"s","data":"abc"}}"#,
        #"{"key":"Nothing","value":null}"#,
      ]),
    Call("focusctl get Number Nothing --format '{key} {value}'", ["demo.Form.Number 1", "Nothing nil"]),
    Call("focusctl get --fo '{value}' Number; focusctl --fo '{value}' get Number", ["1", "1"]),
    Call(
      "focusctl get Number Text --format '{field} {key} {value} {type}'",
      [
        "form demo.Form.Number 1 i", "form demo.Form.Text abc s",
      ]),
    Call("focusctl get --format '{uc(Text)}-{Number + 4}-{trunc(Text, 2)}-{Nope:-x}-{field}'", ["ABC-5-ab…-x-form"]),
    Call("focusctl get --format '{Nope} {None/0}'; echo $?", ["1"]),
    // A text that stands for nil is an answer.
    Call("focusctl get --format '{Nope:-none}{default(None/0, \"!\")}'; echo $?", ["none!", "0"]),
    Call("focusctl get Nope --format '{value:-none}'", ["none"]),
    Call("focusctl get Nope --format '{value:-} {Nope}'; echo $?", ["1"]),
    Call("focusctl get --previous Text --format '{value} of {field} has {lc(Text)}'", ["page of page has page"]),
    Call("focusctl get --field tone Level", ["1"]),
    // What cannot be written as a text can be typed, but not what is told of it.
    Call(
      """
      cd; mkfifo text
      focusctl hold t org.focusd.Text.Content=abc org.focusd.Text.Length=3 --read-only org.focusd.Text.Content \
        --read-only org.focusd.Text.Length <text >/dev/null & exec 3>text
      until focusctl get --field t Text.Length >/dev/null 2>&1; do sleep 0.01; done
      focusctl set --field t Text.Content x; focusctl set --field t Text.Length 4
      exec 3>&-; wait
      """, [],
      errors: [
        "focusctl: org.focusd.Text.Content of the field 't' is read-only: its object does not let it be set, or only its owner "
          + "may; the text is read-only now, or its program offers no way to write it: try xdotool on X11, else wtype or ydotool",
        "focusctl: org.focusd.Text.Length of the field 't' is read-only: its object does not let it be set, or only its owner may",
      ]),
    // set and update
    Call(
      "printf 'two\\nlines\\n' | focusctl set Text -; focusctl get Text --json",
      [
        #"{"type":"s","data":"two\nlines"}"#
      ]),
    Call("focusctl get Tags | focusctl set --previous Text -; focusctl get --field page Text", [#"["a","b"]"#]),
    Call(
      "printf '\\377' | focusctl set Text -; echo $?", ["2"],
      errors: [
        "focusctl: standard input is not valid UTF-8, which D-Bus requires"
      ]),
    Call("head -c 300000 /dev/zero | tr '\\0' x | focusctl set Text -; focusctl get Text | wc -c", ["300001"]),
    Call(
      "focusctl update Size +0.5 --max 1; focusctl get Size; focusctl update Size -5 --min 0.25; focusctl get Size",
      [
        "1.0", "0.25",
      ]),
    Call("focusctl update Number '*3000000000' --max 7.5; focusctl get Number", ["7"]),
    Call("focusctl update Number -9 --min -3 --max 3; focusctl get Number", ["-3"]),
    Call(
      "for n in 1 2 3 4; do focusctl update Loop next None Track Playlist; focusctl get Loop; done",
      [
        "Track", "Playlist", "None", "Track",
      ]),
    Call(
      "focusctl update Loop next x y; focusctl get Loop; focusctl update Number next 1 5; focusctl get Number",
      [
        "x", "5",
      ]),
    Call("focusctl update On toggle; focusctl get On", ["true"]),
    Call(
      "focusctl update Number next 1 no; echo $?", ["2"],
      errors: [
        "focusctl: demo.Form.Number: 'no' is not a 32-bit integer (type 'i'): a whole number from -2147483648 to 2147483647, such as 8"
      ]),
    // describe
    Call(
      "focusctl describe Number | sed '/^revision/d'; focusctl describe --json Level | cut -d, -f 1-4",
      [
        "key:       demo.Form.Number", "type:      i", "access:    writable", "field:     form",
        "why:       it is the focused field", "owner:     none",
        #"{"key":"demo.Tone.Level","type":"i","access":"writable","field":"tune""#,
      ]),
    Call(
      "focusctl describe Nubmer; echo $?", ["1"],
      errors: [
        "focusctl: 'Nubmer' is nil: neither the focused field, its ancestors, its scene nor a session field publishes it; did you mean "
          + "'Number'?"
      ]),
    Call(
      "focusctl describe --field tone Level | sed -n '4,5p'",
      [
        "field:     tone", "why:       the field that was asked for",
      ]),
    // activate
    Call("focusctl activate tone; focusctl get Level; focusctl activate --next; focusctl get Level", ["1", "2"]),
    Call("focusctl activate --next; focusctl get Level; focusctl activate --previous; focusctl get Level", ["1", "2"]),
    Call(
      "focusctl activate form; echo $?", ["4"],
      errors: [
        "focusctl: the field 'form' has the scope 'field': only one of 'session' can be activated"
      ]),
    Call(
      "focusctl activate; focusctl activate tone --next; echo $?", ["2"],
      errors: [
        "focusctl: 'activate' takes either an ID, '--next' or '--previous'",
        "focusctl: 'activate' takes either an ID, '--next' or '--previous'",
      ]),
    Call(
      "focusctl unregister tone tune; focusctl activate --next; echo $?", ["1"],
      errors: [
        "focusctl: there are no session fields"
      ]),
    // what means nothing is refused
    Call(
      "focusctl watch --timeout 1; focusctl hold a.B.C=1 --timeout 1; focusctl bind a --timeout 1; echo $?", ["2"],
      errors: [
        "focusctl: 'watch' does not take the option '--timeout', as it waits for no reply; usage: focusctl watch "
          + "[OPTION…] [KEY[/POINTER]…]",
        "focusctl: 'hold' does not take the option '--timeout', as it waits for no reply; usage: focusctl hold [OPTION…] "
          + "[ID] KEY[:SIGNATURE]=VALUE…",
        "focusctl: 'bind' does not take the option '--timeout', as it waits for no reply; usage: focusctl bind "
          + "[OPTION…] ID --service NAME --object PATH",
      ]),
    Call(
      "focusctl register z --read-only x.Y.Z x.Y.Z=1; focusctl list --format '{id}'", ["form", "page", "tone", "tune"],
      errors: [
        "focusctl: 'register' does not take the option '--read-only': the field has no owner afterwards, so anyone may "
          + "write its keys; use 'hold'"
      ]),
    // help and version
    Call(
      "[ \"$(focusctl help)\" = \"$(focusctl --help)\" ] && focusctl help get | head -n 1; focusctl help gte; echo $?",
      [
        "Print values, a line each.", "2",
      ], errors: ["focusctl: unknown command 'gte'; did you mean 'get'?"]),
    Call("[ \"$(focusctl version)\" = \"$(focusctl --version)\" ] && focusctl version | cut -d ' ' -f 1", ["focusctl"]),
    // names in the order of their numbers
    Call(
      "focusctl register many --focus n.N.K10=1 n.N.K2=1 n.N.K1=1 >/dev/null; focusctl | head -n 4",
      [
        "form", "many (focused)", "  n.N.K1: 1 (i)", "  n.N.K2: 1 (i)",
      ]),
    Call(
      "for i in f10 f9 f1; do focusctl register $i; done >/dev/null; focusctl list --format '{id}' | head -n 3",
      [
        "f1", "f9", "f10",
      ]),
    // functions
    Call(
      "focusctl get --format '{duration(Long)} {default(Nope, \"none\")} {join(Tags, \", \")} {emoji(Size)} {Size * 100}'",
      [
        "0:12 none a, b 🔊 90.0"
      ]),
  ]

  @Test(arguments: calls) func doesWhatItsTableSays(call: Call) async throws {
    try await TestDesktop.with { desktop in
      let result = try await desktop.shell(Self.setting + call.script)
      #expect(result.output == call.output && result.errors == call.errors, "\(result)")
    }
  }

  // MARK: watch

  /// Starts a watch, and waits for its first line.
  private func watch(_ arguments: String, on desktop: TestDesktop) async throws -> ManagedProcess {
    let watch = try await desktop.background("exec focusctl watch " + arguments)
    _ = try await watch.lines(1)
    return watch
  }

  struct Followed: Sendable, CustomTestStringConvertible {
    let arguments: String
    /// What happens, and each line after it.
    let steps: [(script: String, lines: [String])]
    var testDescription: String { arguments }
  }

  private static let followed = [
    Followed(
      arguments: "--focus",
      steps: [
        ("", ["form"]), ("focusctl focus page", ["page"]), ("focusctl set Text x; focusctl blur page", ["nil"]),
      ]),
    Followed(
      arguments: "--focus --json",
      steps: [
        ("", [#"{"type":"s","data":"form"}"#]), ("focusctl blur form", ["null"]),
      ]),
    Followed(
      arguments: "Text --format '{field:-none} {value:-}'",
      steps: [
        ("", ["form abc"]), ("focusctl set Text x", ["form x"]),
        ("focusctl set --field page Text x; focusctl focus page", ["page x"]),
        ("focusctl blur page", ["none "]),
      ]),
    Followed(
      arguments: "--format '{uc(Text)} {Number:-}'",
      steps: [
        ("", ["ABC 1"]), ("focusctl set Number 2", ["ABC 2"]), ("focusctl set On true; focusctl focus page", ["PAGE "]),
      ]),
    // Of keys of several interfaces, which are told one by one.
    Followed(
      arguments: "--format '{Text:-} {other.Form.Word:-}'",
      steps: [
        ("focusctl register w1 other.Form.Word=one demo.Form.Text=a --focus", ["abc ", "a one"]),
        ("focusctl register w2 other.Form.Word=two demo.Form.Text=b --focus", ["b two"]),
        ("focusctl focus w1; focusctl focus page", ["a one", "page "]),
      ]),
    Followed(
      arguments: "Number --format '{value} {Text}'",
      steps: [
        ("", ["1 abc"]), ("focusctl set Text x; focusctl set Number 2", ["2 x"]),
      ]),
  ]

  @Test(arguments: followed) func aLineFollowsEachChange(followed: Followed) async throws {
    try await TestDesktop.with { desktop in
      _ = try await desktop.shell(Self.setting)
      let watch = try await watch(followed.arguments, on: desktop)
      var lines: [String] = []
      for step in followed.steps {
        let result = try await desktop.shell(step.script)
        #expect(result.status == 0, "\(result)")
        lines += step.lines
        #expect(try await watch.lines(lines.count) == lines, "after '\(step.script)'")
      }
      try await watch.stop()
    }
  }

  @Test func theFocusIsWatchedAcrossARestart() async throws {
    try await TestDesktop.with { desktop in
      _ = try await desktop.shell(Self.setting)
      let watch = try await watch("--focus", on: desktop)
      try await desktop.crash()
      #expect(try await watch.lines(3) == ["form", "nil", "form"])
      try await watch.stop()
    }
  }
}
