import BusSupport
import DBusTypes
import Glibc
import TestSupport
import Testing

@Suite("focusctl run and commands")
struct BoundFocusctlTests {
  private static let xml = document(
    (
      "demo.Edit",
      method("Nothing") + method("One", in: ["s"], out: ["s"])
        + method("All", in: ["y", "d", "b", "as", "a{sv}", "v"], out: ["y", "d", "b", "as", "a{sv}", "v"])
        + "<method name='Named'><arg name='text' type='s' direction='in'/><arg name='at' type='i' direction='in'/></method>"
        + method("Form", in: ["i"], out: ["i"]) + method("Form", in: ["i", "s"], out: ["i", "s"])
    ),
    ("demo.Other", method("One", out: ["i"])))

  private func edit(_ desktop: TestDesktop) async throws -> Exported {
    let owner = try await desktop.peer()
    let object = Exported(owner, Self.xml)
    object.rule("Nothing") { _, _, _ in .values([]) }
    try await owner.register("edit", object: object.path)
    return object
  }

  private struct Case: Sendable {
    var words: [String]
    var status: Int32 = 0
    var output: [String] = []
    var says = ""
  }

  private static let cases = [
    Case(words: ["run", "Nothing"]),
    Case(words: ["run", "demo.Edit.Nothing"]),
    Case(words: ["run", "--json", "Nothing"], output: ["[]"]),
    Case(words: ["run", "demo.Edit.One", "a text"], output: ["a text"]),
    Case(words: ["run", "demo.Edit.One", ""], output: [""]),
    Case(words: ["run", "demo.Edit.One", "--json", "8"], output: [#"[{"type":"s","data":"8"}]"#]),
    Case(words: ["run", "demo.Edit.One", "--", "--json"], output: ["--json"]),
    Case(
      words: ["run", "All", "255", "-0.5", "true", #"["a","b"]"#, #"{"k":{"type":"i","data":1}}"#, "8"],
      output: ["255", "-0.5", "true", #"["a","b"]"#, #"{"k":{"type":"i","data":1}}"#, #"{"type":"i","data":8}"#]),
    Case(words: ["run", "Form", "1"], output: ["1"]),
    Case(words: ["run", "Form", "1", "two"], output: ["1", "two"]),
    Case(words: ["run", "One"], status: 2, says: "'One' is ambiguous: demo.Edit.One, demo.Other.One"),
    Case(words: ["run", "demo.Edit.One"], status: 2, says: "takes 's', but 0 were given"),
    Case(words: ["run", "Named", "x"], status: 2, says: "takes text 's', at 'i', but 1 was given"),
    Case(words: ["run", "Named", "x", "y"], status: 2, says: "demo.Edit.Named, at 'i': 'y' is not a 32-bit integer"),
    Case(words: ["run", "Nothing", "x"], status: 2, says: "takes no arguments, but 1 was given"),
    Case(words: ["run", "Form"], status: 2, says: "takes 'i' or 'i', 's', but 0 were given"),
    Case(words: ["run", "All", "256", "0", "true", "[]", "{}", "8"], status: 2, says: "'256'"),
    Case(words: ["run", "Nothing/0"], status: 2, says: "has a pointer"),
    Case(words: ["run", "no key"], status: 2, says: "'no key' is not a key"),
    Case(words: ["run"], status: 2, says: "usage"),
    Case(
      words: ["set", "Nothing", "x"], status: 1,
      says: "'Nothing' is a command: 'focusctl run demo.Edit.Nothing' calls it"),
    Case(words: ["run", "demo.Edit.No"], status: 1, says: "no such command 'demo.Edit.No'"),
    Case(words: ["run", "No"], status: 1, says: "no such command 'No'"),
    Case(words: ["run", "--field", "gone", "Nothing"], status: 4, says: "gone"),
    Case(words: ["commands", "x"], status: 2, says: "usage"),
  ]

  @Test("run reads arguments by the command's types and prints each result on a line")
  func run() async throws {
    try await TestDesktop.with { desktop in
      let object = try await edit(desktop)
      try await object.owner.focus("edit")
      for each in Self.cases {
        let result = try await desktop.focusctl(each.words)
        #expect(result.status == each.status, "\(each.words): \(result)")
        #expect(result.output == each.output, "\(each.words): \(result)")
        #expect(result.errorText.contains(each.says), "\(each.words): \(result)")
        #expect(result.errors.count == (each.status == 0 ? 0 : 1), "\(each.words): \(result)")
      }
    }
  }

  @Test("A disabled command is refused, one that nothing has is nil, an owner's error is told")
  func refusals() async throws {
    try await TestDesktop.with { desktop in
      let object = try await edit(desktop)
      let nothing = try await desktop.focusctl("run", "Nothing")
      #expect(nothing.status == 1 && nothing.output.isEmpty && nothing.errors.count == 1, "\(nothing)")
      #expect(try await desktop.focusctl("run", "--field", "edit", "Nothing").succeeded)
      let missing = try await desktop.focusctl("run", "--field", "edit", "demo.Edit.No")
      #expect(missing.status == 1 && missing.errorText.contains("'edit'"), "\(missing)")
      try await object.owner.setEnabled("edit", ["demo.Edit.Nothing": false])
      for words in [["--field", "edit"], []] {
        try await object.owner.focus("edit")
        let disabled = try await desktop.focusctl(["run", "Nothing"] + words)
        #expect(disabled.status == 4 && disabled.errorText.contains("disabled"), "\(disabled)")
      }
      object.rule("Form") { _, _, _ in .error("org.example.Error.Odd", "not in\nthis state") }
      let refused = try await desktop.focusctl("run", "Form", "1")
      #expect(refused.status == 4 && refused.errors == ["focusctl: not in this state"], "\(refused)")
      // The field that had focus before.
      try await object.owner.register("front")
      try await object.owner.focus("front")
      #expect(try await desktop.focusctl("run", "--previous", "demo.Edit.One", "x").text == "x")
    }
  }

  @Test("commands lists what resolves, with its state and its arguments")
  func commands() async throws {
    try await TestDesktop.with { desktop in
      let object = try await edit(desktop)
      let none = try await desktop.focusctl("commands")
      #expect(none.succeeded && none.output.isEmpty, "\(none)")
      try await object.owner.setEnabled("edit", ["demo.Edit.One": false])
      try await object.owner.focus("edit")
      let listed = try await desktop.focusctl("commands")
      #expect(
        listed.output.map { $0.split(separator: " ").joined(separator: " ") } == [
          "demo.Edit.All enabled ydbasa{sv}v", "demo.Edit.Form enabled i", "demo.Edit.Named enabled si",
          "demo.Edit.Nothing enabled -", "demo.Edit.One disabled s", "demo.Other.One enabled -",
        ])
      let json = try await desktop.focusctl("commands", "--json", "--field", "edit")
      #expect(json.output.count == 6)
      #expect(
        json.output.last == #"{"command":"demo.Other.One","enabled":true,"arguments":"","results":"i"}"#)
      #expect(
        json.output.dropFirst(4).first == #"{"command":"demo.Edit.One","enabled":false,"arguments":"s","results":"s"}"#)
    }
  }

  /// A player that hangs holds up nobody who watches something else.
  @Test func othersAreWatchedWhileAnOwnerIsSilent() async throws {
    try await TestDesktop.with { desktop in
      let player = Exported(
        try await desktop.peer(), document(("demo.Player", property("Position", "x", emits: "false"))),
        ["demo.Player.Position": .int64(7)], at: "/player")
      try await player.owner.register("player", object: player.path, [("scope", .string("session"))])
      try await player.owner.register("text1", [("demo.Form.Number", .int32(1))], [("focus", .boolean(true))])
      player.rule("Get") { _, _, _ in .hold }
      // Sooner than the daemon gives the owner up; a slow machine may take that long.
      try await eventually("a wait that is not held up") {
        try await desktop.focusctl("wait", "demo.Form.Number", "--timeout", "3").succeeded
      }
      let watch = try await desktop.start([Products.focusctl, "watch", "Number", "Position"])
      #expect(try await watch.lines(2) == ["Number 1", "Position nil"])
      // What is changed meanwhile is told, and what comes at last, too.
      try await player.owner.publish("text1", [("demo.Form.Number", .int32(2))])
      #expect(try await watch.lines(3).last == "Number 2")
      player.rule("Get", nil)
      player.release()
      #expect(try await watch.lines(4).last == "Position 7")
      try await watch.stop()
    }
  }

  @Test func whoWaitsInVainIsToldWhoDoesNotAnswer() async throws {
    try await TestDesktop.with { desktop in
      let object = try await edit(desktop)
      object.rule("Nothing") { _, _, _ in .hold }
      let call = ["run", "Nothing", "--field", "edit", "--timeout", "2s"]
      var owner = try await desktop.focusctl(call)
      // A daemon that is held up for a second itself is told of instead.
      for _ in 0..<5 where owner.status == 3 { owner = try await desktop.focusctl(call) }
      #expect(owner.status == 4, "\(owner)")
      let start = "focusctl: no reply to 'demo.Edit.Nothing' within 2.0 seconds: "
      #expect(owner.errors == [start + "focusd waits for the field's owner, who may still do it"])
      desktop.daemon.terminate(SIGSTOP)
      let daemon = try await desktop.focusctl(call)
      desktop.daemon.terminate(SIGCONT)
      #expect(
        daemon.status == 3 && daemon.errorText.hasPrefix("focusctl: focusd does not reply: no reply"), "\(daemon)")
    }
  }
}
