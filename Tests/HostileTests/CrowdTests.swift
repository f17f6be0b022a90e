import BusSupport
import DBus
import DBusTypes
import TestSupport
import Testing

/// Many at once, and many that do not behave: everything is answered, and nothing is left of it.
@Suite(.serialized) struct CrowdTests {
  /// Connections that register fields and vanish, without a word.
  @Test func connectionsThatRegisterAndVanish() async throws {
    try await PrivateBus.with { bus in
      let daemon = try await Focus1.start(on: bus)
      let judge = try Caller(on: bus)
      try judge.listen()
      let removed = Observed(0)
      judge.onSignal = { if $0.member?.text == "InterfacesRemoved" { removed.update { $0 += 1 } } }
      let crowd = isSlow ? 200 : 40
      try await daemon.needsNoMore("\(crowd * 5) connections that vanish") {
        try await onThread {
          let goal = removed.now + crowd * 3
          var callers = try (0..<crowd).map { _ in try Caller(on: bus) }
          for (number, caller) in callers.enumerated() {
            try caller.register("outer\(number)", [(name: "demo.Crowd.Value", value: .string("x"))])
            let parent = DBusValue.objectPath(try ObjectPath(Focus1.field("outer\(number)")))
            for id in ["inner", "other"] {
              try caller.register(
                "\(id)\(number)", [(name: "demo.Crowd.Value", value: .string(id))],
                [(name: "parent", value: parent), (name: "scope", value: .string("scene"))])
            }
            try caller.field("inner\(number)", "Focus")
          }
          callers = []
          // Each field is gone from its own object, and the mirror's interface goes with the last.
          while try !judge.owners().isEmpty {}
          judge.wait { removed.now >= goal }
          #expect(try judge.fields("FocusPath") == [])
          #expect(try judge.fields("History") == [])
        }
      }
      try await daemon.stop()
    }
  }

  @Test func tenThousandFields() async throws {
    try await PrivateBus.with { bus in
      let daemon = try await Focus1.start(on: bus)
      let owners = isSlow ? 4 : 2
      let each = isSlow ? 2_500 : 500
      try await daemon.needsNoMore(times: 2, "\(owners * each) fields") {
        try await onThread {
          let callers = try (0..<owners).map { _ in try Caller(on: bus) }
          for (number, caller) in callers.enumerated() {
            let answers = try caller.calls(each) { field in
              try Caller.message(
                Focus1.manager, Focus1.managerInterface, "Register",
                [
                  .string("f\(number)_\(field)"),
                  .properties([(name: "demo.Many.Value", value: .int32(Int32(field)))]), .properties([]),
                ])
            }
            #expect(answers == [nil: each])
          }
          #expect(try callers[0].owners().count == owners * each)
          for (number, caller) in callers.enumerated() {
            let answers = try caller.calls(each) {
              try Caller.message(Focus1.field("f\(number)_\($0)"), Focus1.fieldInterface, "Focus")
            }
            #expect(answers == [nil: each])
          }
          #expect(try callers[0].read("demo.Many.Value").value == .int32(Int32(each - 1)))
          for (number, caller) in callers.enumerated() {
            let answers = try caller.calls(each) {
              try Caller.message(Focus1.field("f\(number)_\($0)"), Focus1.fieldInterface, "Unregister")
            }
            #expect(answers == [nil: each])
          }
          #expect(try callers[0].owners().isEmpty)
        }
      }
      try await daemon.stop()
    }
  }

  @Test func manyMovesOfFocus() async throws {
    try await PrivateBus.with { bus in
      let daemon = try await Focus1.start(on: bus)
      let moves = isSlow ? 200_000 : 4_000
      let caller = try Caller(on: bus)
      try await onThread {
        for number in 0..<50 {
          try caller.register("f\(number)", [(name: "demo.Focus.Number", value: .int32(Int32(number)))])
        }
      }
      try await daemon.needsNoMore("\(moves * 5) moves of focus") {
        try await onThread {
          let answers = try caller.calls(moves) {
            try Caller.message(Focus1.field("f\($0 * 7 % 50)"), Focus1.fieldInterface, "Focus")
          }
          #expect(answers == [nil: moves])
          #expect(try caller.read("demo.Focus.Number").value == .int32(Int32((moves - 1) * 7 % 50)))
        }
      }
      try await daemon.stop()
    }
  }

  /// Clients that ask, and ask to be told, and never read: what they are sent waits on the bus, not in the daemon.
  @Test func clientsThatNeverRead() async throws {
    try await PrivateBus.with { bus in
      let daemon = try await Focus1.start(on: bus)
      let caller = try Caller(on: bus)
      try await onThread { try caller.register("a", [(name: "demo.Deaf.Value", value: .int32(0))]) }
      try await onThread { try caller.field("a", "Focus") }
      let deaf = try (0..<4).map { _ in try Caller(on: bus) }
      let calls = isSlow ? 5_000 : 500
      try await daemon.needsNoMore("\(calls * 4) calls that nobody reads the answers of") {
        try await onThread {
          for one in deaf {
            try one.listen()
            for _ in 0..<calls {
              try one.send(
                try Caller.message(Focus1.manager, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"))
            }
            one.flush()
          }
          let answers = try caller.calls(calls) { number in
            try Caller.message(
              Focus1.focused, Focus1.properties, "Set",
              [.string("demo.Deaf"), .string("Value"), .variant(.int32(Int32(number)))])
          }
          #expect(answers == [nil: calls])
          #expect(try caller.read("demo.Deaf.Value").value == .int32(Int32(calls - 1)))
        }
      }
      withExtendedLifetime(deaf) {}
      try await daemon.stop()
    }
  }
}
