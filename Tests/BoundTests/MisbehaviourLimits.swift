import BusSupport
import DBusTypes
import TestSupport
import Testing

/// How much may wait for an owner that does not answer.
extension MisbehaviourTests {
  /// What a call of 3 MiB is large by.
  enum LargePart: String, CaseIterable, CustomTestStringConvertible {
    case label = "a label"
    case active = "what makes a field active"
    case pointer = "a pointer"
    case writesPointer = "the pointer of a write"
    case command = "the arguments of a command that waits"

    var testDescription: String { rawValue }
  }

  /// The same on whichever path it comes: 16 MiB may wait for one owner.
  @Test("with calls of 3 MiB under way: the sixth is LimitsExceeded", arguments: LargePart.allCases)
  func tooManyBytesOfNames(part: LargePart) async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let client = try await desktop.peer()
      let large = String(repeating: "x", count: 3 << 20)
      func register(_ id: String, _ options: Named) -> Peer.Pending {
        object.owner.begin(.register(id, object: object.path, options))
      }
      // On a slow machine their owner's five seconds are over before all have come.
      try await eventually("six are under way at once") {
        for member in ["Get", "Introspect", "Set"] { object.rule(member) { _, _, _ in .hold } }
        // The second waits for the first, and commands for both.
        let writes = part == .command ? (2...3).map { client.begin(.set("demo.Bad.Told", .int32($0))) } : []
        let calls = (0..<6).map { index in
          switch part {
          case .label: register("more\(index)", [("label", .string(large))])
          case .active:
            register(
              "more\(index)",
              [
                ("scope", .string("session")),
                ("active", .structure([.string("demo.Bad.Text"), .variant(.string(large))])),
              ])
          case .pointer: client.begin(.read("demo.Bad.Asked/" + large))
          case .writesPointer: client.begin(.write("demo.Bad.Asked/" + large, .int32(1)))
          case .command: client.begin(DaemonCall(Focus1.focused, "demo.Bad", "Do", [.string(large)]))
          }
        }
        let refusal = try await calls[5].refusal()
        for member in ["Get", "Introspect", "Set"] { object.rule(member, nil) }
        object.release()
        for call in writes + calls { _ = try await call.refusal() }
        return refusal == "LimitsExceeded"
      }
    }
  }

  @Test("with 256 calls under way: the next is LimitsExceeded, and when they are over all is as before")
  func tooManyCalls() async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let client = try await desktop.peer()
      var waiting: [Peer.Pending] = []
      // On a slow machine their owner's five seconds are over before all have come.
      try await eventually("256 calls are under way at once") {
        for member in ["Get", "Set", "Do"] { object.rule(member) { _, _, _ in .hold } }
        waiting = (0..<256).map { index in
          switch index % 4 {
          case 0: client.begin(DaemonCall(Focus1.focused, "demo.Bad", "Do"))
          case 1: client.begin(.get("demo.Bad.Asked"))
          case 2: client.begin(.set("demo.Bad.Told", .int32(Int32(index))))
          default: client.begin(.read("demo.Bad.Asked"))
          }
        }
        let more = [
          client.begin(DaemonCall(Focus1.focused, "demo.Bad", "Do")), client.begin(.get("demo.Bad.Asked")),
          client.begin(.set("demo.Bad.Told", .int32(1000))), client.begin(.invoke("demo.Bad.Do")),
        ]
        try await client.settle()
        let own = object.owner.begin(.register("more", object: object.path))
        var refusals: [String?] = []
        for call in more + [own] { refusals.append(try await call.refusal()) }
        if client.replies.filter({ number in waiting.contains { $0.number == number } }).isEmpty {
          #expect(refusals.allSatisfy { $0 == "LimitsExceeded" }, "\(refusals)")
          return true
        }
        for member in ["Get", "Set", "Do"] { object.rule(member, nil) }
        object.release()
        for call in waiting { _ = try await call.refusal() }
        if refusals.last == .some(nil) { try await object.owner.field("more", "Unregister") }
        return false
      }
      // What needs no owner, or another one, is not concerned.
      let other = try await desktop.peer()
      let well = Exported(other, Self.xml, ["demo.Bad.Asked": .int32(3)])
      try await other.register("well", object: well.path)
      #expect(try await client.get("demo.Bad.Asked", at: Focus1.field("well")) == .int32(3))

      for member in ["Get", "Set", "Do"] { object.rule(member, nil) }
      object.release()
      for call in waiting { _ = try await call.refusal() }
      #expect(try await client.get("demo.Bad.Asked") == .int32(1))
      // Every place is free again.
      object.rule("Do") { _, _, _ in .hold }
      let again = (0..<256).map { _ in client.begin(DaemonCall(Focus1.focused, "demo.Bad", "Do")) }
      // On a slow machine their owner's five seconds may be over by then.
      let refused = try await refusal { try await client.call(Focus1.focused, "demo.Bad", "Do") }
      let hasRoom = client.replies.contains { number in again.contains { $0.number == number } }
      #expect(refused == "LimitsExceeded" || hasRoom, "\(refused ?? "")")
      object.rule("Do", nil)
      object.release()
      for call in again { #expect([nil, "Timeout"].contains(try await call.refusal())) }
    }
  }

  @Test("with writes of 16 MiB under way: the next is LimitsExceeded, and one without a value is not")
  func tooManyBytes() async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let client = try await desktop.peer()
      let text = DBusValue.string(String(repeating: "x", count: (1 << 20) - 5))
      // On a slow machine their owner's five seconds are over before all have come.
      try await eventually("16 MiB are under way at once") {
        object.rule("Set") { _, _, _ in .hold }
        let waiting = (0..<16).map { _ in client.begin(.write("demo.Bad.Text", text)) }
        try await client.settle()
        let next = try await client.begin(.write("demo.Bad.Text", .string(""))).refusal()
        _ = try await client.get("demo.Bad.Asked")
        object.rule("Set", nil)
        object.release()
        var isLate = false
        for call in waiting {
          let refusal = try await call.refusal()
          #expect([nil, "Timeout"].contains(refusal))
          isLate = isLate || refusal != nil
        }
        #expect(next == "LimitsExceeded" || isLate)
        return next == "LimitsExceeded"
      }
      // All of it is free again.
      for _ in 0..<2 { _ = try await client.write("demo.Bad.Text", text) }
    }
  }
}
