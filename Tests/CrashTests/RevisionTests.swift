import BusSupport
import DBusTypes
import TestSupport
import Testing

/// The counter of revisions never goes back, whoever has made it count and however the daemon ended.
@Suite struct RevisionTests {
  /// Nothing but what an owner tells of its object changes, which is itself not saved.
  @Test(arguments: [Int32(9), 15]) func whatAnOwnerTellsCountsForTheNextDaemonToo(signal: Int32) async throws {
    try await TestDesktop.with { desktop in
      let owner = try await TellingOwner(on: desktop)
      let client = try await desktop.peer()
      try await client.register("stored", [("demo.A.B", .int32(0))], [("linger", .boolean(true))])
      try await owner.tell(80)
      let told = try await client.read(TellingOwner.key, at: Focus1.field(TellingOwner.id))
      #expect(told.value == .int32(80))
      let before = told.revision
      #expect(before > 80 * UInt64(TellingOwner.keys))
      try await desktop.end(signal)

      try await desktop.start()
      try await owner.answerExamination()
      let bound = try await client.read(TellingOwner.key, at: Focus1.field(TellingOwner.id))
      #expect(bound.value == .int32(80))
      #expect(bound.revision > before)
      let now = try await client.write("demo.A.B", .int32(1), at: Focus1.field("stored")).revision
      #expect(now > before)
    }
  }

  /// A daemon that can save nothing from its start on has no revision to tell of what is new, and shows it all the same.
  @Test func aRevisionThatCannotBeSavedIsNotTold() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await TellingOwner(on: desktop)
      let client = try await desktop.peer()
      let path = Focus1.field(TellingOwner.id)
      try await client.register("stored", [("demo.A.B", .int32(0))], [("linger", .boolean(true))])
      let before = try await client.read(TellingOwner.key, at: path).revision
      try await desktop.kill()
      try await desktop.start(prefix: ["/usr/bin/prlimit", "--fsize=0:unlimited"])
      try await owner.answerExamination()
      let shown = try await client.read(TellingOwner.key, at: path)
      #expect(shown == Reading(value: .int32(0), field: TellingOwner.id, revision: 0))
      #expect(try await client.readAll(at: path)[TellingOwner.key] == .int32(0))
      #expect(try await client.get(TellingOwner.key, at: path) == .int32(0))
      // What is stored has its revision, and nothing is done that is refused.
      let stored = try await client.read("demo.A.B", at: Focus1.field("stored"))
      #expect(stored.value == .int32(0) && stored.revision > 0)
      #expect(
        try await refusal { try await client.write("demo.A.B", .int32(-1), at: Focus1.field("stored")) } == "IOError")
      #expect(try await refusal { try await client.write(TellingOwner.key, .int32(-1), at: path) } == "IOError")
      #expect(owner.object.count("Set") == 0)
      try await desktop.limitFiles(to: "unlimited")
      #expect(try await client.write("demo.A.B", .int32(1), at: Focus1.field("stored")).revision > before)
      #expect(try await client.read(TellingOwner.key, at: path).revision > before)
    }
  }

  @Test func whoWatchesGoesOnWhereRevisionsCannotBeSaved() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await TellingOwner(on: desktop)
      let watch = try await desktop.start([
        Products.focusctl, "--address", desktop.bus.address, "watch", "--field", TellingOwner.id, TellingOwner.key,
      ])
      _ = try await watch.line("the value") { $0 == "0" }
      try await desktop.kill()
      try await desktop.start(prefix: ["/usr/bin/prlimit", "--fsize=0:unlimited"])
      try await owner.answerExamination()
      _ = try await watch.progress.wait(for: "it again") { $0.output.count { $0 == "0" } == 2 ? true : nil }
      try await watch.stop()
    }
  }
}

/// A client with an object behind a field that tells of many changes.
private struct TellingOwner {
  static let id = "telling"
  static let key = "demo.Told.P0"
  /// How many properties it has, which all change at once.
  static let keys = 250

  let object: Exported

  init(on desktop: TestDesktop) async throws {
    let properties = (0..<Self.keys).map { property("P\($0)", "i") }.joined()
    object = Exported(try await desktop.peer(), document(("demo.Told", properties)), at: "/telling")
    change(to: 0)
    try await object.owner.register(Self.id, object: object.path)
  }

  private func change(to count: Int32) {
    object.state.update { state in for key in 0..<Self.keys { state.values["demo.Told.P\(key)"] = .int32(count) } }
  }

  /// Returns when a daemon that has started has had the object's values.
  func answerExamination() async throws {
    try await object.called("GetAll", times: 2)
    try await object.owner.settle()
  }

  /// Tells of `times` changes of each property; returns when the daemon has taken them all in.
  func tell(_ times: Int32) async throws {
    for count in 1...times {
      change(to: count)
      object.owner.perform { [path = object.path] thread in
        thread.emitChanged(path, "demo.Told", (0..<Self.keys).map { ("P\($0)", .int32(count)) })
      }
    }
    try await object.owner.settle()
  }
}
