import BusSupport
import DBusTypes
import TestSupport
import Testing

/// The contract's section *Windows*, from outside: a bridge and two programs.
@Suite struct WindowRuleTests {
  private static let title = "org.focusd.Window.Title"

  private struct Session {
    let bridge: Peer
    let a: Peer
    let b: Peer

    init(on desktop: TestDesktop) async throws {
      (bridge, a, b) = (try await desktop.peer(), try await desktop.peer(), try await desktop.peer())
      try await bridge.own("org.focusd.Bridge1.Windows")
      for window in ["w1", "w2"] { try await bridge.register(window, [(WindowRuleTests.title, .string(window))]) }
      for (peer, id) in [(a, "a1"), (b, "b1")] {
        try await peer.register(id, [("demo.Form.Name", .string(id))])
        try await peer.register(id + "x", [], [("parent", Focus1.fieldPath(id))])
      }
    }

    func adopt(_ window: String, _ peers: Peer...) async throws {
      try await bridge.field(window, "Adopt", [.strings(peers.map(\.name))])
    }

    func path() async throws -> [String] { try await bridge.fields("FocusPath") }

    func parent(of id: String) async throws -> String? {
      try await bridge.get("org.focusd.Focus1.Field.Parent", at: Focus1.field(id))?.basicText.flatMap(Focus1.id)
    }

    func adopted(_ window: String) async throws -> DBusValue? {
      try await bridge.get("org.focusd.Focus1.Field.Adopted", at: Focus1.field(window))
    }
  }

  @Test func aProgramsFieldHasItsWindowBehindIt() async throws {
    try await TestDesktop.with { desktop in
      let session = try await Session(on: desktop)
      let (bridge, a) = (session.bridge, session.a)
      try await bridge.subscribe()
      try await session.adopt("w1", a, session.b)
      #expect(try await session.parent(of: "a1") == "w1")
      #expect(try await session.parent(of: "a1x") == "a1")
      #expect(try await session.adopted("w1") == .strings([a.name, session.b.name].sorted()))
      // The parent was `/` before, and its change is told before the reply.
      #expect(
        bridge.signals.values(of: "org.focusd.Focus1.Field.Parent", at: Focus1.field("a1")) == [Focus1.fieldPath("w1")])
      try await bridge.focus("w1")
      try await a.focus("a1x")
      #expect(try await session.path() == ["a1x", "a1", "w1"])
      #expect(try await a.get(Self.title) == .string("w1"))
      #expect(try await a.get("demo.Form.Name") == .string("a1"))
      // What is registered later is adopted too.
      try await a.register("a2", [], [("focus", .boolean(true))])
      #expect(try await session.path() == ["a2", "w1"])
      try await bridge.focus("w2")
      #expect(try await session.path() == ["w2"])
      try await a.focus("a1x")
      #expect(try await session.path() == ["w2"])
      #expect(try await a.get("org.focusd.Focus1.Field.Focused", at: Focus1.field("a1x")) == .boolean(false))
      try await bridge.focus("w1")
      #expect(try await session.path() == ["a1x", "a1", "w1"])
      #expect(try await bridge.fields("History") == ["w2", "a2"])
      try await bridge.field("w1", "Blur")
      #expect(try await session.path() == [])
      try await bridge.focus("w1")
      try await a.leave()
      try await bridge.waitForDeparture(of: a.name)
      #expect(try await session.path() == ["w1"])
      #expect(try await session.adopted("w1") == .strings([session.b.name]))
    }
  }

  @Test func whoMayAdoptWhom() async throws {
    try await TestDesktop.with { desktop in
      let session = try await Session(on: desktop)
      let (bridge, a) = (session.bridge, session.a)
      try await bridge.register("part", [], [("parent", Focus1.fieldPath("w1"))])
      // (who, on which field, whose names, refused with)
      let cases: [(Peer, String, [String], String?)] = [
        (a, "w1", [a.name], "AccessDenied"), (a, "a1", [a.name], "InvalidArgs"),
        (bridge, "a1", [a.name], "AccessDenied"),
        (bridge, "part", [a.name], "InvalidArgs"), (bridge, "w1", [bridge.name], "InvalidArgs"),
        (bridge, "w1", ["org.focusd.Focus1"], "InvalidArgs"), (bridge, "w1", ["nonsense"], "InvalidArgs"),
        (bridge, "w1", (0...256).map { ":1.\($0)" }, "LimitsExceeded"), (bridge, "gone", [a.name], "UnknownObject"),
        (bridge, "w1", [":1.99999", a.name, a.name], nil), (bridge, "w1", [a.name], nil),
        (bridge, "w1", (0..<255).map { ":1.9\($0)99999" } + [a.name], nil),
      ]
      for (peer, field, names, error) in cases {
        let refusal = try await peer.begin(.field(field, "Adopt", [.strings(names)])).refusal()
        #expect(refusal == error, "\(field) \(names.prefix(3))")
        #expect(try await session.adopted("w1") == .strings(error == nil ? [a.name] : []))
      }
      #expect(try await bridge.begin(.register("w3", [], [("linger", .boolean(true))])).refusal() == "InvalidArgs")
      // A window has no object of another connection, but what is in one may.
      let object = Exported(a, document(("demo.A", method("Do"))))
      let service: Named = [("service", .string(a.name))]
      #expect(try await bridge.begin(.register("w3", object: object.path, service)).refusal() == "InvalidArgs")
      try await bridge.register("w3", object: object.path, service + [("parent", Focus1.fieldPath("w1"))])
    }
  }

  @Test func whenTheNameIsLostTheWindowsGoAndFocusStays() async throws {
    try await TestDesktop.with { desktop in
      let session = try await Session(on: desktop)
      try await session.adopt("w1", session.a)
      try await session.bridge.focus("w1")
      try await session.a.focus("a1x")
      try await session.bridge.askBus("ReleaseName", [.string("org.focusd.Bridge1.Windows")])
      #expect(try await session.path() == ["a1x", "a1"])
      #expect(try await session.bridge.fields() == ["a1", "a1x", "b1", "b1x"])
      // Without the name its scenes are no windows.
      try await session.bridge.register("w1")
      #expect(try await session.bridge.begin(.field("w1", "Adopt", [.strings([])])).refusal() == "InvalidArgs")
      let next = try await desktop.peer()
      try await next.own("org.focusd.Bridge1.Windows")
      try await next.register("w9")
      try await next.field("w9", "Adopt", [.strings([session.a.name])])
      try await next.focus("w9")
      #expect(try await session.path() == ["a1x", "a1", "w9"])
    }
  }

  @Test func windowsSurviveTheDaemon() async throws {
    try await TestDesktop.with { desktop in
      let session = try await Session(on: desktop)
      try await session.adopt("w1", session.a, session.b)
      try await session.adopt("w2", session.b)
      try await session.b.focus("b1x")
      try await session.bridge.focus("w1")
      try await session.a.focus("a1")
      try await session.bridge.focus("w2")
      let before = (try await session.path(), try await session.bridge.fields("History"))
      #expect(before.0 == ["b1x", "b1", "w2"])
      try await desktop.crash()
      #expect(try await session.path() == before.0)
      #expect(try await session.bridge.fields("History") == before.1)
      #expect(try await session.adopted("w1") == .strings([session.a.name, session.b.name].sorted()))
      try await session.bridge.focus("w1")
      #expect(try await session.path() == ["a1", "w1"])
      try await desktop.kill()
      try await session.bridge.leave()
      try await desktop.start()
      #expect(try await session.a.fields("FocusPath") == ["a1"])
      #expect(try await session.a.fields() == ["a1", "a1x", "b1", "b1x"])
    }
  }
}
