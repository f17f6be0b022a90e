import BusSupport
import DBusTypes
import TestSupport
import Testing

/// Many at once, and many that do not behave: everything is answered, and nothing is left of it.
@Suite(.serialized) struct CrowdTests {
  /// Connections that register fields and vanish, without a word.
  @Test func connectionsThatRegisterAndVanish() async throws {
    try await TestDesktop.with { desktop in
      let judge = try await desktop.peer()
      try await judge.subscribe()
      let crowd = isSlow ? 200 : 40
      try await desktop.daemon.needsNoMore("\(crowd * 5) connections that vanish") {
        let goal = judge.signals.count { $0.member == "InterfacesRemoved" } + crowd * 3
        let callers = try await Self.peers(crowd, on: desktop)
        for (number, caller) in callers.enumerated() {
          try await caller.register("outer\(number)", [("demo.Crowd.Value", .string("x"))])
          let parent = Focus1.fieldPath("outer\(number)")
          for id in ["inner", "other"] {
            try await caller.register(
              "\(id)\(number)", [("demo.Crowd.Value", .string(id))],
              [("parent", parent), ("scope", .string("scene"))])
          }
          try await caller.field("inner\(number)", "Focus")
        }
        // All at once: they leave in few turns.
        try await withThrowingTaskGroup(of: Void.self) { group in
          for caller in callers { group.addTask { try await caller.leave() } }
          try await group.waitForAll()
        }
        // Each field is gone from its own object, and the mirror's interface goes with the last.
        try await eventually("no field is left") { try await judge.owners().isEmpty }
        try await judge.signals("removals") { signals in
          signals.count { $0.member == "InterfacesRemoved" } >= goal ? true : nil
        }
        #expect(try await judge.fields("FocusPath") == [])
        #expect(try await judge.fields("History") == [])
      }
    }
  }

  private static func peers(_ count: Int, on desktop: TestDesktop) async throws -> [Peer] {
    var peers: [Peer] = []
    for _ in 0..<count { peers.append(try await desktop.peer()) }
    return peers
  }

  @Test func tenThousandFields() async throws {
    try await TestDesktop.with { desktop in
      let owners = isSlow ? 4 : 2
      let each = isSlow ? 2_500 : 500
      try await desktop.daemon.needsNoMore(times: 2, "\(owners * each) fields") {
        let callers = try await Self.peers(owners, on: desktop)
        for (number, caller) in callers.enumerated() {
          let answers = try await caller.calls(each) { field in
            .register("f\(number)_\(field)", [("demo.Many.Value", .int32(Int32(field)))])
          }
          #expect(answers == [nil: each])
        }
        #expect(try await callers[0].owners().count == owners * each)
        for (number, caller) in callers.enumerated() {
          let answers = try await caller.calls(each) {
            .field("f\(number)_\($0)", "Focus")
          }
          #expect(answers == [nil: each])
        }
        #expect(try await callers[0].read("demo.Many.Value").value == .int32(Int32(each - 1)))
        for (number, caller) in callers.enumerated() {
          let answers = try await caller.calls(each) {
            .field("f\(number)_\($0)", "Unregister")
          }
          #expect(answers == [nil: each])
        }
        #expect(try await callers[0].owners().isEmpty)
      }
    }
  }

  @Test func manyMovesOfFocus() async throws {
    try await TestDesktop.with { desktop in
      let moves = isSlow ? 200_000 : 4_000
      let caller = try await desktop.peer()
      for number in 0..<50 {
        try await caller.register("f\(number)", [("demo.Focus.Number", .int32(Int32(number)))])
      }
      try await desktop.daemon.needsNoMore("\(moves * 5) moves of focus") {
        let answers = try await caller.calls(moves) {
          .field("f\($0 * 7 % 50)", "Focus")
        }
        #expect(answers == [nil: moves])
        #expect(try await caller.read("demo.Focus.Number").value == .int32(Int32((moves - 1) * 7 % 50)))
      }
    }
  }

  /// Clients that ask, and ask to be told, and never read: what they are sent waits on the bus, not in the daemon.
  @Test func clientsThatNeverRead() async throws {
    try await TestDesktop.with { desktop in
      let caller = try await desktop.peer()
      try await caller.register("a", [("demo.Deaf.Value", .int32(0))])
      try await caller.field("a", "Focus")
      let deaf = try (0..<4).map { _ in try Glutton(on: desktop.bus) }
      for one in deaf { try one.listen() }
      let calls = isSlow ? 5_000 : 500
      // A KiB for each answer is less than it takes.
      try await desktop.daemon.needsNoMore(queue: calls * 4, "\(calls * 4) calls that nobody reads the answers of") {
        for one in deaf {
          for _ in 0..<calls {
            try one.begin(.call(to: Focus1.name, Focus1.manager, Focus1.objectManager, "GetManagedObjects"))
          }
        }
        let answers = try await caller.calls(calls) { number in
          .set("demo.Deaf.Value", .int32(Int32(number)))
        }
        #expect(answers == [nil: calls])
        #expect(try await caller.read("demo.Deaf.Value").value == .int32(Int32(calls - 1)))
      }
      withExtendedLifetime(deaf) {}
    }
  }
}
