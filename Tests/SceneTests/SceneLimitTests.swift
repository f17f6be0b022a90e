import BusSupport
import DBus
import DBusTypes
import TestSupport
import Testing

/// What one owner may take up: to the limit, one past it, and again after giving something back.
@Suite struct SceneLimitTests {
  private static func value(_ size: Int) -> DBusValue {
    .array(DBusArray(bytes: [UInt8](repeating: 7, count: size - 4)))
  }

  @Test func fieldsUpTo4096() async throws {
    try await TestDesktop.with { desktop in
      let (owner, other) = (try await Observer(desktop), try await Observer(desktop))
      for index in 0..<4096 {
        guard try await owner.call(.register("f\(index)")).last == "reply" else {
          Issue.record("field \(index) was refused")
          return
        }
      }
      #expect(try await owner.call(.register("more")) == ["LimitsExceeded"])
      #expect(try await other.call(.register("theirs")).last == "reply")
      try await owner.call(.field("f7", "Unregister"))
      #expect(try await owner.call(.register("more")).last == "reply")
      #expect(try await owner.call(.register("again")) == ["LimitsExceeded"])
    }
  }

  @Test func bytesUpTo16MiB() async throws {
    try await TestDesktop.with { desktop in
      let (owner, other) = (try await Observer(desktop), try await Observer(desktop))
      for index in 0..<16 {
        #expect(try await owner.call(.register("f\(index)", [("demo.Big.X", Self.value(1 << 20))])).last == "reply")
      }
      let small = ("demo.Big.Small", DBusValue.byte(1))
      #expect(try await owner.call(.register("more", [small])) == ["LimitsExceeded"])
      #expect(try await other.call(.register("theirs", [small])).last == "reply")
      // A field's own limit still counts in bytes of one value.
      #expect(
        try await other.call(.register("large", [("demo.Big.X", Self.value((1 << 20) + 1))])) == ["LimitsExceeded"])
      try await owner.call(.set("demo.Big.X", Self.value((1 << 20) - 1), at: Focus1.field("f0")))
      #expect(try await owner.call(.register("more", [small])).last == "reply")
      #expect(
        try await owner.call(.field("more", "Publish", [.properties([("demo.Big.Other", .byte(1))]), .properties([])]))
          == [
            "LimitsExceeded"
          ])
      #expect(
        try await owner.call(.set("demo.Big.X", Self.value(1 << 20), at: Focus1.field("f0"))) == ["LimitsExceeded"])
      try await owner.call(.field("more", "Withdraw", [.strings(["demo.Big.Small"])]))
      #expect(try await owner.call(.set("demo.Big.X", Self.value(1 << 20), at: Focus1.field("f0"))).last == "reply")
      #expect(try await owner.call(.readAll(at: Focus1.field("f0"))).last == "reply")
    }
  }

  @Test func whatLeavesGivesBackAll() async throws {
    try await TestDesktop.with { desktop in
      let watcher = try await Observer(desktop)
      func managed() async throws -> DBusValue? { try await watcher.peer.call(.managedObjects).first }
      let before = try await managed()
      for _ in 0..<200 {
        // A new connection each time, which leaves with its field.
        let visitor = try await Observer(desktop)
        #expect(
          try await visitor.call(.register("", [("demo.Big.X", Self.value(1 << 20))], [("focus", .boolean(true))])).last
            == "reply")
      }
      // The bus tells of the last one's end when it comes to that.
      try await eventually("all is as before") { try await managed() == before }
    }
  }

  @Test func theDeepestValuesAreShownEverywhere() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await Observer(desktop)
      let deepest = (0..<56).reduce(DBusValue.byte(1)) { value, _ in .variant(value) }
      #expect(
        try await owner.call(.register("deep", [("demo.Deep.X", deepest)], [("focus", .boolean(true))])).last == "reply"
      )
      for call in [
        .managedObjects, .readAll(), .getAll(), .read("demo.Deep.X"),
      ] as [DaemonCall] {
        #expect(try await owner.call(call) == ["reply"], "\(call.member)")
      }
      // Deeper ones are refused.
      for depth in 57...60 {
        let deeper = (0..<depth).reduce(DBusValue.byte(1)) { value, _ in .variant(value) }
        let answer = try await owner.call(.register("deep\(depth)", [("demo.Deeper.X", deeper)]))
        #expect(answer == ["LimitsExceeded"])
        #expect(
          try await owner.call(.managedObjects) == ["reply"])
      }
    }
  }
}
