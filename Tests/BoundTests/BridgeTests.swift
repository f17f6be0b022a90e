import BusSupport
import DBusTypes
import TestSupport
import Testing

extension Peer {
  /// Owns a bus name from now on.
  fileprivate func own(_ name: String) async throws {
    #expect(try await call(.bus("RequestName", [.string(name), .uint32(4)])) == [.uint32(1)])
    try await settle()
  }

  /// Gives a bus name back.
  fileprivate func release(_ name: String) async throws {
    try await call(.bus("ReleaseName", [.string(name)]))
    try await settle()
  }

  fileprivate func field(_ id: String, property: String) async throws -> DBusValue? {
    try await call(.get(Focus1.fieldInterface + "." + property, at: Focus1.field(id))).first?.variantContent
  }
}

/// The option `service`: a client with a name below `org.focusd.Bridge1.` binds the object of another connection.
@Suite("Bridges speak for other programs")
struct BridgeTests {
  private static let name = "org.focusd.Bridge1.Test"
  private static let xml = document(
    (
      "demo.Player",
      property("Title", "s") + property("Position", "x") + method("Stop", out: ["s"])
        + "<signal name='Seeked'><arg type='x'/></signal>"
    ))
  private static let values: [String: DBusValue] = [
    "demo.Player.Title": .string("a"), "demo.Player.Position": .int64(1),
  ]

  /// A program that has never heard of focusd, its object, and the bridge.
  private func actors(_ desktop: TestDesktop) async throws -> (object: Exported, bridge: Peer) {
    let (program, bridge) = (try await desktop.peer(), try await desktop.peer())
    try await program.own("demo.Program")
    try await bridge.own(Self.name)
    return (Exported(program, Self.xml, Self.values), bridge)
  }

  private func options(_ service: String = "demo.Program", _ more: Named = []) -> Named {
    [("service", .string(service)), ("focus", .boolean(true))] + more
  }

  @Test("The daemon talks to the other connection's object, and the bridge owns the field")
  func direct() async throws {
    try await TestDesktop.with { desktop in
      let (object, bridge) = try await actors(desktop)
      let client = try await desktop.peer()
      try await client.subscribe()
      try await bridge.register("player", object: object.path, options())
      #expect(try await client.field("player", property: "Owner") == .string(bridge.name))
      #expect(try await client.readAll() == Self.values)
      #expect(try await client.write("demo.Player.Title", .string("b")).value == .string("b"))
      #expect(object.state.now.values["demo.Player.Title"] == .string("b"))
      object.rule("Stop") { _, _, _ in .values([.string("stopped")]) }
      #expect(try await client.call(Focus1.focused, "demo.Player", "Stop") == [.string("stopped")])
      // Signals count from that connection alone.
      let forged = Exported(bridge, Self.xml, Self.values)
      forged.change("demo.Player.Title", to: .string("forged"))
      forged.emit("demo.Player", "Seeked", [.int64(7)])
      try await bridge.settle()
      object.change("demo.Player.Title", to: .string("c"))
      object.emit("demo.Player", "Seeked", [.int64(9)])
      try await client.signals("Seeked") { signals in
        signals.contains { $0.path == Focus1.focused && $0.member == "Seeked" } ? () : nil
      }
      #expect(client.signals.values(of: "demo.Player.Title").last == .string("c"))
      #expect(!client.signals.contains { $0.member == "Seeked" && $0.arguments == [.int64(7)] })
      #expect(forged.count("Get") + forged.count("GetAll") + forged.count("Set") == 0)
      // The field's methods are the bridge's.
      for stranger in [object.owner, client] {
        for member in ["Blur", "Examine", "Unregister"] {
          #expect(try await refusal { try await stranger.field("player", member) } == "AccessDenied")
        }
      }
      try await bridge.field("player", "Blur")
      try await bridge.field("player", "Focus")
      try await bridge.field("player", "Examine")
      try await bridge.field("player", "Unregister")
      #expect(try await client.fields().isEmpty)
    }
  }

  @Test("What the option does not allow")
  func refusals() async throws {
    try await TestDesktop.with { desktop in
      let (object, bridge) = try await actors(desktop)
      let stranger = try await desktop.peer()
      try await stranger.own("org.focusd.Bridge1x.Test")
      let path = object.path
      for (who, path, service, error) in [
        (stranger, path, "demo.Program", "AccessDenied"), (object.owner, path, "demo.Program", "AccessDenied"),
        (bridge, path, "demo.Nobody", "OwnerGone"), (bridge, path, ":1.999", "OwnerGone"),
        // It could be activated, and is not.
        (bridge, path, "org.freedesktop.systemd1", "OwnerGone"),
        (bridge, path, Focus1.name, "InvalidArgs"), (bridge, path, "org.freedesktop.DBus", "InvalidArgs"),
        (bridge, path, "", "InvalidArgs"), (bridge, path, "no name", "InvalidArgs"),
        (bridge, nil, "demo.Program", "InvalidArgs"), (bridge, "/nowhere", "demo.Program", "InvalidArgs"),
      ] as [(Peer, String?, String, String)] {
        #expect(
          try await refusal { try await who.register("a", object: path, options(service)) } == error, "\(service)")
      }
      let daemon = try await bridge.call(.bus("GetNameOwner", [.string(Focus1.name)])).first?.basicText ?? ""
      #expect(try await refusal { try await bridge.register("a", object: path, options(daemon)) } == "InvalidArgs")
      // By either name, also the bridge's own.
      try await bridge.register("a", object: path, options(object.owner.name))
      let own = Exported(bridge, Self.xml, Self.values)
      try await bridge.register("b", object: own.path, options(Self.name))
      try await bridge.release(Self.name)
      #expect(try await refusal { try await bridge.register("c", object: path, options()) } == "AccessDenied")
      #expect(try await stranger.fields() == ["a", "b"], "a bridge that loses its name keeps its fields")
      #expect(try await stranger.write("demo.Player.Title", .string("x"), at: Focus1.field("a")).field == "a")
    }
  }

  @Test("The field goes with the connection that has its object, and with the bridge", arguments: [true, false])
  func leaving(_ programLeaves: Bool) async throws {
    try await TestDesktop.with { desktop in
      let (object, bridge) = try await actors(desktop)
      let client = try await desktop.peer()
      try await bridge.register("kept", [("demo.A.X", .int32(1))])
      try await bridge.register("player", object: object.path, options())
      object.rule("Set") { _, _, _ in .hold }
      let write = client.begin(.write("demo.Player.Title", .string("b")))
      try await object.called("Set")
      try await (programLeaves ? object.owner : bridge).leave()
      try await eventually("the field is gone") {
        try await client.fields() == (programLeaves ? ["kept"] : [])
      }
      if !programLeaves { object.release() }
      #expect(try await write.refusal() == "OwnerGone")
      guard !programLeaves else { return }
      // The program itself is asked for its own fields as before.
      object.rule("Set", nil)
      try await object.owner.register("own", object: object.path)
      #expect(try await client.write("demo.Player.Title", .string("c"), at: Focus1.field("own")).value == .string("c"))
    }
  }

  @Test("Who leaves while the object is looked at leaves no field", arguments: [true, false])
  func leavingEarly(_ programLeaves: Bool) async throws {
    try await TestDesktop.with { desktop in
      let (object, bridge) = try await actors(desktop)
      let client = try await desktop.peer()
      object.rule("GetAll") { _, _, _ in .hold }
      let registering = bridge.begin(.register("a", object: object.path, options()))
      try await object.called("GetAll")
      if programLeaves {
        try await object.owner.leave()
        #expect(try await registering.refusal() == "OwnerGone")
      } else {
        try await bridge.leave()
        try await client.waitForDeparture(of: bridge.name)
        // Its successor need not wait until the program answers.
        let own = Exported(client, Self.xml, Self.values)
        try await client.register("a", object: own.path)
        object.release()
        try await object.owner.settle()
        #expect(try await client.fields() == ["a"])
        try await client.field("a", "Unregister")
      }
      #expect(try await client.fields().isEmpty)
      try await client.register("a")
    }
  }

  @Test("Values count for the bridge, calls under way for the program")
  func accounts() async throws {
    try await TestDesktop.with { desktop in
      let (object, bridge) = try await actors(desktop)
      let client = try await desktop.peer()
      try await bridge.register("player", object: object.path, options())
      object.rule("Stop") { _, _, _ in .hold }
      let calls = (0..<256).map { _ in client.begin(DaemonCall(Focus1.focused, "demo.Player", "Stop")) }
      try await object.called("Stop", times: 256)
      let more = client.begin(DaemonCall(Focus1.focused, "demo.Player", "Stop"))
      // The bridge's other objects are asked.
      let own = Exported(bridge, Self.xml, Self.values)
      try await bridge.register("own", object: own.path)
      #expect(try await client.write("demo.Player.Title", .string("x"), at: Focus1.field("own")).field == "own")
      // On a slow machine their owner's five seconds may be over by then.
      let refusal = try await more.refusal()
      let hasRoom = client.replies.contains { number in calls.contains { $0.number == number } }
      #expect(refusal == "LimitsExceeded" || hasRoom, "\(refusal ?? "")")
      object.release()
      for call in calls { #expect([nil, "Timeout"].contains(try await call.refusal())) }
    }
  }

  @Test("Process is what was claimed, else that of the object's connection, else the registrant's")
  func process() async throws {
    try await TestDesktop.with { desktop in
      let script = try await desktop.script(resource("toggle.py"))
      let (bridge, client) = (try await desktop.peer(), try await desktop.peer())
      try await bridge.own(Self.name)
      let program = try #require(try await client.owners()["player"])
      func process(of name: String) async throws -> DBusValue {
        try #require(try await client.call(.bus("GetConnectionUnixProcessID", [.string(name)])).first)
      }
      let (programs, own) = (try await process(of: program), try await process(of: bridge.name))
      #expect(programs != own)
      try await client.subscribe()
      try await bridge.register("bound", object: "/player", options(program))
      try await bridge.register("claimed", object: "/player", options(program, [("process", .uint32(7))]))
      try await bridge.register("stored", [("demo.A.X", .int32(1))], [("linger", .boolean(true))])
      for (id, expected) in [("player", programs), ("bound", programs), ("claimed", .uint32(7)), ("stored", own)] {
        try await eventually("the process of \(id)") { try await client.field(id, property: "Process") == expected }
      }
      #expect(try await refusal { try await bridge.register("x", [], [("process", .int32(7))]) } == "InvalidArgs")
      try await desktop.crash()
      for (id, expected) in [("bound", programs), ("claimed", .uint32(7)), ("stored", own)] {
        try await eventually("the process of \(id)") { try await client.field(id, property: "Process") == expected }
      }
      try await bridge.leave()
      try await client.signals("Process") { signals in
        signals.contains { signal in
          signal.path == Focus1.field("stored") && signal.member == "PropertiesChanged"
            && signal.arguments.dropFirst().first == .properties([("Process", .uint32(0))])
        } ? () : nil
      }
      #expect(try await client.field("stored", property: "Process") == .uint32(0))
      #expect(try await client.fields() == ["player", "stored"])
      try await script.stop()
    }
  }

  @Test("After a restart the field is back, with the program's object and its live keys")
  func restart() async throws {
    try await TestDesktop.with { desktop in
      let (object, bridge) = try await actors(desktop)
      let client = try await desktop.peer()
      object.state.update { $0.tells = false }
      try await bridge.register(
        "player", object: object.path, options("demo.Program", [("live", .strings(["demo.Player.Position"]))]))
      try await desktop.crash()
      try await client.restored("demo.Player.Title")
      object.change("demo.Player.Position", to: .int64(5))
      #expect(try await client.get("demo.Player.Position") == .int64(5))
      #expect(try await client.write("demo.Player.Title", .string("b")).value == .string("b"))
      #expect(try await client.field("player", property: "Owner") == .string(bridge.name))
      // It still is a bridge.
      try await bridge.register("again", object: object.path, options())
      // A program that leaves while the daemon is away takes its fields along.
      try await desktop.kill()
      try await object.owner.leave()
      try await desktop.start()
      #expect(try await client.fields().isEmpty)
    }
  }
}
