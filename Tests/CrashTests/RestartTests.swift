import BusSupport
import DBus
import DBusTypes
import Foundation
import TestSupport
import Testing

/// How the daemon ends and begins, as those see it who were there before.
@Suite struct RestartTests {
  @Test func thoseWhoWatchSeeARestartAsChanges() async throws {
    try await PrivateBus.with { bus in
      var daemon = try await Focus1.start(on: bus)
      let client = try Caller(on: bus)
      let watcher = try await bus.start([Products.focusctl, "--address", bus.address, "watch", "demo.Form.Number"])
      let observer = try await GDBusPeer(on: bus)
      try await observer.subscribe(to: Focus1.name)
      try await onThread {
        for id in ["one", "two"] { try client.register(id, [(name: "demo.Form.Number", value: .int32(1))]) }
        try client.field("one", "Focus")
      }
      try await watcher.line { $0 == "1" }
      for round in Int32(2)...4 {
        try await daemon.stop()
        daemon = try await Focus1.start(on: bus)
        try await onThread { try client.write("demo.Form.Number", .int32(round)) }
        try await watcher.line { $0 == "\(round)" }
        let text = "{'Number': <\(round)>}"
        _ = try await observer.signals("change \(round)") { signals in
          signals.first { $0.path == Focus1.focused && $0.arguments.contains(text) }
        }
      }
      // Nil while there is no daemon is what a watch may say; an error is not.
      let progress = watcher.progress.now
      #expect(progress.errors == [])
      #expect(progress.exit == nil)
      let values = progress.output.filter { $0 != "nil" && !$0.isEmpty }
      #expect(
        values.indices.filter { $0 == 0 || values[$0] != values[$0 - 1] }.map { values[$0] } == ["1", "2", "3", "4"])
      try await daemon.stop()
    }
  }

  @Test(arguments: [Int32(15), 2]) func anOrderlyEndClosesTheJournal(signal: Int32) async throws {
    try await PrivateBus.with { bus in
      let daemon = try await Focus1.start(on: bus)
      let client = try Caller(on: bus)
      try await onThread {
        for number in 0..<200 {
          try client.register(
            "f\(number)", [(name: "demo.A.B", value: .int32(1))], [(name: "linger", value: .boolean(true))])
        }
        try client.field("f7", "Focus")
      }
      daemon.terminate(signal)
      #expect(try await daemon.finish() == .status(0))
      #expect(try FileManager.default.contentsOfDirectory(atPath: bus.directory + "/state/focusd") == ["state.db"])
      let again = try await Focus1.start(on: bus)
      try await onThread { () throws in
        #expect(try client.owners().count == 200)
        #expect(try client.fields("FocusPath") == ["f7"])
      }
      try await again.stop()
    }
  }

  /// With a thousand fields, and four clients that go on writing: none of what they were told is lost.
  @Test func anEndUnderLoadIsAsOrderly() async throws {
    try await PrivateBus.with { bus in
      let daemon = try await Focus1.start(on: bus)
      let client = try Caller(on: bus)
      try await onThread {
        let answers = try client.calls(1_000) { number in
          try Caller.message(
            Focus1.manager, Focus1.managerInterface, "Register",
            [
              .string("f\(number)"), .properties([(name: "demo.A.B", value: .int32(0))]),
              .properties([(name: "linger", value: .boolean(true))]),
            ])
        }
        #expect(answers == [nil: 1_000])
      }
      let acknowledged = Observed([Int32](repeating: 0, count: 4))
      let taken = try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<4 {
          group.addTask { try await onThread { try Self.writeUntilTheEnd(number, on: bus, acknowledged) } }
        }
        _ = try await acknowledged.wait(for: "writes") { $0.allSatisfy { $0 > 200 } ? true : nil }
        let start = SuspendingClock.now
        daemon.terminate()
        #expect(try await daemon.finish() == .status(0))
        let taken = SuspendingClock.now - start
        try await group.waitForAll()
        return taken
      }
      print("an end with 1,000 fields, while 4 clients write, takes \(taken)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: bus.directory + "/state/focusd") == ["state.db"])
      let again = try await Focus1.start(on: bus)
      try await onThread { () throws in
        #expect(try client.owners().count == 1_000)
        for (number, last) in acknowledged.now.enumerated() {
          let value = try client.read("demo.A.B", at: Focus1.field("f\(number)")).value
          #expect(value == .int32(last) || value == .int32(last + 1), "the write of \(last) was acknowledged")
        }
      }
      try await again.stop()
    }
  }

  private static func writeUntilTheEnd(
    _ number: Int, on bus: PrivateBus, _ acknowledged: Observed<[Int32]>
  ) throws {
    let client = try Caller(on: bus)
    do {
      for value in Int32(1)... {
        try client.write("demo.A.B", .int32(value), at: Focus1.field("f\(number)"))
        acknowledged.update { $0[number] = value }
      }
    } catch let error as CallError where error.isAbsence {}
  }

  @Test func aHangupChangesNothing() async throws {
    try await PrivateBus.with { bus in
      let daemon = try await Focus1.start(on: bus)
      let client = try Caller(on: bus)
      try await onThread {
        try client.register("a", [(name: "demo.A.B", value: .int32(0))])
        for number in Int32(1)...50 {
          daemon.terminate(1)
          try client.write("demo.A.B", .int32(number), at: Focus1.field("a"))
          #expect(try client.read("demo.A.B", at: Focus1.field("a")).value == .int32(number))
        }
      }
      #expect(daemon.progress.now.exit == nil)
      try await daemon.stop()
    }
  }

  /// An owner that cannot answer just now keeps its field, and holds nobody up.
  @Test func aSilentOwnerKeepsItsField() async throws {
    try await PrivateBus.with { bus in
      var daemon = try await Focus1.start(on: bus)
      let owner = try await BoundOwner(on: bus)
      let client = try Caller(on: bus)
      try await daemon.stop()
      owner.fallSilent()
      owner.level = 5
      // It is saved with its object still, even where that was never looked at.
      daemon = try await Focus1.start(on: bus)
      try await onThread {
        #expect(try client.owners().keys.sorted() == [BoundOwner.id])
        try client.register("passing", [(name: "demo.A.B", value: .int32(1))])
        try client.field("passing", "Unregister")
      }
      try await daemon.stop()
      daemon = try await Focus1.start(on: bus)
      let told = Observed<[String]>([])
      client.onSignal = { message in
        guard message.path?.text == Focus1.field(BoundOwner.id), let member = message.member?.text else { return }
        told.update { $0.append(member) }
      }
      try client.listen()
      try owner.answerAgain(with: client)
      try await onThread {
        client.wait { told.now.contains("PropertiesChanged") }
        #expect(try client.read(BoundOwner.levelKey, at: Focus1.field(BoundOwner.id)).value == .int32(5))
        try client.write(BoundOwner.levelKey, .int32(6), at: Focus1.field(BoundOwner.id))
      }
      #expect(owner.level == 6)
      try await owner.stop(with: client)
      try await daemon.stop()
    }
  }

  /// What an owner answers late is for the field that was saved, and for no other of its name.
  @Test func aLateAnswerIsForTheFieldThatWasSaved() async throws {
    try await PrivateBus.with { bus in
      var daemon = try await Focus1.start(on: bus)
      let owner = try await BoundOwner(on: bus)
      let client = try Caller(on: bus)
      try await daemon.stop()
      owner.fallSilent()
      daemon = try await Focus1.start(on: bus)
      let field = Focus1.field(BoundOwner.id)
      let readings = owner.readings
      try await onThread {
        // Its owner has another field by that name, without an object, before it answers.
        try owner.registerAnew("demo.Bound.Other", with: client)
        #expect(try client.read("demo.Bound.Other", at: field).value == .int32(7))
        try owner.answerAgain(with: client)
        while owner.readings == readings { try owner.settle(client) }
        try owner.settle(client)
        #expect(try client.read("demo.Bound.Other", at: field).value == .int32(7))
        #expect(throws: CallError.self) { try client.read(BoundOwner.levelKey, at: field) }
      }
      try await owner.stop(with: client)
      try await daemon.stop()
    }
  }

  /// The fields' owners are of another bus: their names mean nothing here.
  @Test func onAnotherBusOnlyWhatLingersIsThere() async throws {
    try await PrivateBus.with { first in
      let daemon = try await Focus1.start(on: first)
      let client = try Caller(on: first)
      try await onThread {
        try client.register("stays", [(name: "demo.A.B", value: .int32(1))], [(name: "linger", value: .boolean(true))])
        try client.register(
          "goes", [(name: "demo.A.B", value: .int32(2))],
          [(name: "parent", value: .objectPath(try ObjectPath(Focus1.field("stays"))))])
        try client.field("goes", "Focus")
      }
      try await daemon.stop()
      try await PrivateBus.with { second in
        // Somebody has the same unique name here.
        let others = try (0..<8).map { _ in try Caller(on: second) }
        let daemon = try await Focus1.start(on: second, extra: ["XDG_STATE_HOME": first.directory + "/state"])
        let client = try Caller(on: second)
        try await onThread { () throws in
          #expect(try client.owners() == ["stays": ""])
          #expect(try client.fields("FocusPath") == ["stays"])
          #expect(try client.read("demo.A.B").value == .int32(1))
        }
        withExtendedLifetime(others) {}
        try await daemon.stop()
      }
    }
  }
}
