import BusSupport
import DBusTypes
import FocusKit
import Glibc
import TestSupport
import Testing

/// What happens between processes besides the scenes: focus on request, secrets, focus that moves, and ends.
@Suite struct ProcessFocusTests {
  @Test func anotherProcessAsksForFocus() async throws {
    try await TestDesktop.play(2) { desktop, players in
      let (owner, asker) = (players[0], players[1])
      try await owner.play("register text1 number=1")
      try await owner.play("register text2 number=2")
      try await owner.play("focus text1")
      try await asker.play("watch number")
      try await asker.wait("number", is: "1")
      #expect(try await asker.play("ask-focus text2") == "done")
      try await asker.wait("number", is: "2")
      #expect(try await owner.play("focused") == "text2")
      let asked = try await desktop.focusctl("focus", "text1")
      #expect(asked.status == 0, "\(asked)")
      #expect(try await owner.play("focused") == "text1")
      #expect(try await asker.refusal(of: "ask-focus text3") == "UnknownObject")
    }
  }

  @Test func aSecretIsWrittenAndNotShown() async throws {
    try await TestDesktop.play(2) { desktop, players in
      let (owner, other) = (players[0], players[1])
      try await owner.play("register secret sensitive number=1")
      try await owner.play("register open number=2")
      try await other.play("watch number")
      try await owner.play("focus open")
      try await other.wait("number", is: "2")
      try await owner.play("focus secret")
      try await other.wait("number", is: "nil")
      let answer = try await other.play("write number 5")
      #expect(answer == "5", "\(answer)")
      #expect(try await owner.play("source secret.number") == "5")
      let shown = try await desktop.focusctl("get", "demo.Form.Number")
      #expect(shown.status == 4 && shown.output.isEmpty, "\(shown)")
      try await owner.play("focus open")
      try await other.wait("number", is: "2")
      #expect(other.told("number").drop { $0 == "nil" } == ["2", "nil", "2"])
    }
  }

  /// What its program tells the daemon, nobody else is told.
  @Test func aSecretIsShownToTheDaemonAlone() async throws {
    try await TestDesktop.with { desktop in
      let client = desktop.client()
      let (secret, open) = (State(wrappedValue: 1), State(wrappedValue: 1))
      let field = FocusField("secret", client: client).privacySensitive().focusedValue(\.number, secret.projectedValue)
        .register()
      try await field.registered()
      let other = try await desktop.peer()
      let owner = try #require(try await other.owners()["secret"])
      let path = try await other.path(ofTheFieldOf: owner)
      func ask(_ path: String, _ interface: String, _ member: String, _ arguments: DBusValue...) -> Peer.Pending {
        other.begin(DaemonCall(to: owner, path, interface, member, arguments))
      }
      let key = [DBusValue.string("demo.Form"), .string("Number")]
      #expect(try await ask(path, Focus1.properties, "Get", key[0], key[1]).refusal() == "AccessDenied")
      #expect(try await ask(path, Focus1.properties, "GetAll", key[0]).refusal() == "AccessDenied")
      try await other.askBus("AddMatch", [.string("type='signal',sender='\(owner)'")])
      let shown = FocusField("open", client: client).focusedValue(\.number, open.projectedValue).register()
      try await field.focus()
      try await other.set("demo.Form.Number", .int64(5))
      #expect(secret.wrappedValue == 5)
      secret.wrappedValue = 6
      try await shown.focus()
      try await other.set("demo.Form.Number", .int64(7))
      try await other.signals("the open field's change") { signals in
        signals.contains { $0.told["demo.Form.Number"] == .int64(7) } ? () : nil
      }
      #expect(other.signals.allSatisfy { $0.path != path })
    }
  }

  /// Also where the other field has the value that was read, which only a signal told of.
  @Test(arguments: ["1", "2"]) func aWriteNeverLandsInTheFieldThatTookFocusMeanwhile(read: String) async throws {
    try await TestDesktop.play(1) { desktop, players in
      let writer = players[0]
      for (id, value, options) in [("text1", 1, ["--focus"]), ("text2", 2, [])] {
        let arguments = ["register", id, "demo.Form.Number:x=\(value)"] + options
        #expect(try await desktop.focusctl(arguments).status == 0)
      }
      try await writer.play("watch number")
      try await writer.wait("number", is: "1")
      #expect(try await desktop.focusctl("set", "Number", read).status == 0)
      try await writer.wait("number", is: read)
      // The daemon finds both when it goes on, focus first: the bus has taken that before the write is made.
      desktop.daemon.terminate(SIGSTOP)
      let mover = try await desktop.peer()
      mover.begin(.field("text2", "Focus"))
      try await mover.askBus("GetId")
      try await writer.play("assign number 100")
      #expect(try await writer.play("read number") == "100")
      desktop.daemon.terminate(SIGCONT)
      try await writer.waitForError("Conflict")
      try await writer.wait("number", is: "2")
      #expect(try await writer.play("read number") == "2")
      for (id, value) in [("text1", read), ("text2", "2")] {
        #expect(try await desktop.focusctl("get", "Number", "--field", id).output == [value])
      }
    }
  }

  @Test func anotherTypeThanTheKeysIsReportedOnce() async throws {
    try await TestDesktop.play(1) { desktop, players in
      let reader = players[0]
      for (id, value) in [("text1", "s=one"), ("text2", "s=two")] {
        let registered = try await desktop.focusctl("register", id, "demo.Form.Number:\(value)")
        #expect(registered.status == 0, "\(registered)")
      }
      try await reader.play("watch number")
      for id in ["text1", "text2", "text1"] {
        #expect(try await desktop.focusctl("focus", id).status == 0)
        #expect(try await reader.play("read number") == "nil")
      }
      try await reader.waitForError("TypeMismatch")
      let error = try #require(reader.errors.first)
      for part in ["'demo.Form.Number'", "'x'", "'s'"] { #expect(error.contains(part), "\(error)") }
      #expect(reader.errors.count == 1)
    }
  }

  @Test func aFieldGoesWithItsProcess() async throws {
    try await TestDesktop.play(2) { _, players in
      let (owner, reader) = (players[0], players[1])
      try await owner.play("register text1 number=1")
      try await owner.play("focus text1")
      try await reader.play("watch number")
      try await reader.wait("number", is: "1")
      try await owner.process.stop()
      try await reader.wait("number", is: "nil")
    }
  }

  @Test(arguments: [SIGKILL, SIGTERM]) func theDaemonIsEndedAndStartedAgain(signal: Int32) async throws {
    try await TestDesktop.with { desktop in
      let (owner, reader) = (try await Player(on: desktop), try await Player(on: desktop))
      try await Self.begin(owner, reader)
      try await desktop.end(signal)
      try await reader.wait("number", is: "nil")
      try await owner.play("change text1.number 2")
      try await desktop.start()
      try await Self.goOn(owner, reader)
      for process in [owner.process, reader.process] { try await process.stop() }
    }
  }

  @Test func theBusIsEndedAndStartedAgain() async throws {
    try await TestDesktop.with { desktop in
      let (owner, reader) = (try await Player(on: desktop), try await Player(on: desktop))
      try await Self.begin(owner, reader)
      try await desktop.endBus()
      try await reader.wait("number", is: "nil")
      #expect(try await reader.refusal(of: "write number 9") == "Disconnected")
      try await owner.play("change text1.number 2")
      let again = try await desktop.beginAgain()
      try await Self.goOn(owner, reader)
      for process in again + [owner.process, reader.process] { try await process.stop() }
    }
  }

  /// A field within a window has focus, and is watched.
  private static func begin(_ owner: Player, _ reader: Player) async throws {
    try await owner.play("register window scene-title=scene")
    try await owner.play("register text1 in=window number=1 save")
    try await owner.play("focus text1")
    try await reader.play("watch number")
    try await reader.play("watch title")
    try await reader.wait("number", is: "1")
    try await reader.wait("title", is: #""scene""#)
  }

  /// All is there again, with what the owner changed meanwhile.
  private static func goOn(_ owner: Player, _ reader: Player) async throws {
    try await reader.wait("number", is: "2")
    try await reader.wait("title", is: #""scene""#)
    #expect(try await reader.play("write number 3") == "3")
    #expect(try await owner.play("source text1.number") == "3")
    #expect(try await owner.play("focused") == "text1")
    #expect(try await reader.play("run-save") == "done")
    #expect(try await owner.play("saved") == "1")
    try await reader.wait("number", is: "3")
  }
}
