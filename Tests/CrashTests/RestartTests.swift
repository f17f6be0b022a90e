import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// How the daemon ends and begins, as those see it who were there before.
@Suite struct RestartTests {
  @Test func thoseWhoWatchSeeARestartAsChanges() async throws {
    try await TestDesktop.with { desktop in
      let client = try await desktop.peer()
      let watcher = try await desktop.start([Products.focusctl, "watch", "demo.Form.Number"])
      let observer = try await desktop.witness()
      try await observer.subscribe(to: Focus1.name)
      for id in ["one", "two"] { try await client.register(id, [("demo.Form.Number", .int32(1))]) }
      try await client.field("one", "Focus")
      try await watcher.line { $0 == "1" }
      for round in Int32(2)...4 {
        try await desktop.crash()
        try await client.write("demo.Form.Number", .int32(round))
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
    }
  }

  @Test(arguments: [Int32(15), 2]) func anOrderlyEndClosesTheJournal(signal: Int32) async throws {
    try await TestDesktop.with { desktop in
      let client = try await desktop.peer()
      for number in 0..<200 {
        try await client.register(
          "f\(number)", [("demo.A.B", .int32(1))], [("linger", .boolean(true))])
      }
      try await client.field("f7", "Focus")
      try await desktop.end(signal)
      #expect(try FileManager.default.contentsOfDirectory(atPath: desktop.stateDirectory) == ["state.db"])
      try await desktop.start()
      #expect(try await client.owners().count == 200)
      #expect(try await client.fields("FocusPath") == ["f7"])
    }
  }

  /// With a thousand fields, and four clients that go on writing: none of what they were told is lost.
  @Test func anEndUnderLoadIsAsOrderly() async throws {
    try await TestDesktop.with { desktop in
      let client = try await desktop.peer()
      let answers = try await client.calls(1_000) { number in
        .register("f\(number)", [("demo.A.B", .int32(0))], [("linger", .boolean(true))])
      }
      #expect(answers == [nil: 1_000])
      let acknowledged = Observed([Int32](repeating: 0, count: 4))
      let taken = try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<4 {
          group.addTask { try await Self.writeUntilTheEnd(number, on: desktop, acknowledged) }
        }
        _ = try await acknowledged.wait(for: "writes") { $0.allSatisfy { $0 > 200 } ? true : nil }
        let start = SuspendingClock.now
        try await desktop.end()
        let taken = SuspendingClock.now - start
        try await group.waitForAll()
        return taken
      }
      print("an end with 1,000 fields, while 4 clients write, takes \(taken)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: desktop.stateDirectory) == ["state.db"])
      try await desktop.start()
      #expect(try await client.owners().count == 1_000)
      for (number, last) in acknowledged.now.enumerated() {
        let value = try await client.read("demo.A.B", at: Focus1.field("f\(number)")).value
        #expect(value == .int32(last) || value == .int32(last + 1), "the write of \(last) was acknowledged")
      }
    }
  }

  private static func writeUntilTheEnd(
    _ number: Int, on desktop: TestDesktop, _ acknowledged: Observed<[Int32]>
  ) async throws {
    let client = try await desktop.peer()
    do {
      for value in Int32(1)... {
        try await client.write("demo.A.B", .int32(value), at: Focus1.field("f\(number)"))
        acknowledged.update { $0[number] = value }
      }
    } catch let error as RemoteError where error.isAbsence {}
  }

  @Test func aHangupChangesNothing() async throws {
    try await TestDesktop.with { desktop in
      let client = try await desktop.peer()
      try await client.register("a", [("demo.A.B", .int32(0))])
      for number in Int32(1)...50 {
        desktop.daemon.terminate(1)
        try await client.write("demo.A.B", .int32(number), at: Focus1.field("a"))
        #expect(try await client.read("demo.A.B", at: Focus1.field("a")).value == .int32(number))
      }
      #expect(desktop.daemon.progress.now.exit == nil)
    }
  }

  /// An owner that cannot answer just now keeps its field, and holds nobody up.
  @Test func aSilentOwnerKeepsItsField() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await BoundOwner(on: desktop)
      let client = try await desktop.peer()
      try await desktop.kill()
      owner.fallSilent()
      owner.set(5)
      // It is saved with its object still, even where that was never looked at.
      try await desktop.start()
      #expect(try await client.owners().keys.sorted() == [BoundOwner.id])
      try await client.register("passing", [("demo.A.B", .int32(1))])
      try await client.field("passing", "Unregister")
      try await desktop.crash()
      try await client.subscribe()
      owner.answerAgain()
      try await client.signals("change") { signals in
        signals.first { $0.path == Focus1.field(BoundOwner.id) && $0.told.keys.contains(BoundOwner.levelKey) }
      }
      #expect(try await client.read(BoundOwner.levelKey, at: Focus1.field(BoundOwner.id)).value == .int32(5))
      try await client.write(BoundOwner.levelKey, .int32(6), at: Focus1.field(BoundOwner.id))
      #expect(owner.level == .int32(6))
    }
  }

  /// What an owner answers late is for the field that was saved, and for no other of its name.
  @Test func aLateAnswerIsForTheFieldThatWasSaved() async throws {
    // On a slow machine the 5 s that the daemon waits for it are over before.
    try await eventually("an answer that is awaited") {
      try await TestDesktop.with { desktop in
        let owner = try await BoundOwner(on: desktop)
        let client = try await desktop.peer()
        try await desktop.kill()
        owner.fallSilent()
        try await desktop.start()
        let field = Focus1.field(BoundOwner.id)
        // Its owner has another field by that name, without an object, before it answers.
        try await owner.object.owner.field(BoundOwner.id, "Unregister")
        try await owner.object.owner.register(BoundOwner.id, [("demo.Bound.Other", .int32(7))])
        owner.answerAgain()
        // It is asked for more before this is replied to, or never.
        try await owner.object.owner.settle()
        let isAwaited = owner.readings > 0
        try await owner.object.owner.settle()
        #expect(try await client.read("demo.Bound.Other", at: field).value == .int32(7))
        await #expect(throws: RemoteError.self) { try await client.read(BoundOwner.levelKey, at: field) }
        return isAwaited
      }
    }
  }

  /// The fields' owners are of another bus: their names mean nothing here.
  @Test func onAnotherBusOnlyWhatLingersIsThere() async throws {
    try await TestDesktop.with { first in
      let client = try await first.peer()
      try await client.register("stays", [("demo.A.B", .int32(1))], [("linger", .boolean(true))])
      try await client.register(
        "goes", [("demo.A.B", .int32(2))],
        [("parent", Focus1.fieldPath("stays"))])
      try await client.field("goes", "Focus")
      try await first.kill()
      try await TestDesktop.with(environment: ["XDG_STATE_HOME": first.stateHome], isServed: false) { second in
        // Somebody has the same unique name here.
        var others: [Peer] = []
        for _ in 0..<8 { others.append(try await second.peer()) }
        try await second.start()
        let client = try await second.peer()
        #expect(try await client.owners() == ["stays": ""])
        #expect(try await client.fields("FocusPath") == ["stays"])
        #expect(try await client.read("demo.A.B").value == .int32(1))
        withExtendedLifetime(others) {}
      }
    }
  }
}
