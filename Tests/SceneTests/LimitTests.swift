import DBus
import DBusTypes
import TestSupport
import Testing

/// What one owner may take up: to the limit, one past it, and again after giving something back.
@Suite struct OwnerLimitTests {
  private static func value(_ size: Int) -> DBusValue {
    .array(DBusArray(bytes: [UInt8](repeating: 7, count: size - 4)))
  }

  @Test func fieldsUpTo4096() async throws {
    try await Session.with { session in
      let (owner, other) = (try Observer(on: session.bus), try Observer(on: session.bus))
      for index in 0..<4096 {
        guard try owner.register("f\(index)").last == "reply" else {
          Issue.record("field \(index) was refused")
          return
        }
      }
      #expect(try owner.register("more") == ["LimitsExceeded"])
      #expect(try other.register("theirs").last == "reply")
      try owner.field("f7", "Unregister")
      #expect(try owner.register("more").last == "reply")
      #expect(try owner.register("again") == ["LimitsExceeded"])
    }
  }

  @Test func bytesUpTo16MiB() async throws {
    try await Session.with { session in
      let (owner, other) = (try Observer(on: session.bus), try Observer(on: session.bus))
      for index in 0..<16 {
        #expect(try owner.register("f\(index)", [("demo.Big.X", Self.value(1 << 20))]).last == "reply")
      }
      let small = ("demo.Big.Small", DBusValue.byte(1))
      #expect(try owner.register("more", [small]) == ["LimitsExceeded"])
      #expect(try other.register("theirs", [small]).last == "reply")
      // A field's own limit still counts in bytes of one value.
      #expect(try other.register("large", [("demo.Big.X", Self.value((1 << 20) + 1))]) == ["LimitsExceeded"])
      try owner.set("demo.Big", "X", Self.value((1 << 20) - 1), at: Names.field("f0"))
      #expect(try owner.register("more", [small]).last == "reply")
      #expect(
        try owner.field("more", "Publish", [.properties([("demo.Big.Other", .byte(1))]), .properties([])]) == [
          "LimitsExceeded"
        ])
      #expect(try owner.set("demo.Big", "X", Self.value(1 << 20), at: Names.field("f0")) == ["LimitsExceeded"])
      try owner.field("more", "Withdraw", [.strings(["demo.Big.Small"])])
      #expect(try owner.set("demo.Big", "X", Self.value(1 << 20), at: Names.field("f0")).last == "reply")
      #expect(try owner.call(Names.field("f0"), "org.focusd.Focus1.Bindings", "ReadAll").last == "reply")
    }
  }

  @Test func whatLeavesGivesBackAll() async throws {
    try await Session.with { session in
      let watcher = try Observer(on: session.bus)
      func managed() throws -> DBusValue? {
        try watcher.call(Names.manager, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
        return watcher.results.first
      }
      let before = try managed()
      for _ in 0..<200 {
        // A new connection each time, which leaves with its field.
        let visitor = try Observer(on: session.bus)
        #expect(
          try visitor.register("", [("demo.Big.X", Self.value(1 << 20))], [("focus", .boolean(true))]).last
            == "reply")
      }
      // The bus tells of the last one's end when it comes to that.
      let deadline = SuspendingClock.now + .seconds(60)
      while try managed() != before, SuspendingClock.now < deadline {}
      #expect(try managed() == before)
    }
  }

  @Test func theDeepestValuesAreShownEverywhere() async throws {
    try await Session.with { session in
      let owner = try Observer(on: session.bus)
      let deepest = (0..<56).reduce(DBusValue.byte(1)) { value, _ in .variant(value) }
      #expect(try owner.register("deep", [("demo.Deep.X", deepest)], [("focus", .boolean(true))]).last == "reply")
      for (path, interface, member, arguments) in [
        (Names.manager, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", [DBusValue]()),
        (Names.focused, "org.focusd.Focus1.Bindings", "ReadAll", []),
        (Names.focused, Names.properties, "GetAll", [.string("")]),
        (Names.focused, "org.focusd.Focus1.Bindings", "Read", [.string("demo.Deep.X")]),
      ] {
        #expect(try owner.call(path, interface, member, arguments) == ["reply"], "\(member)")
      }
      // Deeper ones are refused.
      for depth in 57...60 {
        let deeper = (0..<depth).reduce(DBusValue.byte(1)) { value, _ in .variant(value) }
        let answer = try owner.register("deep\(depth)", [("demo.Deeper.X", deeper)])
        #expect(answer == ["LimitsExceeded"])
        #expect(
          try owner.call(Names.manager, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects") == ["reply"])
      }
    }
  }
}
