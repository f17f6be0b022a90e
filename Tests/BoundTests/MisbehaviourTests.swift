import BusSupport
import DBusTypes
import TestSupport
import Testing

@Suite("Owners that misbehave")
struct MisbehaviourTests {
  static let xml = document(
    (
      "demo.Bad",
      property("Told", "i") + property("Asked", "i", emits: "false") + property("Text", "s") + method("Do", out: ["i"])
    ),
    (Focus1.responder, method("RequestFocus", in: ["o"])))

  /// A field `bad` that has focus.
  func field(_ desktop: TestDesktop) async throws -> Exported {
    let owner = try await desktop.peer()
    let object = Exported(
      owner, Self.xml, ["demo.Bad.Told": .int32(1), "demo.Bad.Asked": .int32(1), "demo.Bad.Text": .string("")])
    try await owner.register("bad", object: object.path, [("focus", .boolean(true))])
    return object
  }

  /// One call of each kind that the owner has to be asked for, with what an error of it names.
  private func callsOfEachKind(_ client: Peer) -> [(what: String, named: String, call: Peer.Pending)] {
    let (told, asked, command) = ("demo.Bad.Told of", "demo.Bad.Asked of", "demo.Bad.Do of")
    return [
      ("Get", asked, client.begin(.get("demo.Bad.Asked"))),
      ("Read", asked, client.begin(.read("demo.Bad.Asked", at: Focus1.field("bad")))),
      ("Set", told, client.begin(.set("demo.Bad.Told", .int32(2)))),
      ("a Set behind it", told, client.begin(.set("demo.Bad.Told", .int32(3)))),
      ("Write", asked, client.begin(.write("demo.Bad.Asked", .int32(2), [("revision", .uint64(1))]))),
      ("a command", command, client.begin(DaemonCall(Focus1.focused, "demo.Bad", "Do"))),
      ("a command of the field", command, client.begin(DaemonCall(Focus1.field("bad"), "demo.Bad", "Do"))),
      ("Invoke", command, client.begin(.invoke("demo.Bad.Do"))),
      ("Focus", "", client.begin(.field("bad", "Focus"))),
    ]
  }

  private func expect(_ calls: [(what: String, named: String, call: Peer.Pending)], refusedWith name: String)
    async throws
  {
    for (what, named, call) in calls {
      let error = try await call.remoteError()
      #expect(error?.shortName == name, "\(what)")
      let subject = (named.isEmpty ? "" : named + " ") + "the field 'bad': the field's owner "
      #expect(error?.message.hasPrefix(subject) == true, "\(what): \(error?.message ?? "")")
    }
  }

  @Test("that never answer: Timeout for all who wait, and no delay for others")
  func silent() async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let client = try await desktop.peer()
      let members = ["Get", "Set", "Do", "RequestFocus"]
      var round = 0
      // On a slow machine their owner's five seconds are over before all others have come.
      try await eventually("all others are answered before it") {
        round += 1
        let ids = (0..<100).map { "other\(round)_\($0)" }
        for member in members { object.rule(member) { _, _, _ in .hold } }
        let waiting = callsOfEachKind(client)
        // All on one connection: the order of the replies tells who waited for whom.
        let others =
          ids.map { client.begin(.register($0, object: nil, stored: [("demo.A.X", .int32(1))])) }
          + ids.map { client.begin(.get("demo.A.X", at: Focus1.field($0))) }
          + [client.begin(.get("demo.Bad.Told")), client.begin(.getAll("demo.A"))]
        let all = client.begin(.readAll())
        var refusals: [String?] = []
        for other in others { refusals.append(try await other.refusal()) }
        try await expect(waiting, refusedWith: "Timeout")
        // A read of all keys leaves out those whose owner does not answer.
        let read = try await all.values()
        guard case .dictionary(let values)? = read.first else { throw UnexpectedReply(reply: read) }

        // Answers that come too late are nobody's, and the owner may behave from now on.
        object.release { _ in .values([.variant(.int32(9))]) }
        for member in members { object.rule(member, nil) }
        try await object.owner.settle()
        #expect(try await client.get("demo.Bad.Told") == .int32(1))
        for value in [5, 1] as [Int32] {
          try await client.set("demo.Bad.Told", .int32(value))
          #expect(try await client.get("demo.Bad.Told") == .int32(value))
        }

        let order = client.replies
        let firstTimeout = try #require(waiting.compactMap { order.firstIndex(of: $0.call.number) }.min())
        guard order[firstTimeout...].allSatisfy({ number in !others.contains { $0.number == number } }) else {
          return false
        }
        #expect(refusals.allSatisfy { $0 == nil }, "\(refusals)")
        #expect(values.entries.map(\.key) == [.string("demo.Bad.Text")])
        return true
      }
    }
  }

  @Test("that leave in the middle: OwnerGone for all who wait, and nothing left behind")
  func leaving() async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let client = try await desktop.peer()
      for member in ["Get", "Set", "Do", "RequestFocus"] { object.rule(member) { _, _, _ in .hold } }
      let waiting = callsOfEachKind(client)
      try await object.called("RequestFocus")
      try await object.owner.leave()
      try await expect(waiting, refusedWith: "OwnerGone")
      #expect(try await client.fields().isEmpty)
      #expect(try await client.read("demo.Bad.Told").value == nil)
      #expect(try await refusal { try await client.call(Focus1.focused, "demo.Bad", "Do") } == "NotFocused")
      try await client.register("bad", [("demo.Bad.Told", .string("of any type"))])
    }
  }

  @Test("that leave on being asked", arguments: ["Get", "Set", "Do"])
  func leavingAtOnce(_ member: String) async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let client = try await desktop.peer()
      object.rule(member) { _, _, _ in .leave }
      let call =
        switch member {
        case "Get": client.begin(.get("demo.Bad.Asked"))
        case "Set": client.begin(.set("demo.Bad.Told", .int32(2)))
        default: client.begin(DaemonCall(Focus1.focused, "demo.Bad", "Do"))
        }
      #expect(try await call.refusal() == "OwnerGone")
    }
  }

  @Test("that answer two times")
  func twice() async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let client = try await desktop.peer()
      object.rule("Do") { _, _, _ in .twice([.int32(1)]) }
      object.rule("Get") { _, _, _ in .twice([.variant(.int32(7))]) }
      for _ in 0..<20 {
        #expect(try await client.call(Focus1.focused, "demo.Bad", "Do") == [.int32(1)])
        #expect(try await client.get("demo.Bad.Asked") == .int32(7))
      }
      #expect(client.replies.count == Set(client.replies).count)
    }
  }

  @Test(
    "that answer nonsense: an error to who asked, whatever it is, and what is right later is taken",
    arguments: [
      [], [.int32(1)], [.variant(.string("text")), .int32(1)], [.string("1"), .string("2")],
    ]
      as [[DBusValue]])
  func nonsense(_ values: [DBusValue]) async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let client = try await desktop.peer()
      object.rule("Get") { _, _, _ in .values(values) }
      #expect(try await refusal { try await client.get("demo.Bad.Asked") } == "TypeMismatch")
      object.rule("Set") { _, _, _ in .values(values) }
      _ = try await refusal { try await client.set("demo.Bad.Told", .int32(2)) }
      object.emit(Focus1.properties, "PropertiesChanged", values)
      object.rule("Get", nil)
      try await object.owner.settle()
      #expect(try await client.get("demo.Bad.Asked") == .int32(1))
    }
  }

  @Test("that flood changes: the last value is right, and nothing piles up")
  func flood() async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let client = try await desktop.peer()
      try await client.subscribe()
      func flood(_ numbers: ClosedRange<Int32>) async throws {
        object.owner.perform { thread in
          for number in numbers { thread.emitChanged(object.path, "demo.Bad", [("Told", .int32(number))]) }
        }
        try await object.owner.settle()
        #expect(try await client.get("demo.Bad.Told") == .int32(numbers.upperBound))
      }
      try await flood(2...10_000)
      let before = desktop.daemon.privateMemory
      for round in Int32(1)...3 { try await flood((round * 10_000 + 1)...(round * 10_000 + 10_000)) }
      #expect(desktop.daemon.privateMemory < before + (8 << 20))
      try await client.settle()
      // Each that is told is newer than the one before.
      let told = client.signals.values(of: "demo.Bad.Told").compactMap {
        if case .int32(let n)? = $0 { n } else { nil }
      }
      #expect(told == told.sorted() && told.count == Set(told).count)
    }
  }

  @Test("that send values of 1 MiB, and larger ones, which count as nil")
  func large() async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let client = try await desktop.peer()
      try await client.subscribe()
      let key = "demo.Bad.Text"
      let most = String(repeating: "x", count: (1 << 20) - 5)
      object.change(key, to: .string(most))
      try await client.signals("value") { $0.values(of: key).last == .string(most) ? () : nil }
      #expect(try await client.get(key) == .string(most))
      object.change(key, to: .string(most + "x"))
      try await client.signals("nil") { $0.values(of: key).last == .some(nil) ? () : nil }
      #expect(try await refusal { try await client.get(key) } == "NotFocused")
      let before = desktop.daemon.privateMemory
      for letter in 0..<100 {
        object.change(key, to: .string(String(repeating: letter % 2 == 0 ? "a" : "b", count: (1 << 20) - 5)))
      }
      object.change(key, to: .string("end"))
      try await object.owner.settle()
      #expect(try await client.get(key) == .string("end"))
      #expect(desktop.daemon.privateMemory < before + (64 << 20))
    }
  }

  /// What is kept of them until the last owner has answered must not be the messages: libdbus receives nothing then.
  @Test("that answer a read with values of 10 MiB, all but one: no delay for others")
  func largeAnswersToARead() async throws {
    try await TestDesktop.with { desktop in
      let names = (0..<8).map { "Large\($0)" }
      let xml = document(
        ("demo.Bad", property("Silent", "i", emits: "false") + names.map { property($0, "s", emits: "false") }.joined())
      )
      let object = Exported(try await desktop.peer(), xml, ["demo.Bad.Silent": .int32(1)])
      try await object.owner.register("bad", object: object.path, [("focus", .boolean(true))])
      let large = DBusValue.variant(.string(String(repeating: "x", count: 10 << 20)))
      object.rule("Get") { call, _, _ in call.arguments.last == .string("Silent") ? .hold : .values([large]) }
      let client = try await desktop.peer()
      var round = 0
      // On a slow machine their owner's five seconds are over before the other has come.
      try await eventually("the other is answered before it") {
        round += 1
        object.state.update { $0.calls = [] }
        let all = client.begin(.readAll())
        try await eventually("the questions") { object.count("Get") == names.count + 1 }
        try await object.owner.settle()
        let other = client.begin(.register("other\(round)", object: nil, stored: []))
        _ = try await other.values()
        object.release { _ in .values([.variant(.int32(1))]) }
        _ = try await all.values()
        let order = client.replies
        return try #require(order.firstIndex(of: other.number)) < (try #require(order.firstIndex(of: all.number)))
      }
    }
  }
}
