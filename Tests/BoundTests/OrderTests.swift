import BusSupport
import DBusTypes
import Glibc
import TestSupport
import Testing

/// What one client sends to one owner's object reaches it in the order in which it was sent.
@Suite struct OrderTests {
  private static let xml = document(
    ("demo.A", property("X", "i") + property("Y", "i") + property("Items", "as", emits: "invalidates") + method("Do")))
  private static let values: [String: DBusValue] = [
    "demo.A.X": .int32(1), "demo.A.Y": .int32(2), "demo.A.Items": .strings(["a", "b"]),
  ]

  private static let command = DaemonCall(Focus1.focused, "demo.A", "Do")

  private func field(_ desktop: TestDesktop) async throws -> Exported {
    let object = Exported(try await desktop.peer(), Self.xml, Self.values)
    try await object.owner.register("a", object: object.path, [("focus", .boolean(true))])
    return object
  }

  /// The writes and commands that reached `object`, in order: `X=5`, `Do`.
  private func deeds(_ object: Exported) -> [String] {
    object.state.now.calls.compactMap { call in
      switch call.member {
      case "Set": "\(call.key.suffix(1))=\(call.arguments.last?.variantContent?.basicText ?? "?")"
      case "Do": "Do"
      default: nil
      }
    }
  }

  /// How a command is called.
  enum Way: CaseIterable { case asMethod, withInvoke, withoutReply }

  @Test("A command comes after the writes that its client sent before", arguments: Way.allCases)
  func commands(_ way: Way) async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let client = try await desktop.peer()
      var expected: [String] = []
      var writes: [Peer.Pending] = []
      for number in 10..<60 {
        // Their owner has 5 s for all that are under way.
        if number.isMultiple(of: 5) {
          for write in writes { _ = try await write.values() }
          writes = []
        }
        writes.append(client.begin(.write("demo.A.X", .int32(Int32(number)))))
        switch way {
        case .asMethod: _ = client.begin(Self.command)
        case .withInvoke: _ = client.begin(.invoke("demo.A.Do"))
        case .withoutReply: client.send(Self.command)
        }
        expected += ["X=\(number)", "Do"]
      }
      for write in writes { _ = try await write.values() }
      try await object.called("Do", times: 50)
      #expect(deeds(object) == expected)
    }
  }

  @Test("Others do not wait for a client's writes, nor do writes of other keys for the owner's answer")
  func others() async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let (client, other) = (try await desktop.peer(), try await desktop.peer())
      // On a slow machine their owner's five seconds are over before all have come.
      try await eventually("all are under way at once") {
        object.state.update { $0.calls = [] }
        object.rule("Set") { _, _, _ in .hold }
        var calls = [
          client.begin(.write("demo.A.X", .int32(5))), client.begin(.write("demo.A.X", .int32(6))),
          client.begin(.write("demo.A.Y", .int32(7))), client.begin(Self.command),
        ]
        try await client.settle()
        calls.append(other.begin(Self.command))
        _ = try await calls[4].outcome()
        var steps = [deeds(object)]
        calls.append(other.begin(.write("demo.A.Y", .int32(8))))
        try await object.called("Set", times: 2)
        steps.append(deeds(object))
        object.rule("Set", nil)
        object.release()
        var refusals: [String?] = []
        for call in calls { refusals.append(try await call.refusal()) }
        guard !refusals.contains("Timeout") else { return false }
        #expect(refusals.allSatisfy { $0 == nil }, "\(refusals)")
        steps.append(deeds(object))
        #expect(
          steps == [["X=5", "Do"], ["X=5", "Do", "Y=8"], ["X=5", "Do", "Y=8", "X=6", "Y=7", "Do"]])
        return true
      }
    }
  }

  @Test("A write that must read first holds up its client's later calls, and no others'")
  func reading() async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let (client, other) = (try await desktop.peer(), try await desktop.peer())
      object.rule("Get") { _, _, _ in .hold }
      object.invalidate("demo.A.Items", to: .strings(["a", "b"]))
      try await object.called("Get")
      let write = client.begin(.write("demo.A.Items/0", .string("c")))
      let waiting = client.begin(Self.command)
      try await client.settle()
      _ = try await other.call(Focus1.focused, "demo.A", "Do")
      #expect(deeds(object) == ["Do"])
      object.rule("Get", nil)
      object.release()
      _ = try await write.values()
      _ = try await waiting.values()
      #expect(
        object.state.now.calls.compactMap { ["Set", "Do"].contains($0.member) ? $0.member : nil } == [
          "Do", "Set", "Do",
        ])
    }
  }

  @Test("Nothing comes between the look whether a value is still that of a revision, and the write")
  func comparing() async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let (client, other) = (try await desktop.peer(), try await desktop.peer())
      let revision = try await client.read("demo.A.X").revision
      object.rule("Get") { _, _, _ in .hold }
      let update = client.begin(.write("demo.A.X", .int32(2), [("revision", .uint64(revision))]))
      try await object.called("Get")
      let calls = [
        other.begin(.write("demo.A.Y", .int32(7))), other.begin(Self.command), client.begin(.invoke("demo.A.Do")),
      ]
      for peer in [client, other] { try await peer.settle() }
      #expect(deeds(object).isEmpty)
      object.rule("Get", nil)
      object.release()
      #expect(try await update.refusal() == nil)
      for call in calls { #expect(try await call.refusal() == nil) }
      #expect(deeds(object).first == "X=2" && deeds(object).sorted() == ["Do", "Do", "X=2", "Y=7"])
    }
  }

  @Test(
    "What waits for an owner that is silent ends with Timeout, in its turn, and nothing of it reaches the owner later")
  func silence() async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let client = try await desktop.peer()
      object.rule("Set") { _, _, _ in .hold }
      let calls = [
        client.begin(.write("demo.A.X", .int32(5))), client.begin(.write("demo.A.X", .int32(6))),
        client.begin(Self.command), client.begin(.invoke("demo.A.Do")),
      ]
      for call in calls { #expect(try await call.refusal() == "Timeout") }
      #expect(deeds(object) == ["X=5"])
      object.rule("Set", nil)
      object.release()
      _ = try await client.call(Focus1.focused, "demo.A", "Do")
      #expect(deeds(object) == ["X=5", "Do"])
    }
  }

  @Test("The descriptors of calls that wait are limited, those of calls that do not wait are not kept")
  func descriptors() async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let (client, other) = (try await desktop.peer(), try await desktop.peer())
      let open = desktop.daemon.descriptors
      let file = DBusValue.unixFD(UnixFD(owning: dup(0)))
      let files = [DBusValue](repeating: file, count: 16)
      object.rule("Set") { _, _, _ in .hold }
      _ = client.begin(.write("demo.A.X", .int32(5)))
      for _ in 0..<8 { _ = client.begin(.write("demo.A.X", .array(try DBusArray(of: .unixFD, files)))) }
      try await object.called("Set")
      let waiting = (0..<4).map { _ in client.begin(DaemonCall(Focus1.focused, "demo.A", "Do", files)) }
      #expect(try await refusal { try await client.call(Focus1.focused, "demo.A", "Do", files) } == "LimitsExceeded")
      #expect(desktop.daemon.descriptors <= open + 64)
      // Nobody else is refused, since that passes nothing on behind others.
      _ = try await other.call(Focus1.focused, "demo.A", "Do", files)
      object.rule("Set", nil)
      object.release()
      for call in waiting { _ = try await call.values() }
      try await client.settle()
      #expect(desktop.daemon.descriptors == open)
    }
  }

  @Test("Of what has been passed on, nothing is kept while its owner takes its time")
  func passedOn() async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let client = try await desktop.peer()
      let open = desktop.daemon.descriptors
      let files = [DBusValue](repeating: .unixFD(UnixFD(owning: dup(0))), count: 16)
      let large = DBusValue.array(DBusArray(bytes: [UInt8](repeating: 7, count: 4 << 20)))
      object.rule("Do") { _, _, _ in .hold }
      var calls = (0..<8).map { _ in client.begin(DaemonCall(Focus1.focused, "demo.A", "Do", files)) }
      try await client.settle()
      #expect(desktop.daemon.descriptors == open)
      let before = desktop.daemon.residentMemory
      calls += (0..<16).map { _ in client.begin(DaemonCall(Focus1.focused, "demo.A", "Do", [large])) }
      try await client.settle()
      #expect(isSanitized || desktop.daemon.residentMemory < before + 16 << 10)
      object.rule("Do", nil)
      object.release()
      for call in calls { _ = try await call.values() }
    }
  }
}

/// What waits for an owner ends with it.
extension OrderTests {
  @Test("What waits for an owner that leaves ends with OwnerGone, the rest of the queue with it")
  func leaving() async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let client = try await desktop.peer()
      object.rule("Set") { _, _, _ in .hold }
      var calls = (0..<8).map { client.begin(.write("demo.A.X", .int32($0))) }
      calls += (0..<8).map { _ in client.begin(Self.command) }
      calls.append(object.owner.begin(.field("a", "Examine")))
      try await client.settle()
      try await object.owner.leave()
      for call in calls.dropLast() { #expect(try await call.refusal() == "OwnerGone") }
      #expect(try await client.fields().isEmpty)
    }
  }
}
