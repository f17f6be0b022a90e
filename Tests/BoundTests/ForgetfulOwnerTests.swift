import BusSupport
import DBusTypes
import TestSupport
import Testing

/// Owners that tell late, not at all, or do not answer: nobody is shown what is known to be wrong.
@Suite struct ForgetfulOwnerTests {
  private static let xml = document(
    (
      "demo.A",
      property("X", "i") + property("Late", "i", emits: "invalidates") + property("Live", "i", emits: "false")
        + method("Do")
    ))

  private func field(_ desktop: TestDesktop, _ options: Named = []) async throws -> Exported {
    let values: [String: DBusValue] = ["demo.A.X": .int32(1), "demo.A.Late": .int32(1), "demo.A.Live": .int32(1)]
    let object = Exported(try await desktop.peer(), Self.xml, values)
    try await object.owner.register("a", object: object.path, [("focus", .boolean(true))] + options)
    return object
  }

  @Test("A read of a key that its owner has invalidated waits for the owner's answer")
  func invalidated() async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let client = try await desktop.peer()
      object.rule("Get") { _, _, _ in .hold }
      object.invalidate("demo.A.Late", to: .int32(2))
      try await object.called("Get")
      let reads: [DaemonCall] = [.get("demo.A.Late"), .read("demo.A.Late"), .getAll("demo.A"), .readAll()]
      let calls = reads.map { client.begin($0) }
      try await object.called("Get", times: 3)
      #expect(client.replies.isEmpty)
      object.rule("Get", nil)
      object.release()
      for call in calls { #expect("\(try await call.values())".contains("int32(2)")) }
    }
  }

  @Test(
    "An owner's error reaches who reads a stale or a live key; who reads all does without it",
    arguments: ["Late", "Live"])
  func errors(_ name: String) async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let (client, key) = (try await desktop.peer(), "demo.A." + name)
      object.rule("Get") { call, _, _ in call.key == key ? .error("org.example.Error.Odd", "not now") : nil }
      object.invalidate(key, to: .int32(2))
      try await object.owner.settle()
      for path in [Focus1.focused, Focus1.field("a")] {
        #expect(try await refusal { try await client.get(key, at: path) } == "org.example.Error.Odd")
        #expect(try await refusal { try await client.read(key, at: path) } == "org.example.Error.Odd")
        #expect(try await client.readAll(at: path)[key] == nil)
        #expect(try await client.getAll("demo.A", at: path)[name] == nil)
        #expect(try await client.readAll(at: path)["demo.A.X"] == .int32(1))
      }
      // It is asked again each time, until it answers; that it has none now is an answer.
      object.rule("Get", nil)
      #expect(try await client.get(key) == .int32(2))
      object.rule("Get") { call, _, _ in
        call.key == key ? .error("org.freedesktop.DBus.Error.UnknownProperty", "none") : nil
      }
      object.invalidate(key, to: .int32(3))
      try await object.owner.settle()
      #expect(try await refusal { try await client.get(key) } == "NotFocused")
      #expect(try await client.read(key).value == nil)
      #expect(try await client.readAll()[key] == nil)
    }
  }

  /// sd-bus refuses all properties of an interface if it cannot tell one of them.
  @Test("What an object cannot tell is nil until it does, and the rest is there", arguments: [false, true])
  func unreadable(isAfterRestart: Bool) async throws {
    try await TestDesktop.with { desktop in
      let (owner, client) = (try await desktop.peer(), try await desktop.peer())
      let xml = document(
        ("demo.A", property("X", "i") + property("Y", "i") + method("Do")), ("demo.B", property("Z", "i")))
      let object = Exported(owner, xml, ["demo.A.X": .int32(1), "demo.A.Y": .int32(2), "demo.B.Z": .int32(3)])
      func refuse(_ member: String, _ key: String) {
        object.rule(member) { call, _, _ in call.key == key ? .error("org.example.Error.Odd", "odd") : nil }
      }
      if isAfterRestart {
        try await owner.register("a", object: object.path, [("focus", .boolean(true))])
        try await desktop.kill()
      }
      refuse("GetAll", "demo.A")
      refuse("Get", "demo.A.Y")
      if isAfterRestart {
        try await desktop.start()
      } else {
        try await owner.register("a", object: object.path, [("focus", .boolean(true))])
      }
      try await eventually("the object") { try await client.keys() == ["demo.A.X", "demo.B.Z"] }
      #expect(try await client.read("demo.A.X").value == .int32(1))
      #expect(try await client.read("demo.B.Z").value == .int32(3))
      #expect(try await client.commands() == ["demo.A.Do": true])
      object.change("demo.A.Y", to: .int32(4))
      try await eventually("it is told") { try await client.begin(.read("demo.A.Y")).refusal() == nil }
      refuse("Get", "demo.A.X")
      try await owner.field("a", "Examine")
      #expect(try await client.keys() == ["demo.A.Y", "demo.B.Z"])
    }
  }

  @Test(
    "A write that the owner has taken succeeds though its value cannot be read back", arguments: ["X", "Late", "Live"])
  func unreadable(_ name: String) async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let (client, key) = (try await desktop.peer(), "demo.A." + name)
      object.state.update { $0.tells = false }
      object.rule("Get") { _, _, _ in .error("org.example.Error.Odd", "not now") }
      #expect(try await client.write(key, .int32(7)) == Reading(value: .int32(7), field: "a", revision: 0))
      try await client.set(key, .int32(8))
      #expect(object.count("Set") == 2)
      // Who keeps what is told has what was written.
      let (_, member) = Focus1.split(key)
      for path in [Focus1.focused, Focus1.field("a")] {
        #expect(try await client.managedObjects()[path]?["demo.A"]?[member] == .int32(8))
      }
      // Who reads is told that it is not known.
      #expect(try await refusal { try await client.get(key) } == "org.example.Error.Odd")
      object.rule("Get", nil)
      #expect(try await client.get(key) == .int32(8))
    }
  }

  @Test("What turns out to be secret once it is written is told to nobody", arguments: ["X", "Late", "Live"])
  func secret(_ name: String) async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let (client, key) = (try await desktop.peer(), "demo.A." + name)
      try await client.subscribe()
      object.state.update { $0.tells = false }
      object.rule("Get") { _, _, _ in .error("org.freedesktop.DBus.Error.AccessDenied", "write-only") }
      try await client.set(key, .int32(7))
      #expect(try await refusal { try await client.get(key) } == "AccessDenied")
      let (_, member) = Focus1.split(key)
      for path in [Focus1.focused, Focus1.field("a")] {
        #expect(try await client.managedObjects()[path]?["demo.A"]?[member] != .int32(7))
      }
      #expect(!client.signals.values(of: key).contains(.int32(7)))
    }
  }

  @Test("A write with a revision fails if the owner has another value and has not told it", arguments: ["X", "Late"])
  func untold(_ name: String) async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let (client, key) = (try await desktop.peer(), "demo.A." + name)
      let before: Named = [("revision", .uint64(try await client.read(key).revision))]
      object.state.update { $0.values[key] = .int32(5) }
      #expect(try await refusal { try await client.write(key, .int32(2), before) } == "Conflict")
      #expect(object.count("Set") == 0)
      let now = try await client.read(key)
      #expect(now.value == .int32(5))
      #expect(try await client.write(key, .int32(6), [("revision", .uint64(now.revision))]).value == .int32(6))
    }
  }

  @Test("A write with a revision goes by what the owner told last if that does not tell its value now")
  func untellable() async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let (client, key) = (try await desktop.peer(), "demo.A.X")
      let now: Named = [("revision", .uint64(try await client.read(key).revision))]
      object.rule("Get") { _, _, _ in .hold }
      // What is refused already is so at once.
      #expect(try await refusal { try await client.write(key, .int32(2), [("revision", .uint64(0))]) } == "Conflict")
      #expect(try await refusal { try await client.write(key, .string("2"), now) } == "TypeMismatch")
      #expect(object.count("Set") == 0)
      object.rule("Get") { _, _, _ in .error("org.example.Error.Odd", "not now") }
      #expect(try await client.write(key, .int32(2), now).value == .int32(2))
      #expect(object.count("Set") == 1)
    }
  }

  /// Writes that need to know what the key holds.
  enum Dependent: CaseIterable { case revision, element }

  @Test(
    "A write that depends on a value that is known to be another fails as the owner's answer says",
    arguments: Dependent.allCases)
  func stale(_ dependent: Dependent) async throws {
    try await TestDesktop.with { desktop in
      let object = Exported(
        try await desktop.peer(), document(("demo.A", property("Items", "as", emits: "invalidates"))),
        ["demo.A.Items": .strings(["a", "b"])])
      try await object.owner.register("a", object: object.path, [("focus", .boolean(true))])
      let client = try await desktop.peer()
      let revision = try await client.read("demo.A.Items").revision
      object.rule("Get") { _, _, _ in .error("org.example.Error.Odd", "not now") }
      object.invalidate("demo.A.Items", to: .strings(["c", "d"]))
      try await object.owner.settle()
      #expect(
        try await refusal {
          switch dependent {
          case .revision: try await client.write("demo.A.Items", .strings([]), [("revision", .uint64(revision))])
          case .element: try await client.write("demo.A.Items/1", .string("e"))
          }
        } == "org.example.Error.Odd")
      #expect(object.count("Set") == 0)
    }
  }

  @Test("What an owner tells is known again: a read of it does not ask")
  func toldAgain() async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let (client, key) = (try await desktop.peer(), "demo.A.Late")
      object.rule("Get") { _, _, _ in .error("org.example.Error.Odd", "not now") }
      object.invalidate(key, to: .int32(2))
      try await object.owner.settle()
      #expect(try await refusal { try await client.get(key) } == "org.example.Error.Odd")
      object.change(key, to: .int32(3))
      try await object.owner.settle()
      let asked = object.count("Get", key)
      #expect(try await client.get(key) == .int32(3))
      #expect(try await client.readAll()[key] == .int32(3))
      #expect(object.count("Get", key) == asked)
    }
  }

  @Test("A write of an element that cannot be read back is told with what was written")
  func element() async throws {
    try await TestDesktop.with { desktop in
      let object = Exported(
        try await desktop.peer(), document(("demo.A", property("Items", "as"))),
        ["demo.A.Items": .strings(["a", "b"])])
      object.state.update { $0.tells = false }
      try await object.owner.register("a", object: object.path, [("focus", .boolean(true))])
      object.rule("Get") { _, _, _ in .error("org.example.Error.Odd", "not now") }
      let client = try await desktop.peer()
      #expect(
        try await client.write("demo.A.Items/1", .string("c")) == Reading(value: .string("c"), field: "a", revision: 0))
    }
  }

  @Test("An owner that tells the value that it was asked to take is not asked for it; one that tells another is")
  func told() async throws {
    try await TestDesktop.with { desktop in
      let object = try await field(desktop)
      let client = try await desktop.peer()
      let before = try await client.read("demo.A.X").revision
      let written = try await client.write("demo.A.X", .int32(7))
      #expect(written.value == .int32(7) && written.revision > before)
      #expect(object.count("Get") == 0)
      object.rule("Set") { _, object, thread in
        object.change("demo.A.X", to: .int32(5), thread)
        return .values([])
      }
      #expect(try await client.write("demo.A.X", .int32(9)).value == .int32(5))
      #expect(object.count("Get") == 1)
    }
  }
}

/// Players forget to tell whether they play.
extension ForgetfulOwnerTests {
  private static let player = document(("demo.P", property("Status", "s") + property("Volume", "i") + method("Pause")))
  private static let session: Named = [
    ("scope", .string("session")),
    ("active", .structure([.string("demo.P.Status"), .variant(.string("Playing"))])),
  ]

  private func player(_ id: String, _ desktop: TestDesktop, status: String) async throws -> Exported {
    let object = Exported(
      try await desktop.peer(), Self.player, ["demo.P.Status": .string(status), "demo.P.Volume": .int32(1)])
    object.state.update { $0.tells = false }
    try await object.owner.register(id, object: object.path, Self.session)
    return object
  }

  /// What makes the daemon ask whether a player plays.
  enum Reason: CaseIterable { case command, commandWithoutReply, invoked, write, anotherBecomesActive }

  @Test("Whether a session field is active is asked again after what may have changed it", arguments: Reason.allCases)
  func activity(_ reason: Reason) async throws {
    try await TestDesktop.with { desktop in
      let (quiet, client) = (try await player("quiet", desktop, status: "Playing"), try await desktop.peer())
      let other = try await player("other", desktop, status: "Paused")
      #expect(try await client.get(Focus1.fieldInterface + ".Active", at: Focus1.field("quiet")) == .boolean(true))
      quiet.state.update { $0.values["demo.P.Status"] = .string("Paused") }
      let path = Focus1.field("quiet")
      switch reason {
      case .command: _ = try await client.call(path, "demo.P", "Pause")
      case .commandWithoutReply: client.send(DaemonCall(path, "demo.P", "Pause"))
      case .invoked: _ = try await client.invoke("demo.P.Pause", at: path)
      case .write: try await client.set("demo.P.Volume", .int32(2), at: path)
      case .anotherBecomesActive:
        other.state.update { $0.tells = true }
        other.change("demo.P.Status", to: .string("Playing"))
      }
      try await eventually("it is asked, and counts as active no more") {
        try await client.get(Focus1.fieldInterface + ".Active", at: path) == .boolean(false)
      }
    }
  }
}
