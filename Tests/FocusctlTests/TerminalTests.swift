import BusSupport
import DBusTypes
import FocusContract
import Glibc
import TestSupport
import Testing

@testable import focusctl

/// What people see on terminals of different sizes.
@Suite struct TerminalTests {
  private static let narrow = Terminal(columns: 40, rows: 10)

  private func fields(_ list: [(id: String, parent: String, focused: Bool)]) throws -> [FieldInfo] {
    let properties = DBusType.dictionary(key: .string, value: .variant)
    let interfaces = DBusType.dictionary(key: .string, value: properties)
    let entries = try list.map { field in
      let own: [(name: String, value: DBusValue)] = [
        ("Label", .string("Label of \(field.id)")), ("Scope", .string("field")), ("Focused", .boolean(field.focused)),
        ("Parent", .objectPath(field.parent.isEmpty ? .root : try FieldID.path(field.parent))),
      ]
      let values: [(name: String, value: DBusValue)] = [("Title", .string(String(repeating: "長い x", count: 20)))]
      let commands = DBusDictionary(
        known: .string, .boolean,
        [
          .init(key: .string("org.example.Document.Undo"), value: .boolean(false)),
          .init(key: .string("org.example.Document.Save"), value: .boolean(true)),
        ])
      return DBusDictionary.Entry(
        key: .objectPath(try FieldID.path(field.id)),
        value: .dictionary(
          DBusDictionary(
            known: .string, properties,
            [
              .init(key: .string("org.focusd.Focus1.Field"), value: .properties(own)),
              .init(
                key: .string("org.focusd.Focus1.Bindings"), value: .properties([("Commands", .dictionary(commands))])),
              .init(key: .string("org.example.application.Document"), value: .properties(values)),
            ])))
    }
    return FieldInfo.fields(of: .dictionary(DBusDictionary(known: .objectPath, interfaces, entries)))
  }

  /// The daemon has none there, but what has its name may say anything.
  @Test(arguments: ["/", "/org/focusd/Focus1", "/org/focusd/Focus1/fields/a/b"])
  func anObjectElsewhereIsNoField(path: String) throws {
    let properties = DBusType.dictionary(key: .string, value: .variant)
    let interfaces = DBusDictionary(
      known: .string, properties,
      [.init(key: .string("org.focusd.Focus1.Field"), value: .properties([("Label", .string("a long label"))]))])
    let entry = DBusDictionary.Entry(key: .objectPath(try ObjectPath(path)), value: .dictionary(interfaces))
    let objects = DBusDictionary(known: .objectPath, .dictionary(key: .string, value: properties), [entry])
    #expect(FieldInfo.fields(of: .dictionary(objects)).isEmpty)
  }

  @Test func aTreeFitsFortyColumns() throws {
    let fields = try fields([
      ("window", "", false), ("editor", "window", true), ("a_very_long_id_of_a_field_0001", "", false),
    ])
    let lines = FieldTree.text(of: fields, on: Self.narrow).split(separator: "\n")
    for line in lines { #expect(TextWidth.columns(of: line) <= 40, "\(line)") }
    #expect(lines.contains { $0.contains("editor") && $0.hasSuffix("(focused)") })
    #expect(lines.contains { $0.hasSuffix("Document.Undo() (disabled)") })
    #expect(lines.contains { $0.hasSuffix("Document.Title: 長い x長…(s)") || $0.contains("Document.Title: ") })
  }

  @Test func onlyWhatIsDisabledIsFaintAndOnlyWithColours() throws {
    let fields = try fields([("editor", "", true)])
    let coloured = FieldTree.text(of: fields, on: Terminal(columns: 80, rows: 24, isColoured: true))
    #expect(coloured.contains("\u{1b}[2morg.example.Document.Undo() (disabled)\u{1b}[0m\n"))
    #expect(coloured.contains("  org.example.Document.Save()\n"))
    #expect(!FieldTree.text(of: fields, on: Self.narrow).contains("\u{1b}"))
  }

  @Test(arguments: [Terminal.none, narrow]) func tenThousandFieldsAreCountedAndTheFocusedIsShown(
    terminal: Terminal
  ) throws {
    let all = try fields((0..<10_000).map { ("f\($0)", $0 % 2 == 0 ? "" : "f\($0 - 1)", $0 == 9_001) })
    let lines = FieldTree.text(of: all, on: terminal).split(separator: "\n")
    #expect(lines.count < 60)
    #expect(lines.contains { $0.hasPrefix("  f9001 ") && $0.hasSuffix("(focused)") })
    let counted = lines.reduce(0) { sum, line in
      sum + (line.contains(" more field") ? Int(line.split(separator: " ")[1]) ?? 0 : 0)
    }
    let shown = lines.count { $0.drop { $0 == " " }.hasPrefix("f") }
    #expect(counted + shown == 10_000)
    let list = Listing.table(of: all, on: terminal).split(separator: "\n")
    #expect(list.count == (terminal.isTerminal ? 10_001 : 10_000))
    if terminal.isTerminal { #expect(list.allSatisfy { TextWidth.columns(of: $0) <= 40 }) }
  }

  @Test(arguments: [Terminal.none, narrow]) func eachOfManySessionFieldsHasALine(terminal: Terminal) throws {
    var all = try fields((0..<10_000).map { ("f\($0)", "", $0 == 9_001) })
    for index in all.indices { all[index].scope = "session" }
    let lines = FieldTree.text(of: all, session: all, on: terminal).split(separator: "\n")
    #expect(lines.count == 4 + 1 + 10_000)
    if terminal.isTerminal { for line in lines { #expect(TextWidth.columns(of: line) <= 40, "\(line)") } }
  }

  @Test func everythingIsShownIfAskedFor() throws {
    let all = try fields((0..<100).map { ("f\($0)", "", $0 == 7) })
    func lines(_ showsAll: Bool) -> [String] {
      FieldTree.text(of: all, showsAll: showsAll, on: .none).split(separator: "\n").map(String.init)
    }
    #expect(lines(false).contains { $0.hasSuffix("more fields") })
    #expect(lines(true).count { $0.hasPrefix("f") } == 100 && !lines(true).contains { $0.hasSuffix("more fields") })
  }

  @Test(
    arguments: [
      ([:], [["less"], ["more"]]), (["PAGER": "most -s"], [["/bin/sh", "-c", "most -s"]]),
      (["PAGER": "most", "SYSTEMD_PAGER": "less -X"], [["/bin/sh", "-c", "less -X"]]), (["PAGER": "cat"], []),
      (["SYSTEMD_PAGER": "", "PAGER": "less"], []),
    ] as [([String: String], [[String]])])
  func theUserChoosesThePager(variables: [String: String], commands: [[String]]) {
    #expect(Pager.commands { variables[$0] } == commands)
  }

  /// Only what a terminal cannot hold goes to the pager, and only if the user does not say otherwise.
  @Test func whatIsLongerThanTheTerminalGoesToThePager() async throws {
    try await TestDesktop.with { desktop in
      _ = try await desktop.shell("for n in {1..30}; do focusctl register f$n >/dev/null; done")
      func lines(_ rows: Int, _ call: String, _ pager: String = "sed 's/^/paged /'") async throws -> [String] {
        let extra = ["TERM": "xterm", "NO_COLOR": "1", "PAGER": pager]
        let terminal = try await desktop.terminal(80, rows, call, extra: extra)
        return try await terminal.result().output.map { $0.filter { $0 != "\r" && $0 != "\r\n" } }
      }
      #expect(try await lines(10, "focusctl list").count { $0.hasPrefix("paged f") } == 30)
      #expect(try await lines(10, "focusctl --all; echo status $?").suffix(2).last == "status 1")
      #expect(try await lines(50, "focusctl list").count { $0.hasPrefix("f") } == 30)
      #expect(try await lines(10, "focusctl list --no-pager").count { $0.hasPrefix("f") } == 30)
      #expect(try await lines(10, "focusctl list | cat").count { $0.hasPrefix("f") } == 30)
      // A pager that is left early, or that is not there, is no error.
      #expect(try await lines(10, "focusctl list; echo status $?", "head -n 1").contains("status 0"))
      #expect(try await lines(10, "focusctl list", "no-such-pager 2>/dev/null").count { $0.hasPrefix("f") } == 30)
    }
  }

  @Test func theColumnOfActiveFieldsIsShownIfThereAreSessionFields() throws {
    var all = try fields([("a", "", false), ("b", "a", true)])
    let wide = Terminal(columns: 80, rows: 24)
    #expect(!Listing.table(of: all, on: wide).contains("ACTIVE"))
    (all[0].scope, all[0].isActive) = ("session", true)
    let lines = Listing.table(of: all, on: wide).split(separator: "\n")
    #expect(
      lines[0].hasSuffix("OWNER  ACTIVE") && lines[1].hasSuffix("-      *") && lines[2].hasSuffix("*      -      -"))
  }

  @Test(arguments: [
    ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本語", 6, "日本語"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("ab", 0, ""),
  ])
  func textIsCutToColumns(text: String, limit: Int, cut: String) {
    #expect(TextWidth.fitted(text, limit) == cut)
  }

  @Test func aLivePageScrollsWithinItsTerminal() throws {
    var page = LivePage([])
    page.take((10..<30).map { .init(key: "a.B.K\($0)", value: .int32($0)) })
    #expect(page.lines(on: Self.narrow).count == 9)
    #expect(page.lines(on: Self.narrow).last == "1-8 of 20; arrows scroll, q quits")
    for press in Keyboard.presses(of: "\u{1b}[Bj\u{1b}[6~x") { page.move(press, rows: 10) }
    #expect(page.lines(on: Self.narrow).first == "a.B.K20: 20 (i)")
    page.move(.end, rows: 10)
    #expect(page.lines(on: Self.narrow).last == "13-20 of 20; arrows scroll, q quits")
    page.take([.init(key: "a.B.K29", value: nil)])
    #expect(page.lines(on: Self.narrow).dropLast().last == "a.B.K28: 28 (i)")
  }

  @Test func aTerminalGetsColoursUnlessTheyAreUnwanted() async throws {
    try await TestDesktop.with { desktop in
      _ = try await desktop.shell("focusctl register text1 demo.Form.Number=1 --focus")
      func text(_ extra: [String: String]) async throws -> String {
        let terminal = try await desktop.terminal(40, 10, "exec focusctl", extra: extra)
        return try await terminal.result().text
      }
      #expect(try await text(["TERM": "xterm"]).contains("\u{1b}[1mtext1 (focused)"))
      #expect(!(try await text(["TERM": "xterm", "NO_COLOR": "1"]).contains("\u{1b}")))
      #expect(!(try await text(["TERM": "dumb"]).contains("\u{1b}")))
      #expect(!(try await desktop.shell("focusctl")).text.contains("\u{1b}"))
    }
  }

  /// One that does not know its size has that of the variables, unless none can be as large.
  @Test(arguments: ["9223372036854775806", "0", "-1", "x"])
  func noTerminalIsLargerThanOneCanBe(columns: String) async throws {
    try await TestDesktop.with { desktop in
      _ = try await desktop.shell("focusctl register text1 demo.Form.Number=1 --focus")
      let extra = ["TERM": "xterm", "COLUMNS": columns, "LINES": columns]
      let watch = try await desktop.terminal(0, 0, "focusctl watch Number", extra: extra)
      try await watch.line { $0.contains("Number: 1") }
      for number in 2...3 {
        _ = try await desktop.shell("focusctl set Number \(number)")
        try await watch.line { $0.contains("A\r\u{1b}[JNumber: \(number)") }
      }
      try await watch.stop()
    }
  }

  /// A line for each change, and no pager.
  @Test func aDumbTerminalOnlyAppendsLines() async throws {
    try await TestDesktop.with { desktop in
      _ = try await desktop.shell("focusctl register text1 demo.Form.Number=1 --focus")
      let page = try await desktop.terminal(40, 2, "focusctl list", extra: ["TERM": "dumb", "PAGER": "echo paged;"])
      #expect(!(try await page.result().text).contains("paged"))
      let watch = try await desktop.terminal(40, 10, "exec focusctl watch Number", extra: ["TERM": "dumb"])
      for number in 1...2 {
        _ = try await desktop.shell("focusctl set Number \(number)")
        try await watch.line { $0.trimmingPrefix("\r").hasPrefix("\(number)") }
      }
      #expect(!watch.progress.now.output.joined().contains("\u{1b}"))
      try await watch.stop()
    }
  }

  /// However it ends: without a signal by the key for that.
  @Test(arguments: [nil, SIGINT, SIGTERM, SIGHUP])
  func aLiveWatchIsDrawnOverAndLeavesTheTerminalAsItWas(signal: Int32?) async throws {
    try await TestDesktop.with { desktop in
      _ = try await desktop.shell("focusctl register text1 demo.Form.Number=1 --focus")
      let watch = try await desktop.terminal(
        40, 10, "sh -c 'echo process $$; exec focusctl watch Number'; echo $?; stty -a | grep -o ' icanon'")
      try await watch.line { $0.contains("Number: 1") }
      _ = try await desktop.shell("focusctl set Number 2")
      try await watch.line { $0.contains("A\r\u{1b}[JNumber: 2") }
      if let signal {
        let line = try #require(watch.progress.now.output.first { $0.hasPrefix("process ") })
        let process = try #require(pid_t(line.filter(\.isNumber)))
        #expect(kill(process, signal) == 0)
      } else {
        watch.send(line: "q")
      }
      let shown = try await watch.result().output.map { $0.trimmingPrefix(" ").filter { $0 != "\r" && $0 != "\r\n" } }
      #expect(shown.last == "icanon" && shown.contains(signal.map { "\(128 + $0)" } ?? "0"), "\(shown)")
    }
  }
}
