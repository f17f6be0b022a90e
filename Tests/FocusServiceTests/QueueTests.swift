import BusSupport
import DBusTypes
import Testing

/// What clients send to one owner's object, and when the owner is asked for it.
@Suite struct QueueTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let turn: [Letter]
    /// What the owner is asked in the turn.
    let atOnce: [String]
    /// What it is asked then, as it answers.
    let later: [String]

    init(_ description: String, _ turn: [Letter], atOnce: [String], later: [String] = []) {
      (testDescription, self.turn, self.atOnce, self.later) = (description, turn, atOnce, later)
    }
  }

  private static let dial = Focus1.field("dial")
  private static let up = DaemonCall(dial, OwnersObject.interface, "Up")

  private static func level(_ value: Int32) -> DaemonCall { .write(OwnersObject.levelKey, .int32(value), at: dial) }

  private static let text = DaemonCall.write("demo.Bound.Text", .string("x"), at: dial)
  private static let examine = Letter.call(carl, .field("dial", "Examine"))

  private static let cases = [
    Case(
      "two writes of one key: one at a time, whoever writes", [.call(bert, level(2)), .call(anna, level(3))],
      atOnce: ["Set demo.Bound Level 2"], later: ["Set demo.Bound Level 3"]),
    Case(
      "writes of two keys: at once", [.call(bert, level(2)), .call(bert, text)],
      atOnce: ["Set demo.Bound Level 2", "Set demo.Bound Text x"]),
    Case(
      "a write behind one of its client's that waits",
      [.call(bert, level(2)), .call(bert, level(3)), .call(bert, text)],
      atOnce: ["Set demo.Bound Level 2"], later: ["Set demo.Bound Level 3", "Set demo.Bound Text x"]),
    Case(
      "a write while another client's waits", [.call(bert, level(2)), .call(bert, level(3)), .call(anna, text)],
      atOnce: ["Set demo.Bound Level 2", "Set demo.Bound Text x"], later: ["Set demo.Bound Level 3"]),
    Case(
      "a command behind a write that was sent", [.call(bert, level(2)), .call(bert, up)],
      atOnce: ["Set demo.Bound Level 2", "Up"]),
    Case(
      "a command behind one of its client's writes that waits",
      [.call(bert, level(2)), .call(bert, level(3)), .call(bert, up)],
      atOnce: ["Set demo.Bound Level 2"], later: ["Set demo.Bound Level 3", "Up"]),
    Case(
      "a second command, and then a write, behind a command that waits",
      [.call(bert, level(2)), .call(bert, level(3)), .call(bert, up), .call(bert, text)],
      atOnce: ["Set demo.Bound Level 2"], later: ["Set demo.Bound Level 3", "Up", "Set demo.Bound Text x"]),
    Case(
      "a command behind one of its client's writes that waits, and another client's behind it",
      [.call(bert, level(2)), .call(bert, level(3)), .call(bert, up), .call(anna, level(4))],
      atOnce: ["Set demo.Bound Level 2"],
      later: ["Set demo.Bound Level 3", "Up", "Set demo.Bound Level 4"]),
    Case(
      "a write behind one of its client's that waits, and another client's behind it",
      [.call(bert, level(2)), .call(bert, level(3)), .call(bert, text), .call(anna, level(4))],
      atOnce: ["Set demo.Bound Level 2"],
      later: ["Set demo.Bound Level 3", "Set demo.Bound Text x", "Set demo.Bound Level 4"]),
    Case(
      "a command while another client's write waits", [.call(bert, level(2)), .call(bert, level(3)), .call(anna, up)],
      atOnce: ["Set demo.Bound Level 2", "Up"], later: ["Set demo.Bound Level 3"]),
    Case(
      "an examination behind a write", [.call(bert, level(2)), examine],
      atOnce: ["Set demo.Bound Level 2"], later: ["Introspect"]),
    Case(
      "a write behind an examination: at once", [examine, .call(bert, level(2))],
      atOnce: ["Introspect", "Set demo.Bound Level 2"]),
    Case("two examinations: one at a time", [examine, examine], atOnce: ["Introspect"], later: ["Introspect"]),
  ]

  /// What the owner is asked to do.
  private static func asked(_ sent: [Sent]) -> [String] {
    sent.lines.filter { $0.hasPrefix(carl) && !$0.contains("Get") }.map { String($0.dropFirst(carl.utf8.count + 2)) }
  }

  @Test(arguments: cases) func order(_ each: Case) async throws {
    try await Stage.with { stage in
      try stage.settle([.call(carl, .register("dial", object: OwnersObject.path))])
      try stage.settle([.told(carl, [("Text", .string(""))])])
      let before = try stage.turn(each.turn)
      #expect(Self.asked(before) == each.atOnce)
      let after = try stage.settle()
      #expect(Self.asked(after) == each.later)
      #expect((before + after).filter(\.isReply).count == each.turn.count)
      #expect(try stage.queueing(at: "dial") == [])
      try stage.shown()
    }
  }
}

/// What is asked of an owner, and how much at once.
extension QueueTests {
  @Test("256 calls of an owner's object are under way at once, and no more") func calls() async throws {
    try await Stage.with { stage in
      try stage.settle([.call(carl, .register("dial", object: OwnersObject.path))])
      // One turn handles as many messages.
      let sent = try (stage.turn((0..<257).map { _ in .call(bert, Self.up) }) + stage.turn()).lines
      #expect(sent.count { $0 == "\(carl): Up" } == 256)
      #expect(sent.filter { $0 != "\(carl): Up" } == ["Up: LimitsExceeded"])
      #expect(try stage.settle().lines.count { $0 == "Up" } == 256)
      #expect(try stage.turn([.call(bert, Self.up)]).lines == ["\(carl): Up"])
    }
  }

  @Test("A value that an owner has invalidated is asked for until it is known, or told") func stale() async throws {
    try await Stage.with { stage in
      let asked = ["\(carl): Get demo.Bound Level"]
      let read = Letter.call(bert, .read(OwnersObject.levelKey, at: Self.dial))
      try stage.settle([.call(carl, .register("dial", object: OwnersObject.path))])
      #expect(try stage.turn([.invalidated(carl, ["Level"])]).lines == asked)
      try stage.turn([.refusal(carl, "Get")])
      #expect(try stage.turn([read]).lines == asked)
      #expect(try stage.turn([.refusal(carl, "Get")]).lines == ["Read: UnknownObject"])
      try stage.turn([.told(carl, level: 5)])
      #expect(try stage.turn([read]).lines == ["Read = [5] dial #"])
    }
  }
}

/// Writes that depend on what is there.
extension QueueTests {
  private static let stale: [Letter] = [.invalidated(carl, ["Level"])]

  @Test(
    "A write that depends on a stale value asks for it first",
    arguments: [
      DaemonCall.write(OwnersObject.levelKey, .int32(9), [("revision", .uint64(1))], at: dial),
      .write(OwnersObject.levelKey + "/0", .int32(9), at: dial),
    ])
  func dependence(_ write: DaemonCall) async throws {
    try await Stage.with { stage in
      try stage.settle([.call(carl, .register("dial", object: OwnersObject.path))])
      try stage.turn(Self.stale)
      try stage.turn([.refusal(carl, "Get")])
      #expect(try stage.turn([.call(bert, write)]).lines == ["\(carl): Get demo.Bound Level"])
      #expect(try stage.settle().lines.contains { $0.hasPrefix("Write") })
      try stage.turn(Self.stale)
      try stage.turn([.refusal(carl, "Get")])
      // A whole value depends on nothing.
      #expect(try stage.turn([.call(bert, Self.level(9))]).lines == ["\(carl): Set demo.Bound Level 9"])
    }
  }

  @Test(
    "A write whose key is gone when its turn comes is refused as one that finds none",
    arguments: [(Focus1.focused, "NotFocused"), (dial, "UnknownProperty")])
  func gone(place: String, error: String) async throws {
    try await Stage.with { stage in
      try stage.settle([
        .call(carl, .register("dial", object: OwnersObject.path, [("focus", .boolean(true))]))
      ])
      func write(_ value: Int32) -> Letter { .call(bert, .write(OwnersObject.levelKey, .int32(value), at: place)) }
      try stage.turn([write(2), write(3)])
      try stage.turn([.answered(carl, "Set", [])])
      let sent = try stage.turn([.refusal(carl, "Get", "UnknownProperty")])
      #expect(sent.lines.filter { $0.hasPrefix("Write") }.last == "Write: \(error)")
      #expect(!sent.lines.contains { $0.hasPrefix("\(carl): Set") })
    }
  }
}
