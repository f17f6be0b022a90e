import BusSupport
import DBus
import DBusTypes
import Glibc
import TestSupport
import Testing

@Suite("Signals and requests of bound fields")
struct BoundSignalTests {
  private static let xml = document(
    ("demo.Edit", method("Save") + "<signal name='Saved'><arg name='to' type='s'/></signal>"),
    ("demo.Signals", "<signal name='Rang'><arg name='times' type='i'/></signal>"),
    ("demo.Hidden", "<signal name='Rang'/>"))

  private static let exposed = ("interfaces", DBusValue.strings(["demo.Edit", "demo.Signals"]))

  private func window(_ desktop: TestDesktop) async throws -> (window: Exported, entry: Exported) {
    let (first, second) = (try await desktop.peer(), try await desktop.peer())
    let window = Exported(first, Self.xml)
    let entry = Exported(second, document(("demo.Edit", method("Save") + "<signal name='Saved'/>")))
    try await first.register("window", object: window.path, [(name: Self.exposed.0, value: Self.exposed.1)])
    try await second.register(
      "entry", object: entry.path, [("parent", Focus1.fieldPath("window"))])
    return (window, entry)
  }

  /// The paths at which a signal of `object` with these arguments appears.
  private func paths(
    _ client: Peer, _ object: Exported, _ interface: String, _ member: String, _ arguments: [DBusValue]
  ) async throws -> Set<String> {
    let before = client.signals.count
    object.emit(interface, member, arguments)
    try await object.owner.settle()
    try await client.settle()
    let found = client.signals.dropFirst(before).filter { $0.interface == interface && $0.member == member }
    #expect(found.allSatisfy { $0.arguments == arguments })
    #expect(found.count == Set(found.map(\.path)).count)
    return Set(found.map(\.path))
  }

  @Test("appear from the field, and from focused only while the interface resolves to it")
  func forwarded() async throws {
    try await TestDesktop.with { desktop in
      let (window, entry) = try await window(desktop)
      let client = try await desktop.peer()
      try await client.subscribe()
      let (saved, rang): ([DBusValue], [DBusValue]) = ([.string("file")], [.int32(3)])
      let own = Focus1.field("window")
      #expect(try await paths(client, window, "demo.Edit", "Saved", saved) == [own])
      #expect(try await paths(client, window, "demo.Signals", "Rang", rang) == [own])
      try await window.owner.focus("window")
      #expect(try await paths(client, window, "demo.Edit", "Saved", saved) == [own, Focus1.focused])
      #expect(try await paths(client, window, "demo.Signals", "Rang", rang) == [own, Focus1.focused])
      #expect(try await paths(client, window, "demo.Hidden", "Rang", []).isEmpty)
      #expect(try await paths(client, window, Focus1.objectManager, "InterfacesAdded", []).isEmpty)
      try await entry.owner.focus("entry")
      // The entry has the same interface, and is nearer; the other one is the window's alone.
      #expect(try await paths(client, window, "demo.Edit", "Saved", saved) == [own])
      #expect(try await paths(client, entry, "demo.Edit", "Saved", []) == [Focus1.field("entry"), Focus1.focused])
      #expect(try await paths(client, window, "demo.Signals", "Rang", rang) == [own, Focus1.focused])
      try await entry.owner.field("entry", "Unregister")
      #expect(try await paths(client, entry, "demo.Edit", "Saved", []).isEmpty)
      #expect(try await paths(client, window, "demo.Edit", "Saved", saved) == [own, Focus1.focused])
    }
  }

  @Test("carry file descriptors, from each field of an object, however many come at once")
  func descriptors() async throws {
    // All that it sends of them fits into the bus's socket, however late the bus is, and not into its descriptors at once.
    let count = 8
    try await TestDesktop.with(prefix: ["/usr/bin/prlimit", "--nofile=96:96"]) { desktop in
      let window = Exported(
        try await desktop.peer(), document(("demo.Edit", "<signal name='Gave'><arg type='h'/></signal>")))
      for number in 0..<16 { try await window.owner.register("f\(number)", object: window.path) }
      let client = try await desktop.peer()
      try await client.askBus("AddMatch", [.string("path='\(Focus1.field("f15"))'")])
      // So that all of them are there when it reads the first.
      desktop.daemon.terminate(SIGSTOP)
      for _ in 0..<count { window.emit("demo.Edit", "Gave", [.unixFD(UnixFD(owning: dup(0)))]) }
      try await window.owner.flush()
      desktop.daemon.terminate(SIGCONT)
      // The bus may pass on a call of the client's before what the owner has sent.
      let given = try await client.signals("\(count) descriptors") { signals in
        let given = signals.filter { $0.member == "Gave" }
        return given.count >= count ? given : nil
      }
      #expect(given.count == count)
      #expect(given.allSatisfy { if case .unixFD? = $0.arguments.first { true } else { false } })
    }
  }

  @Test("of more than 1 MiB are dropped, and logged by name and once")
  func large() async throws {
    try await TestDesktop.with { desktop in
      let (window, _) = try await window(desktop)
      let client = try await desktop.peer()
      try await client.subscribe()
      try await window.owner.focus("window")
      let secret = "Xk7secretQ"
      func text(_ size: Int) -> [DBusValue] {
        [.string(secret + String(repeating: "x", count: size - 5 - secret.count))]
      }
      let most = try await paths(client, window, "demo.Edit", "Saved", text(1 << 20))
      #expect(most == [Focus1.field("window"), Focus1.focused])
      for size in [(1 << 20) + 1, 8 << 20] {
        #expect(try await paths(client, window, "demo.Edit", "Saved", text(size)).isEmpty)
      }
      // As large in other ways: in an array, and in many arguments.
      let array = DBusValue.array(DBusArray(known: .int32, (0..<(1 << 18)).map { .int32($0) }))
      #expect(try await paths(client, window, "demo.Edit", "Saved", [array]).isEmpty)
      let part = DBusValue.string(String(repeating: secret, count: 20_000))
      #expect(
        try await paths(
          client, window, "demo.Edit", "Saved", [.variant(part), .structure([part, part]), part, part, part]
        )
        .isEmpty)
      for _ in 0..<20 { window.emit("demo.Edit", "Saved", text((1 << 20) + 1)) }
      #expect(try await paths(client, window, "demo.Signals", "Rang", [.int32(1)]).count == 2)
      try await desktop.said("demo.Edit.Saved")
      let said = desktop.log
      let lines = said.filter { $0.contains("demo.Edit.Saved") && $0.contains("'window'") }
      #expect(!lines.isEmpty && lines.count < 4, "\(lines)")
      #expect(!said.contains { $0.contains(secret) })
    }
  }

  @Test("are shown by introspection, with methods, their arguments, access and annotations")
  func introspection() async throws {
    try await TestDesktop.with { desktop in
      let (window, entry) = try await window(desktop)
      let client = try await desktop.peer()
      let slider = Exported(
        window.owner,
        document(
          (
            "demo.Slider",
            property("A", "d") + property("B", "s", "read", emits: "const")
              + property("C", "i", emits: "invalidates") + property("D", "i", emits: "false")
              + property("E", "i", "write")
              + "<method name='Move'><arg name='by' type='d' direction='in'/><arg name='to' type='d' direction='out'/></method>"
              + method("Move") + "<signal name='Moved'><arg name='to' type='d'/></signal>"
          )),
        [
          "demo.Slider.A": .double(1), "demo.Slider.B": .string("b"), "demo.Slider.C": .int32(1),
          "demo.Slider.D": .int32(1),
        ],
        at: "/slider")
      try await window.owner.register(
        "slider", object: slider.path,
        [("parent", Focus1.fieldPath("entry")), ("focus", .boolean(true))])
      for path in [Focus1.focused, Focus1.field("slider")] {
        let interfaces = try IntrospectionDocument.interfaces(in: try await client.introspect(path))
        let found = try #require(interfaces.first { $0.name.text == "demo.Slider" })
        #expect(
          found.methods.map { "\($0.name)(\($0.input.map(\.name)))\($0.output.map(\.type.description))" }
            == ["Move([\"by\"])[\"d\"]", "Move([])[]"])
        #expect(found.signals.map { "\($0.name)\($0.arguments.map(\.name))" } == ["Moved[\"to\"]"])
        // What is fetched when the owner says that it is another is told with its value; at `focused` another field's
        // constant may follow.
        let constant = path == Focus1.focused ? "true" : "const"
        #expect(
          found.properties.map { "\($0.name) \($0.type) \($0.access) \($0.emits.rawValue)" } == [
            "A d readWrite true", "B s read \(constant)", "C i readWrite true", "D i readWrite false",
            "E i write true",
          ])
      }
      let focused = try IntrospectionDocument.interfaces(in: try await client.introspect())
      #expect(focused.first { $0.name.text == "demo.Edit" }?.signals.first?.arguments.isEmpty == true, "the entry's")
      #expect(focused.first { $0.name.text == "demo.Signals" }?.signals.first?.arguments.first?.name == "times")
      #expect(!focused.contains { $0.name.text == "demo.Hidden" })
      // Every tool can read it.
      let tool = try await desktop.busctl("introspect", "demo.Slider")
      #expect(tool.succeeded && tool.text.contains(".Moved"), "\(tool)")
      let gdbus = try await desktop.gdbus("introspect")
      #expect(gdbus.succeeded && gdbus.text.contains("Moved(d to)"), "\(gdbus)")
      _ = entry
    }
  }

  private static let responder = document((Focus1.responder, method("RequestFocus", in: ["o"])))

  @Test("for focus, by others, are the owner's to accept or refuse; without a responder they are denied")
  func requests() async throws {
    try await TestDesktop.with { desktop in
      let (owner, client) = (try await desktop.peer(), try await desktop.peer())
      let object = Exported(owner, Self.responder)
      let plain = Exported(owner, document(("demo.A", method("Do"))), at: "/plain")
      try await owner.register("asked", object: object.path, [("interfaces", .strings([]))])
      try await owner.register("plain", object: plain.path)
      try await owner.register("stored")
      for id in ["plain", "stored"] {
        let error = await #expect(throws: RemoteError.self) { try await client.focus(id) }
        #expect(error?.shortName == "AccessDenied" && error?.message.contains(Focus1.responder) == true, "\(id)")
      }
      object.rule("RequestFocus") { call, _, thread in
        guard let field = call.arguments.first?.basicText else { return nil }
        // The owner moves focus itself before it answers.
        guard
          let focus = try? OutgoingMessage.methodCall(
            to: BusName(Focus1.name), path: ObjectPath(field), interface: InterfaceName(Focus1.fieldInterface),
            member: MemberName("Focus"))
        else { return nil }
        _ = try? thread.connection?.send(focus)
        return .values([])
      }
      try await client.focus("asked")
      let focused = try await client.get("org.focusd.Focus1.Manager.FocusedField", at: Focus1.manager)
      #expect(focused == Focus1.fieldPath("asked"))
      #expect(object.state.now.calls.last?.arguments == [Focus1.fieldPath("asked")])

      try await owner.focus("plain")
      #expect(object.count("RequestFocus") == 1, "the owner is not asked for its own call")
      let own = RemoteError(name: "org.example.Error.Busy", message: "a dialog is open")
      object.rule("RequestFocus") { _, _, _ in .error(own.name, own.message) }
      let error = await #expect(throws: RemoteError.self) { try await client.focus("asked") }
      #expect(error == own)
      let still = try await client.get("org.focusd.Focus1.Manager.FocusedField", at: Focus1.manager)
      #expect(still == Focus1.fieldPath("plain"))
      // It is a service for the daemon and no command.
      #expect(try await client.commands(at: Focus1.field("asked")).isEmpty)
      let interface = "org.focusd.Focus1.Responder"
      #expect(
        try await refusal { try await client.call(Focus1.field("asked"), interface, "RequestFocus") }
          == "UnknownInterface")

      object.rule("RequestFocus") { _, _, _ in .values([]) }
      client.send(DaemonCall(Focus1.field("asked"), Focus1.fieldInterface, "Focus"))
      try await eventually("asked without waiting") { object.count("RequestFocus") == 3 }
      #expect(object.state.now.calls.last?.wantsReply == false)
    }
  }
}
