import BusSupport
import DBusTypes
import TestSupport
import Testing

/// What a registrant says of its object beside the object's own introspection.
@Suite struct ObjectChoiceTests {
  private static let name = "org.focusd.Bridge1.Test"
  private static let interfaces = (name: "interfaces", value: DBusValue.strings(["demo.P"]))

  private static func commands(_ commands: [(name: String, signature: String)]) -> (name: String, value: DBusValue) {
    let entries = commands.map { DBusDictionary.Entry(key: .string($0.name), value: .string($0.signature)) }
    return ("commands", .dictionary(DBusDictionary(known: .string, .string, entries)))
  }

  /// As Chromium's player: introspection shows nothing, `GetAll` does.
  @Test("Commands that introspection does not show can be called, shown and disabled; a restart keeps them")
  func commands() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.peer()
      let object = Exported(owner, document(), ["demo.P.Status": .string("Playing")])
      try await owner.register(
        "player", object: object.path,
        [Self.interfaces, Self.commands([("demo.P.Play", ""), ("demo.P.Seek", "xa{sv}")]), ("focus", .boolean(true))])
      let client = try await desktop.peer()
      for isRestarted in [false, true] {
        if isRestarted {
          try await desktop.crash()
          try await client.restored("demo.P.Status")
        }
        #expect(try await client.commands() == ["demo.P.Play": true, "demo.P.Seek": !isRestarted])
        if !isRestarted {
          #expect(try await client.call(Focus1.focused, "demo.P", "Seek", [.int64(5), .properties([])]).count == 2)
          try await owner.setEnabled("player", ["demo.P.Seek": false])
        }
        _ = try await client.invoke("demo.P.Play")
        #expect(object.count("Play") == (isRestarted ? 2 : 1))
        let shown = try await client.introspect()
        #expect(shown.contains(#"<method name="Play">"#))
        #expect(shown.contains(#"type="x" direction="in""#) && shown.contains(#"type="a{sv}" direction="in""#))
        #expect(try await client.get("demo.P.Status") == .string("Playing"))
      }
      try await owner.field("player", "Examine")
      #expect(try await client.commands() == ["demo.P.Play": true, "demo.P.Seek": false])
    }
  }

  @Test("What introspection says of such a command wins")
  func declared() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.peer()
      let object = Exported(owner, document(("demo.P", method("Play", in: ["s"]))))
      try await owner.register("a", object: object.path, [Self.commands([("demo.P.Play", "i"), ("demo.P.Stop", "")])])
      let shown = try await owner.introspect(Focus1.field("a"))
      #expect(shown.contains(#"type="s" direction="in""#) && !shown.contains(#"type="i" direction="in""#))
      #expect(try await owner.commands(at: Focus1.field("a")) == ["demo.P.Play": true, "demo.P.Stop": true])
    }
  }

  @Test("Commands that cannot be are refused")
  func refusals() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.peer()
      let object = Exported(owner, document(("demo.Q", method("Do"))))
      let many = (0..<257).map { ("demo.Q.C\($0)", "") }
      let refused: [(commands: [(name: String, signature: String)], path: String?, error: String)] = [
        ([("demo.P.Play", "")], object.path, "InvalidArgs"), ([("demo.Q.Play", "(")], object.path, "InvalidArgs"),
        ([("demo", "")], object.path, "InvalidArgs"),
        ([("org.freedesktop.DBus.Peer.Ping", "")], object.path, "InvalidArgs"),
        ([("demo.Q.Play", "")], nil, "InvalidArgs"), (many, object.path, "LimitsExceeded"),
        (Array(many.prefix(256)), object.path, "LimitsExceeded"),
        ([("org.focusd.Text.Insert", "")], object.path, "TypeMismatch"),
        ([("org.focusd.Edit.Undo", "i")], object.path, "TypeMismatch"),
        ([("org.focusd.Text.Caret", "")], object.path, "TypeMismatch"),
      ]
      for (commands, path, error) in refused {
        #expect(
          try await refusal { try await owner.register("a", object: path, [Self.commands(commands)]) } == error,
          "\(commands.prefix(2)) \(path ?? "")")
      }
      try await owner.register("a", object: object.path, [Self.commands(Array(many.prefix(255)))])
    }
  }

  @Test("Commands that programs share have their arguments, or are not offered")
  func shared() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.peer()
      let object = Exported(
        owner,
        document(
          ("org.focusd.Text", method("Insert", in: ["i"]) + method("Insert", in: ["s"]) + method("Caret")),
          ("org.focusd.Edit", method("Undo", in: ["s"]) + method("Redo")),
          ("org.focusd.Action", method("Click", in: ["i"])), ("org.focusd.Menu", method("Check", in: ["s", "i"]))))
      try await owner.register("a", object: object.path, [("focus", .boolean(true))])
      #expect(
        try await owner.commands() == [
          "org.focusd.Action.Click": true, "org.focusd.Edit.Redo": true, "org.focusd.Text.Insert": true,
        ])
      #expect(
        try await refusal { try await owner.call(Focus1.focused, "org.focusd.Edit", "Undo", [.string("")]) }
          == "NotFocused")
      let shown = try await owner.introspect(Focus1.field("a"))
      #expect(shown.contains(#"<method name="Insert">"#) && shown.split(separator: #""Insert""#).count == 2)
    }
  }

  @Test("Connection names the connection whose object a field is")
  func connection() async throws {
    try await TestDesktop.with { desktop in
      let (program, bridge) = (try await desktop.peer(), try await desktop.peer())
      let object = Exported(program, document(("demo.P", method("Play"))))
      try await bridge.own(Self.name)
      try await program.register("own", object: object.path)
      try await bridge.register("served", object: object.path, [("service", .string(program.name))])
      try await program.register("stored", [("demo.A.X", .int32(1))])
      func connection(_ id: String) async throws -> DBusValue? {
        try await program.get(Focus1.fieldInterface + ".Connection", at: Focus1.field(id))
      }
      for _ in 0..<2 {
        #expect(try await connection("own") == .string(program.name))
        #expect(try await connection("served") == .string(program.name))
        #expect(try await connection("stored") == .string(""))
        try await desktop.crash()
      }
    }
  }
}
