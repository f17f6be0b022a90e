import BusSupport
import DBusTypes
import TestSupport
import Testing

/// What the contract lists under `Register`: what an object really tells wins over its introspection.
@Suite("Objects as they are")
struct ObjectAsItIsTests {
  private static let interfaces: (String, DBusValue) = ("interfaces", .strings(["demo.Player"]))

  @Test("A value of another type than declared is the binding's, and Introspect shows that type")
  func types() async throws {
    try await TestDesktop.with { desktop in
      let (owner, client) = (try await desktop.peer(), try await desktop.peer())
      // VLC declares these two so, and tells them otherwise.
      let object = Exported(
        owner, document(("demo.Player", property("Count", "i") + property("Ratio", "d"))),
        ["demo.Player.Count": .int64(1), "demo.Player.Ratio": .boolean(true)])
      try await owner.register("vlc", object: object.path, [("focus", .boolean(true))])
      #expect(try await client.readAll() == ["demo.Player.Count": .int64(1), "demo.Player.Ratio": .boolean(true)])
      let shown = try await desktop.busctl("introspect", "demo.Player")
      for part in [".Count property x", ".Ratio property b"] {
        let columns = shown.output.map { $0.split(separator: " ").joined(separator: " ") }
        #expect(columns.contains { $0.hasPrefix(part) }, "\(part) in \(columns)")
      }
    }
  }

  @Test(
    "Properties that introspection leaves out are taken, as writable, on interfaces that were named",
    arguments: [document(("demo.Player", method("Stop"))), document(("demo.Else", method("Stop"))), document()])
  func undeclared(_ xml: String) async throws {
    try await TestDesktop.with { desktop in
      let (owner, client) = (try await desktop.peer(), try await desktop.peer())
      let object = Exported(owner, xml, ["demo.Player.Title": .string("a"), "demo.Else.X": .int32(1)])
      try await owner.register("player", object: object.path, [Self.interfaces, ("focus", .boolean(true))])
      #expect(try await client.keys() == ["demo.Player.Title"])
      #expect(try await client.write("demo.Player.Title", .string("b")).value == .string("b"))
      #expect(object.state.now.values["demo.Player.Title"] == .string("b"))
      // Told later, they wait.
      object.change("demo.Player.Later", to: .int32(1))
      object.change("demo.Player.Title", to: .string("c"))
      try await owner.settle()
      #expect(try await client.readAll() == ["demo.Player.Title": .string("c")])
    }
  }

  @Test("Undeclared properties of interfaces that were not named are not looked for")
  func unnamed() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.peer()
      let object = Exported(
        owner, document(("demo.Player", method("Stop"))), ["demo.Player.Title": .string("a")])
      try await owner.register("player", object: object.path)
      #expect(try await owner.keys(at: Focus1.field("player")).isEmpty)
      #expect(object.count("GetAll") == 0)
    }
  }

  @Test("A named interface that is neither declared nor told is refused, and so is an object that shows nothing")
  func nothing() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.peer()
      let object = Exported(owner, document(("demo.Else", method("Stop"))))
      for answer in [nil, .error("org.example.No", "no"), .values([.int32(1)])] as [Answer?] {
        object.rule("GetAll") { _, _, _ in answer }
        #expect(
          try await refusal { try await owner.register("a", object: object.path, [Self.interfaces]) } == "InvalidArgs")
      }
      let empty = Exported(owner, document(), at: "/empty")
      #expect(try await refusal { try await owner.register("a", object: empty.path) } == "NothingToExpose")
      try await owner.register("a")
    }
  }

  @Test("A live key is read each time, whatever the introspection says of it")
  func live() async throws {
    try await TestDesktop.with { desktop in
      let (owner, client) = (try await desktop.peer(), try await desktop.peer())
      let object = Exported(
        owner, document(("demo.Player", property("Position", "x") + property("Title", "s"))),
        ["demo.Player.Position": .int64(1), "demo.Player.Title": .string("a")])
      object.state.update { $0.tells = false }
      try await owner.register(
        "player", object: object.path,
        [("live", .strings(["demo.Player.Position", "demo.Player.Other"])), ("focus", .boolean(true))])
      for position in [2, 3] as [Int64] {
        object.change("demo.Player.Position", to: .int64(position))
        object.change("demo.Player.Title", to: .string("unknown"))
        #expect(try await client.get("demo.Player.Position") == .int64(position))
        #expect(try await client.readAll()["demo.Player.Position"] == .int64(position))
        #expect(try await client.get("demo.Player.Title") == .string("a"))
      }
      let xml = try await client.call(Focus1.focused, Focus1.introspectable, "Introspect").first?.basicText ?? ""
      let parts = xml.split(separator: "<property ").filter { $0.contains("EmitsChangedSignal") }
      #expect(parts.contains { $0.contains("Position") && $0.contains("\"false\"") })
      #expect(!parts.contains { $0.contains("Title") && $0.contains("\"false\"") })
      // Focus tells the value last known, and asks nobody.
      try await client.register("other")
      try await client.focus("other")
      try await client.subscribe()
      object.change("demo.Player.Position", to: .int64(9))
      let asked = object.count("Get")
      try await owner.focus("player")
      try await client.signals("focus") { $0.values(of: "demo.Player.Position").last == .int64(3) ? () : nil }
      #expect(object.count("Get") == asked)
      // An error is the owner's own.
      object.rule("Get") { _, _, _ in .error("org.example.Error.Odd", "not now") }
      let error = await #expect(throws: RemoteError.self) { try await client.get("demo.Player.Position") }
      #expect(error == RemoteError(name: "org.example.Error.Odd", message: "not now"))
    }
  }

  @Test("The option live is for bound keys")
  func liveRefused() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.peer()
      let object = Exported(
        owner, document(("demo.Player", property("Position", "x"))), ["demo.Player.Position": .int64(1)])
      for (path, live, stored, error) in [
        (nil, .strings(["demo.Player.Position"]), [], "InvalidArgs"),
        (object.path, .string("demo.Player.Position"), [], "InvalidArgs"),
        (object.path, .strings(["bad"]), [], "InvalidArgs"),
        (object.path, .strings(["demo.A.X"]), [("demo.A.X", .int32(1))], "InvalidArgs"),
        (object.path, .strings((0..<257).map { "demo.A.K\($0)" }), [], "LimitsExceeded"),
      ] as [(String?, DBusValue, Named, String)] {
        #expect(
          try await refusal { try await owner.register("a", object: path, [("live", live)], stored: stored) } == error)
      }
      // Nor can one that is read each time say whether the field is active.
      let key = "demo.Player.Position"
      let active: Named = [
        ("scope", .string("session")), ("active", .structure([.string(key), .variant(.int64(1))])),
      ]
      let live: Named = [("live", .strings([key]))]
      #expect(
        try await refusal { try await owner.register("a", object: object.path, active + live) } == "InvalidArgs")
      try await owner.register("a", object: object.path, active)
    }
  }

  @Test("A write-only property is listed and written, and never read")
  func writeOnly() async throws {
    try await TestDesktop.with { desktop in
      let (owner, client) = (try await desktop.peer(), try await desktop.peer())
      let key = "demo.Login.Password"
      let object = Exported(
        owner, document(("demo.Login", property("Password", "s", "write") + property("User", "s"))),
        ["demo.Login.User": .string("me"), key: .string("old")])
      try await client.subscribe()
      try await owner.register("login", object: object.path, [("focus", .boolean(true))])
      for path in [Focus1.focused, Focus1.field("login")] {
        #expect(try await client.keys(at: path) == [key, "demo.Login.User"])
        #expect(try await client.readAll(at: path) == ["demo.Login.User": .string("me")])
        #expect(try await client.getAll("demo.Login", at: path) == ["User": .string("me")])
        for reader in [client, owner] {
          #expect(try await refusal { try await reader.get(key, at: path) } == "AccessDenied")
          #expect(try await refusal { try await reader.read(key, at: path) } == "AccessDenied")
          #expect(try await refusal { try await reader.write(key + "/0", .string("x"), at: path) } == "AccessDenied")
          #expect(
            try await refusal { try await reader.write(key, .string("x"), [("revision", .uint64(0))], at: path) }
              == "AccessDenied")
        }
        #expect(try await refusal { try await client.write(key, .int32(1), at: path) } == "TypeMismatch")
        // The same once more goes to the owner as well.
        for _ in 1...2 {
          let before = object.count("Set")
          let written = try await client.write(key, .string("secret"), at: path)
          #expect(written.value == .string("") && written.revision == 0 && written.field == "login")
          try await client.set(key, .string("secret"), at: path)
          #expect(object.count("Set") == before + 2)
        }
        #expect(object.count("Get") == 0)
      }
      #expect(client.signals.values(of: key).isEmpty)
      let shown = try await desktop.busctl("introspect", "demo.Login")
      #expect(shown.output.contains { $0.contains(".Password") && $0.contains(" s ") }, "\(shown)")
      object.rule("Set") { _, _, _ in .error("org.example.Error.Weak", "too short") }
      let error = await #expect(throws: RemoteError.self) { try await client.set(key, .string("x")) }
      #expect(error == RemoteError(name: "org.example.Error.Weak", message: "too short"))
      // A dialog that closes when it has what it asked for.
      object.rule("Set") { _, _, thread in
        thread.send(.field("login", "Unregister"))
        return .values([])
      }
      let last = try await client.write(key, .string("secret"))
      #expect(last.value == .string("") && last.revision == 0 && last.field == "login")
    }
  }

  @Test("A value that does not fit is nil and named once in the log, and fails no registration")
  func unfit() async throws {
    try await TestDesktop.with { desktop in
      let (owner, client) = (try await desktop.peer(), try await desktop.peer())
      let mark = "unutterable"
      let large = DBusValue.string(String(repeating: mark, count: 100_000))
      let object = Exported(
        owner,
        document(
          ("org.focusd.Range", property("Value", "d") + property("Maximum", "d")),
          ("demo.A", property("Large", "s") + property("X", "i"))),
        [
          "org.focusd.Range.Value": .string(mark), "org.focusd.Range.Maximum": .double(1), "demo.A.Large": large,
          "demo.A.X": .int32(1),
        ])
      try await owner.register("a", object: object.path, [("focus", .boolean(true))])
      let known = ["demo.A.X", "org.focusd.Range.Maximum"]
      #expect(try await client.keys() == known)
      for _ in 0..<3 {
        object.change("org.focusd.Range.Value", to: .string(mark))
        object.change("demo.A.Large", to: large)
        object.change("demo.A.X", to: large)
      }
      try await owner.settle()
      #expect(try await client.keys() == ["org.focusd.Range.Maximum"])
      object.change("org.focusd.Range.Value", to: .double(0.5))
      object.change("demo.A.Large", to: .string("small"))
      try await owner.settle()
      #expect(try await client.keys() == ["demo.A.Large", "org.focusd.Range.Maximum", "org.focusd.Range.Value"])
      _ = try await desktop.said("demo.A.X")
      let lines = desktop.log
      for key in ["org.focusd.Range.Value", "demo.A.Large", "demo.A.X"] {
        #expect(lines.count { $0.contains(key) } == 1, "\(lines)")
      }
      #expect(!lines.contains { $0.contains(mark) })
    }
  }
}
