import BusSupport
import DBusTypes
import TestSupport
import Testing

@Suite("Examine: an object is looked at anew")
struct ExamineTests {
  private static let before = document(
    ("demo.A", property("X", "i") + property("Y", "i") + property("Kind", "s", "read") + method("Do") + method("Stay")))
  private static let after = document(
    ("demo.A", property("X", "i") + property("Z", "i") + property("Kind", "s") + method("Stay") + method("New")),
    ("demo.B", property("New", "s")))

  private func field(_ desktop: TestDesktop, _ options: Named = []) async throws -> Exported {
    let object = Exported(
      try await desktop.peer(), Self.before,
      ["demo.A.X": .int32(1), "demo.A.Y": .int32(2), "demo.A.Kind": .string("old")])
    try await object.owner.register("a", object: object.path, [("focus", .boolean(true))] + options)
    return object
  }

  private func change(_ object: Exported) {
    object.state.update {
      $0.xml = Self.after
      $0.values = [
        "demo.A.X": .int32(1), "demo.A.Z": .int32(3), "demo.A.Kind": .string("old"), "demo.B.New": .string("new"),
      ]
    }
  }

  @Test("What vanished is nil, what is new appears, what is as it was keeps its revision; all before the reply")
  func anew() async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let client = try await desktop.peer()
      try await object.owner.setEnabled("a", ["demo.A.Stay": false])
      #expect(try await refusal { try await client.set("demo.A.Kind", .string("x")) } == "PropertyReadOnly")
      change(object)
      let x = try await client.read("demo.A.X")
      try await object.owner.subscribe()
      try await object.owner.field("a", "Examine")
      // The owner's own signals: those that the reply follows.
      let signals = object.owner.signals
      #expect(signals.values(of: "demo.A.Y").last == .some(nil))
      #expect(signals.values(of: "demo.A.Z").last == .int32(3))
      #expect(signals.values(of: "demo.B.New").last == .string("new"))
      #expect(signals.values(of: "demo.A.X").isEmpty)
      #expect(try await client.keys() == ["demo.A.Kind", "demo.A.X", "demo.A.Z", "demo.B.New"])
      #expect(try await client.commands() == ["demo.A.New": true, "demo.A.Stay": false])
      #expect(try await client.read("demo.A.X") == x)
      try await client.set("demo.A.Kind", .string("x"))
      #expect(try await client.write("demo.A.Z", .int32(9)).value == .int32(9))
      #expect(try await refusal { try await client.call(Focus1.focused, "demo.A", "Do") } == "NotFocused")
      // Signals of the object still come, once.
      object.change("demo.B.New", to: .string("newer"))
      try await object.owner.signals("value") { $0.values(of: "demo.B.New").last == .string("newer") ? () : nil }
      #expect(object.owner.signals.values(of: "demo.B.New") == [.string("new"), .string("newer")])
    }
  }

  @Test(
    "An object that fails changes nothing",
    arguments: [("Introspect", "org.example.Error.Odd"), ("GetAll", "org.freedesktop.DBus.Error.UnknownObject")])
  func failing(_ member: String, _ error: String) async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let client = try await desktop.peer()
      change(object)
      try await client.subscribe()
      let all = try await client.readAll()
      object.rule(member) { _, _, _ in .error(error, "odd") }
      #expect(try await refusal { try await object.owner.field("a", "Examine") } == "InvalidArgs")
      object.rule(member) { _, _, _ in .values([.int32(1)]) }
      #expect(try await refusal { try await object.owner.field("a", "Examine") } == "InvalidArgs")
      #expect(try await client.readAll() == all)
      #expect(try await client.commands() == ["demo.A.Do": true, "demo.A.Stay": true])
      #expect(!client.signals.contains { $0.path.hasPrefix(Focus1.manager) && !$0.tellsProcess })
      #expect(try await client.write("demo.A.Y", .int32(5)).value == .int32(5))
      object.rule(member, nil)
      try await object.owner.field("a", "Examine")
      #expect(try await client.keys().contains("demo.B.New"))
    }
  }

  @Test("What it reads is known then, also if the owner did not tell it before")
  func stale() async throws {
    try await TestDesktop.with { desktop in
      let (owner, client) = (try await desktop.peer(), try await desktop.peer())
      let object = Exported(
        owner, document(("demo.A", property("X", "i", emits: "invalidates"))), ["demo.A.X": .int32(1)])
      for id in ["a", "b"] { try await owner.register(id, object: object.path) }
      object.rule("Get") { _, _, _ in .error("org.example.Error.Odd", "odd") }
      object.invalidate("demo.A.X", to: .int32(5))
      try await eventually("stale") {
        try await client.begin(.get("demo.A.X", at: Focus1.field("a"))).refusal() == "org.example.Error.Odd"
      }
      try await owner.field("a", "Examine")
      for id in ["a", "b"] { #expect(try await client.get("demo.A.X", at: Focus1.field(id)) == .int32(5)) }
    }
  }

  @Test("It comes after the writes under way, and later writes do not wait for it")
  func order() async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let client = try await desktop.peer()
      object.rule("Set") { _, _, _ in .hold }
      let first = client.begin(.write("demo.A.X", .int32(7)))
      try await object.called("Set")
      let looked = object.count("Introspect")
      let examining = object.owner.begin(.field("a", "Examine"))
      let again = object.owner.begin(.field("a", "Examine"))
      try await object.owner.settle()
      // Another key's write is passed on at once.
      _ = client.begin(.write("demo.A.Y", .int32(8)))
      let new = client.begin(.write("demo.A.X", .int32(9)))
      try await object.called("Set", times: 2)
      // Others are served meanwhile, and reads do not wait.
      #expect(try await client.get("demo.A.Y") == .int32(2))
      #expect(object.count("Introspect") == looked)
      object.rule("Set", nil)
      change(object)
      object.release()
      _ = try await first.values()
      _ = try await examining.values()
      _ = try await again.values()
      #expect(object.count("Introspect") == looked + 2)
      _ = try await new.values()
      #expect(try await client.get("demo.A.X") == .int32(9))
    }
  }

  @Test(
    "An answer to Get that comes later is not passed on, if the key cannot be read any more", arguments: [true, false])
  func lateAnswer(hasValue: Bool) async throws {
    try await TestDesktop.with { desktop in
      let (owner, client) = (try await desktop.peer(), try await desktop.peer())
      let object = Exported(owner, document(("demo.A", property("X", "i"))), ["demo.A.X": .int32(1)])
      try await owner.register(
        "a", object: object.path, [("live", .strings(["demo.A.X"])), ("focus", .boolean(true))])
      object.rule("Get") { _, _, _ in .hold }
      let reading = client.begin(.get("demo.A.X"))
      try await object.called("Get")
      object.state.update { ($0.xml, $0.values) = (document(("demo.A", property("X", "i", "write"))), [:]) }
      try await owner.field("a", "Examine")
      if hasValue { object.state.update { $0.values = ["demo.A.X": .int32(7)] } }
      object.rule("Get", nil)
      object.release()
      #expect(try await reading.refusal() == "AccessDenied")
    }
  }

  @Test("Only the owner may, and only of a field with an object")
  func refused() async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let client = try await desktop.peer()
      #expect(try await refusal { try await client.field("a", "Examine") } == "AccessDenied")
      #expect(try await refusal { try await client.field("gone", "Examine") } == "UnknownObject")
      try await client.register("stored", [("demo.A.X", .int32(1))])
      #expect(try await refusal { try await client.field("stored", "Examine") } == "InvalidArgs")
      // A field that goes meanwhile stays gone.
      object.rule("Introspect") { _, _, _ in .hold }
      let examining = object.owner.begin(.field("a", "Examine"))
      try await object.called("Introspect", times: 2)
      try await object.owner.field("a", "Unregister")
      object.release()
      #expect(try await examining.refusal() == "UnknownObject")
      object.rule("Introspect", nil)
      try await object.owner.register("a", object: object.path)
    }
  }

  @Test(
    "An owner that leaves ends it and what is under way; one that hangs holds up no write", arguments: [true, false])
  func gone(_ leaves: Bool) async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let client = try await desktop.peer()
      object.rule("Introspect") { _, _, _ in .hold }
      let examining = object.owner.begin(.field("a", "Examine"))
      try await object.called("Introspect", times: 2)
      if leaves { object.rule("Set") { _, _, _ in .hold } }
      let write = client.begin(.write("demo.A.X", .int32(9)))
      try await object.called("Set")
      if leaves {
        try await object.owner.leave()
        #expect(try await write.refusal() == "OwnerGone")
        #expect(try await client.fields().isEmpty)
      } else {
        #expect(try await examining.refusal() == "Timeout")
        _ = try await write.values()
        #expect(try await client.get("demo.A.X") == .int32(9))
      }
    }
  }

  /// What was accepted once is not refused, at a restart or when the owner has it looked at.
  @Test("A named interface that has vanished takes no other with it") func vanishedInterface() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.peer()
      let both = document(("demo.A", property("X", "i")), ("demo.B", property("Y", "i")))
      let object = Exported(owner, both, ["demo.A.X": .int32(1), "demo.B.Y": .int32(2)])
      try await owner.register(
        "a", object: object.path, [("interfaces", .strings(["demo.A", "demo.B"])), ("focus", .boolean(true))])
      object.state.update {
        $0.xml = document(("demo.A", property("X", "i")))
        $0.values["demo.B.Y"] = nil
      }
      for _ in 0..<2 {
        try await desktop.crash()
        try await owner.restored("demo.A.X")
        #expect(try await owner.readAll() == ["demo.A.X": .int32(1)])
        try await owner.field("a", "Examine")
        #expect(try await owner.readAll() == ["demo.A.X": .int32(1)])
      }
    }
  }

  @Test("Properties that are not declared appear with it; values that were nil are back")
  func undeclared() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.peer()
      let object = Exported(owner, document(("demo.A", method("Do"))), ["demo.A.X": .int32(1)])
      try await owner.register(
        "a", object: object.path, [("interfaces", .strings(["demo.A"])), ("focus", .boolean(true))])
      object.change("demo.A.Later", to: .int32(2))
      try await owner.settle()
      #expect(try await owner.readAll() == ["demo.A.X": .int32(1)])
      try await owner.field("a", "Examine")
      #expect(try await owner.readAll() == ["demo.A.X": .int32(1), "demo.A.Later": .int32(2)])
      object.state.update { $0.values["demo.A.X"] = nil }
      try await owner.field("a", "Examine")
      #expect(try await owner.readAll() == ["demo.A.Later": .int32(2)])
      // Also an interface that was named; nothing at all is no object.
      object.state.update {
        $0.xml = document(("demo.B", method("Do")))
        $0.values = [:]
      }
      try await owner.field("a", "Examine")
      #expect(try await owner.keys().isEmpty)
      object.state.update { $0.xml = document() }
      #expect(try await refusal { try await owner.field("a", "Examine") } == "NothingToExpose")
    }
  }
}
