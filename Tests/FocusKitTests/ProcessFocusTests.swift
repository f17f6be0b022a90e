import DBus
import DBusTypes
import FocusKit
import Glibc
import TestSupport
import Testing

/// What happens between processes besides the scenes: focus on request, secrets, focus that moves, and ends.
@Suite struct ProcessFocusTests {
  @Test func anotherProcessAsksForFocus() async throws {
    try await Session.play(2) { session, players in
      let (owner, asker) = (players[0], players[1])
      try await owner.play("register text1 number=1")
      try await owner.play("register text2 number=2")
      try await owner.play("focus text1")
      try await asker.play("watch number")
      try await asker.wait("number", is: "1")
      #expect(try await asker.play("ask-focus text2") == "done")
      try await asker.wait("number", is: "2")
      #expect(try await owner.play("focused") == "text2")
      let asked = try await session.bus.run([Products.focusctl, "focus", "text1"])
      #expect(asked.status == 0, "\(asked)")
      #expect(try await owner.play("focused") == "text1")
      #expect(try await asker.refusal(of: "ask-focus text3") == "UnknownObject")
    }
  }

  @Test func aSecretIsWrittenAndNotShown() async throws {
    try await Session.play(2) { session, players in
      let (owner, other) = (players[0], players[1])
      try await owner.play("register secret sensitive number=1")
      try await owner.play("register open number=2")
      try await other.play("watch number")
      try await owner.play("focus open")
      try await other.wait("number", is: "2")
      try await owner.play("focus secret")
      try await other.wait("number", is: "nil")
      _ = try await other.play("write number 5")
      #expect(try await owner.play("source secret.number") == "5")
      let shown = try await session.bus.run([Products.focusctl, "get", "demo.Form.Number"])
      #expect(shown.status == 4 && shown.output.isEmpty, "\(shown)")
      try await owner.play("focus open")
      try await other.wait("number", is: "2")
      #expect(other.told("number").drop { $0 == "nil" } == ["2", "nil", "2"])
    }
  }

  /// Also where the other field has the value that was read, which only a signal told of.
  @Test(arguments: ["1", "2"]) func aWriteNeverLandsInTheFieldThatTookFocusMeanwhile(read: String) async throws {
    try await Session.play(1) { session, players in
      let writer = players[0]
      for (id, value, options) in [("text1", 1, ["--focus"]), ("text2", 2, [])] {
        let arguments = ["register", id, "demo.Form.Number:x=\(value)"] + options
        #expect(try await session.bus.run([Products.focusctl] + arguments).status == 0)
      }
      try await writer.play("watch number")
      try await writer.wait("number", is: "1")
      #expect(try await session.bus.run([Products.focusctl, "set", "Number", read]).status == 0)
      try await writer.wait("number", is: read)
      // The daemon finds both when it goes on, focus first: the bus has taken that before the write is made.
      session.daemon.terminate(SIGSTOP)
      let mover = try Connection(to: .address(session.bus.address))
      try mover.send(
        try OutgoingMessage.methodCall(
          to: try BusName(Session.service), path: try ObjectPath("/org/focusd/Focus1/field/text2"),
          interface: try InterfaceName("org.focusd.Focus1.Field"), member: try MemberName("Focus")))
      _ = try mover.busID()
      try await writer.play("assign number 100")
      #expect(try await writer.play("read number") == "100")
      session.daemon.terminate(SIGCONT)
      try await writer.waitForError("Conflict")
      try await writer.wait("number", is: "2")
      #expect(try await writer.play("read number") == "2")
      for (id, value) in [("text1", read), ("text2", "2")] {
        #expect(try await session.bus.run([Products.focusctl, "get", "Number", "--field", id]).output == [value])
      }
    }
  }

  @Test func anotherTypeThanTheKeysIsReportedOnce() async throws {
    try await Session.play(1) { session, players in
      let reader = players[0]
      for (id, value) in [("text1", "s=one"), ("text2", "s=two")] {
        let registered = try await session.bus.run([Products.focusctl, "register", id, "demo.Form.Number:\(value)"])
        #expect(registered.status == 0, "\(registered)")
      }
      try await reader.play("watch number")
      for id in ["text1", "text2", "text1"] {
        #expect(try await session.bus.run([Products.focusctl, "focus", id]).status == 0)
        #expect(try await reader.play("read number") == "nil")
      }
      try await reader.waitForError("TypeMismatch")
      let error = try #require(reader.errors.first)
      for part in ["'demo.Form.Number'", "'x'", "'s'"] { #expect(error.contains(part), "\(error)") }
      #expect(reader.errors.count == 1)
    }
  }

  @Test func aFieldGoesWithItsProcess() async throws {
    try await Session.play(2) { _, players in
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
    try await PrivateBus.with { bus in
      let daemon = try await Session.start(on: bus)
      let (owner, reader) = (try await Player(on: bus), try await Player(on: bus))
      try await Self.begin(owner, reader)
      daemon.terminate(signal)
      try await daemon.finish()
      try await reader.wait("number", is: "nil")
      try await owner.play("change text1.number 2")
      let next = try await Session.start(on: bus)
      try await Self.goOn(owner, reader)
      for process in [next, owner.process, reader.process] { try await process.stop() }
    }
  }

  @Test func theBusIsEndedAndStartedAgain() async throws {
    try await PrivateBus.with { bus in
      let daemon = try await Session.start(on: bus)
      let (owner, reader) = (try await Player(on: bus), try await Player(on: bus))
      try await Self.begin(owner, reader)
      try await bus.stop()
      try await daemon.finish()
      try await reader.wait("number", is: "nil")
      #expect(try await reader.refusal(of: "write number 9") == "Disconnected")
      try await owner.play("change text1.number 2")
      let again = try await bus.start([
        "/usr/bin/dbus-daemon", "--nofork", "--nopidfile", "--print-address=1",
        "--config-file=\(bus.directory)/bus.conf",
      ])
      let next = try await bus.start([Products.focusd, "--address", try await again.line("address")])
      try await Self.goOn(owner, reader)
      for process in [next, again, owner.process, reader.process] { try await process.stop() }
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
