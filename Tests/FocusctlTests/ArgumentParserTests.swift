import DBus
import Testing

@testable import focusctl

// getopt keeps its place in global variables: what parses arguments is tested here, one test after another.
@Suite(.serialized) struct ArgumentParserTests {
  @Test(arguments: [
    (["get", "K"], ["get", "K"], []),
    (["--json", "get", "K"], ["get", "K"], ["json"]),
    (["get", "K", "--json"], ["get", "K"], ["json"]),
    (["get", "--js", "K"], ["get", "K"], ["json"]),
    (["set", "K", "-8"], ["set", "K", "-8"], []),
    (["-8", "--json", "-.5", "-inf"], ["-8", "-.5", "-inf"], ["json"]),
    (["-1", "-2", "--field", "-3", "-4"], ["-1", "-2", "-4"], ["field"]),
    (["update", "K", "-5", "--previous"], ["update", "K", "-5"], ["previous"]),
    (["set", "--", "--json", "-x"], ["set", "--json", "-x"], []),
    (["set", "K", "-"], ["set", "K", "-"], []),
    (["set", "K", ""], ["set", "K", ""], []),
    (["-h", "get"], ["get"], ["help"]),
    (["--field", "-8", "get"], ["get"], ["field"]),
    (["--field=a", "get", "--read-only", "b", "--read-only=c"], ["get"], ["field", "read-only", "read-only"]),
    ([], [], []),
  ])
  func tellsOperandsFromOptions(arguments: [String], operands: [String], options: [String]) throws {
    let parsed = try ArgumentParser.parse(arguments)
    #expect(parsed.operands == operands)
    #expect(parsed.options.given.map(\.name) == options)
  }

  @Test func keepsWhatOptionsSay() throws {
    let options = try ArgumentParser.parse([
      "--field", "a", "--read-only=b", "--read-only", "c", "--address", "unix:path=/x", "--label", "", "--sensitive",
    ]).options
    #expect(options.field == "a")
    #expect(options.readOnly == ["b", "c"])
    #expect(options.bus == .address("unix:path=/x"))
    #expect(options.label == "")
    #expect(options.sensitive && !options.json)
  }

  @Test(arguments: [
    (["--jsn"], "unknown option '--jsn'; did you mean '--json'?"),
    (["get", "--feild=x"], "unknown option '--feild'; did you mean '--field'?"),
    (["--zebra"], "unknown option '--zebra'; put '--' before an operand that begins with '-'"),
    (["set", "K", "-x"], "unknown option '-x'; put '--' before an operand that begins with '-'"),
    (["--field"], "option '--field' requires an argument: ID"),
    (["--json=1"], "option '--json' takes no argument"),
    (["--s"], "option '--s' is ambiguous: '--scope', '--sensitive', '--service', '--start', '--system'"),
  ])
  func refusesOptions(arguments: [String], message: String) {
    #expect(throws: CommandError.usage(message)) { try ArgumentParser.parse(arguments) }
  }

  @Test(arguments: [
    (["gett", "K"], "unknown command 'gett'; did you mean 'get'?"),
    (["wathc"], "unknown command 'wathc'; did you mean 'watch'?"),
    (["frobnicate"], "unknown command 'frobnicate'; 'focusctl --help' lists them"),
    (
      ["get"],
      "'get' needs a KEY, as an operand or within '--format'"
    ),
    (["blur", "a", "b"], "'blur' takes 1 operand, but 2 were given; usage: focusctl blur [OPTION…] ID"),
    (["list", "--label", "x"], "'list' does not take the option '--label'; usage: focusctl list [OPTION…]"),
    (["--field", "x"], "'focusctl' alone does not take the option '--field'; usage: focusctl [OPTION…]"),
    (
      ["publish", "a"],
      "'publish' takes 2 operands or more, but 1 was given; usage: focusctl publish [OPTION…] ID KEY[:SIGNATURE]=VALUE…"
    ),
    (
      ["get", "a b"],
      "'a b' is not a key: expected elements of [A-Za-z0-9_], joined by dots, none beginning with a digit, at most 255 bytes, such as demo.Form.Number, or only the last element"
    ),
    (["focus", "a b"], "'a b' is not a field id: characters of [A-Za-z0-9_], at most 64 bytes"),
    (["register", "a", "x.Y.Z=1", "--scope", "no"], "'no' is not a scope: expected 'field', 'scene' or 'session'"),
    (["register", "a", "--active", "x.Y.Z=1"], "'--active' needs '--scope session'"),
    (["register", "a", "--active", "x.Y.Z=1", "--scope", "scene"], "'--active' needs '--scope session'"),
    (
      ["register", "a", "--scope", "session", "--active", "x.Y.Z"],
      "'x.Y.Z' is not KEY[:SIGNATURE]=VALUE, such as demo.Form.Number=1 or demo.Form.Size:d=1"
    ),
    (
      ["register", "a", "x.Y.Z=true", "--scope", "session", "--active", "x.Y.Z=on"],
      "x.Y.Z: 'on' is not a boolean (type 'b'): 'true' or 'false', such as true"
    ),
    (
      ["publish", "a", "x.Y.Z=1", "--active", "x.Y.Z=1"],
      "'publish' does not take the option '--active'; usage: focusctl publish [OPTION…] ID KEY[:SIGNATURE]=VALUE…"
    ),
    (["register", "a", "x.Y.Z=1", "x.Y.Z=2"], "'x.Y.Z' is given twice"),
    (
      ["update", "x.Y.Z", "5"],
      "'5' is not an expression: expected +N, -N, *N, /N, toggle, append TEXT or next A B C…, such as +5 or *0.5"
    ),
    (["watch", "x.Y.Z/~2"], "'/~2' is not a JSON Pointer: write '~0' for '~', and '~1' for '/' within a step"),
  ])
  func refusesCallsBeforeConnecting(arguments: [String], message: String) {
    #expect(throws: CommandError.usage(message)) { try Program.run(arguments) }
  }

  /// A word of any length is quoted short, and costs no time.
  @Test(arguments: [
    ["X"], ["--X"], ["-X"], ["get", "X/"], ["get", "a.B.C", "--X=1"], ["update", "a.B.C", "X"],
    ["list", "--format", "{X}"],
  ])
  func whatIsLongIsQuotedShort(words: [String]) {
    let long = String(repeating: "y", count: 1_000_000)
    let words = words.map { $0.replacing("X", with: long) }
    #expect { try Program.run(words) } throws: { error in
      (error as? CommandError).map { $0.status == .usage && ($0.message ?? "").utf8.count < 600 } ?? false
    }
  }

  @Test(
    arguments: [
      ("demo.F.n", ["demo.F.A", "demo.F.N", "demo.F.m"], "demo.F.N"), ("nubmer", ["Number"], "Number"),
      ("xyz", ["Number"], nil), (String(repeating: "N", count: 1_000_000), ["Number"], nil), ("", ["N"], nil),
      ("Numberrrr", ["Number"], "Number"), ("Numberrrrr", ["Number"], nil), ("kitten", ["sitting"], "sitting"),
      // One mistake of two letters is all that may be: they are swapped, not two others.
      ("ab", ["ba"], "ba"), ("ab", ["cd"], nil),
    ] as [(String, [String], String?)])
  func suggestsTheNearest(word: String, names: [String], near: String?) {
    #expect(Suggestion.nearest(to: word, among: names) == near)
  }

  @Test(arguments: [
    (["watch", "K", "--json", "--waybar"], "'--json' and '--waybar' cannot be combined"),
    (["watch", "K", "--waybar", "--format", "x"], "'--waybar' and '--format' cannot be combined"),
    (["get", "K", "--json", "--format", "x"], "'--json' and '--format' cannot be combined"),
    (["get", "K", "--timeout", "0"], "'0' is not a timeout: expected seconds above 0, such as 2, 0.5 or 500ms"),
    (
      ["get", "K", "--timeout", "0x10"],
      "'0x10' is not a timeout: expected seconds above 0, such as 2, 0.5 or 500ms"
    ),
    (["get", "K", "--timeout", "+1"], "'+1' is not a timeout: expected seconds above 0, such as 2, 0.5 or 500ms"),
    (["update", "x.Y.Z", "+1", "--min", "0x1"], "'0x1' is not a number for '--min', such as 0 or 1.5"),
    (["update", "x.Y.Z", "+1", "--max", "+1"], "'+1' is not a number for '--max', such as 0 or 1.5"),
    (["get", "K", "--user", "--system"], "'--user' and '--system' cannot be combined: each names a bus"),
    (["get", "K", "--address", "a", "--system"], "'--system' and '--address' cannot be combined: each names a bus"),
    (["watch", "K", "--fo"], "option '--fo' is ambiguous: '--focus', '--format'"),
    (["get", "K", "-H", "-evil"], "'-evil' is not a host: expected [USER@]HOST[:PORT], as for ssh"),
    (["get", "K", "-H", "a", "--address", "b"], "'--host' and '--address' cannot be combined"),
  ])
  func refusesOptionsThatDoNotGoTogether(arguments: [String], message: String) {
    #expect(throws: CommandError.usage(message)) { try Program.run(arguments) }
  }

  @Test(arguments: CommandTable.commands.map { Help.text(of: $0) } + [Help.overview])
  func helpFitsATerminal(text: String) {
    for line in text.split(separator: "\n") { #expect(line.count <= 84, "\(line)") }
    for line in Help.fitted(text, 40).split(separator: "\n") where line.contains(/\w \w/) {
      #expect(line.count <= 44, "\(line)")
    }
    #expect(text.hasSuffix("5 conflict.\n"))
  }

  @Test func helpNamesEveryCommandAndOption() {
    for name in CommandTable.commands.compactMap(\.name) {
      #expect(Help.overview.contains("  \(name) ") || Help.overview.contains("  \(name)\n"))
    }
    for option in Option.all { #expect(Help.overview.contains("--\(option.name)")) }
  }
}
