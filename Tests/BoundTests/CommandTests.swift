import BusSupport
import DBusTypes
import Glibc
import TestSupport
import Testing

@Suite("Commands")
struct CommandTests {
  private static let xml = document(
    ("demo.Edit", method("Save", in: ["s"], out: ["s"]) + method("Undo")),
    ("demo.Pipe", method("Pass", in: ["h"], out: ["h"])))

  /// A window and an entry in it, of two owners, with the same commands; the entry has focus.
  private func window(_ desktop: TestDesktop) async throws -> (window: Exported, entry: Exported) {
    let (first, second) = (try await desktop.peer(), try await desktop.peer())
    let window = Exported(first, Self.xml)
    let entry = Exported(second, Self.xml)
    for (object, name) in [(window, "window"), (entry, "entry")] {
      object.rule("Save") { call, _, _ in .values([.string("\(name): \(call.arguments.first?.basicText ?? "")")]) }
    }
    try await first.register("window", object: window.path)
    try await second.register(
      "entry", object: entry.path,
      [
        ("parent", Focus1.fieldPath("window")), ("focus", .boolean(true)),
        ("interfaces", .strings(["demo.Edit"])),
      ])
    return (window, entry)
  }

  private func save(_ client: Peer, _ text: String = "x", at path: String = Focus1.focused) async throws -> String? {
    try await client.call(path, "demo.Edit", "Save", [.string(text)]).first?.basicText
  }

  @Test("reach the innermost field that has them, or the field that is called")
  func innermost() async throws {
    try await TestDesktop.with { desktop in
      let (window, entry) = try await window(desktop)
      let client = try await desktop.peer()
      #expect(try await save(client) == "entry: x")
      #expect(try await save(client, at: Focus1.field("window")) == "window: x")
      #expect(try await client.invoke("demo.Edit.Save", [.string("y")]) == [.string("entry: y")])
      #expect(
        try await client.invoke("demo.Edit.Save", [.string("y")], at: Focus1.field("window")) == [.string("window: y")])
      #expect(entry.state.now.calls.last?.sender != client.name)
      #expect(entry.state.now.calls.last?.path == entry.path)
      try await window.owner.focus("window")
      #expect(try await save(client) == "window: x")
      try await window.owner.field("window", "Blur")
      #expect(try await refusal { try await save(client) } == "NotFocused")
      #expect(try await refusal { try await client.invoke("demo.Edit.Save", [.string("")]) } == "NotFocused")
      #expect(try await client.commands().isEmpty)
    }
  }

  @Test("are called without an interface, too, if the daemon has no such method itself")
  func withoutInterface() async throws {
    try await TestDesktop.with { desktop in
      let (_, entry) = try await window(desktop)
      let client = try await desktop.peer()
      for path in [Focus1.focused, Focus1.field("entry")] {
        let saved = try await client.call(DaemonCall(path, nil, "Save", [.string("x")]))
        #expect(saved.first?.basicText == "entry: x")
        #expect(try await client.begin(DaemonCall(path, nil, "No")).refusal() == "UnknownMethod")
        try await client.call(DaemonCall(path, nil, "Ping"))
      }
      #expect(entry.state.now.calls.last?.interface == "demo.Edit")
      #expect(try await client.begin(DaemonCall(Focus1.manager, nil, "Save")).refusal() == "UnknownMethod")
    }
  }

  @Test("that are missing at a field are unknown methods, and at focused nil")
  func missing() async throws {
    try await TestDesktop.with { desktop in
      let (_, entry) = try await window(desktop)
      let client = try await desktop.peer()
      let at = Focus1.field("entry")
      #expect(try await refusal { try await client.call(at, "demo.Edit", "No") } == "UnknownMethod")
      // It is there, and not among the interfaces that the entry exposes.
      #expect(try await refusal { try await client.call(at, "demo.Pipe", "Pass") } == "UnknownMethod")
      #expect(try await refusal { try await client.invoke("demo.Pipe.Pass", at: at) } == "UnknownMethod")
      #expect(try await refusal { try await client.call(Focus1.focused, "demo.Edit", "No") } == "NotFocused")
      #expect(try await refusal { try await client.invoke("demo.Edit.No") } == "NotFocused")
      #expect(try await refusal { try await client.invoke("no key") } == "InvalidArgs")
      #expect(try await refusal { try await client.call(Focus1.field("gone"), "demo.Edit", "Save") } == "UnknownObject")
      #expect(
        try await refusal { try await client.call(at, "org.freedesktop.DBus.Nothing", "Save") } == "UnknownInterface")
      #expect(entry.count("No") == 0)
      let large = DaemonCall(Focus1.manager, "demo.Edit", "No", [.string(String(repeating: "x", count: 5 << 20))])
      #expect(try await client.begin(large).refusal() == "LimitsExceeded")
    }
  }

  @Test("that are disabled hide the ancestors', are told apart from nil, and are signalled")
  func disabled() async throws {
    try await TestDesktop.with { desktop in
      let (window, entry) = try await window(desktop)
      let client = try await desktop.peer()
      try await client.subscribe()
      #expect(try await refusal { try await client.setEnabled("entry", ["demo.Edit.Save": false]) } == "AccessDenied")
      #expect(
        try await refusal { try await entry.owner.setEnabled("entry", ["demo.Edit.No": false]) } == "UnknownMethod")
      let states = ["Save", "Zoom", "A"].map {
        DBusDictionary.Entry(key: .string("demo.Edit.\($0)"), value: .boolean(false))
      }
      let first = try await entry.owner.begin(
        .field("entry", "SetEnabled", [.dictionary(DBusDictionary(key: .string, value: .boolean, states))])
      ).remoteError()
      #expect(
        first?.shortName == "UnknownMethod" && first?.message.contains("demo.Edit.Zoom") == true, "\(first as Any)")
      try await entry.owner.setEnabled("entry", ["demo.Edit.Save": false])
      #expect(try await refusal { try await save(client) } == "Disabled")
      #expect(try await refusal { try await save(client, at: Focus1.field("entry")) } == "Disabled")
      #expect(try await refusal { try await client.invoke("demo.Edit.Save", [.string("")]) } == "Disabled")
      #expect(try await save(client, at: Focus1.field("window")) == "window: x")
      #expect(entry.count("Save") == 0 && window.count("Save") == 1)
      #expect(
        try await client.commands() == ["demo.Edit.Save": false, "demo.Edit.Undo": true, "demo.Pipe.Pass": true])
      #expect(
        try await client.commands(at: Focus1.field("entry")) == ["demo.Edit.Save": false, "demo.Edit.Undo": true])
      let told = "org.focusd.Focus1.Bindings.Commands"
      for path in [Focus1.focused, Focus1.field("entry")] {
        #expect(client.signals.values(of: told, at: path).count == 1, "\(path)")
      }
      try await entry.owner.setEnabled("entry", ["demo.Edit.Save": false])
      // Hidden from focused by the entry's.
      try await window.owner.setEnabled("window", ["demo.Edit.Save": false])
      try await client.settle()
      #expect(client.signals.values(of: told).count == 1)
      #expect(client.signals.values(of: told, at: Focus1.field("window")).count == 1)
      try await entry.owner.setEnabled("entry", ["demo.Edit.Save": true])
      #expect(try await save(client) == "entry: x")
      #expect(client.signals.values(of: told).count == 2)
    }
  }

  @Test("come back as they were answered: results of every type, errors, nothing")
  func answers() async throws {
    try await TestDesktop.with { desktop in
      let (_, entry) = try await window(desktop)
      let client = try await desktop.peer()
      var values = ValueGenerator(seed: 4)
      for _ in 0..<100 {
        // Two levels are for the variant and the array that Invoke puts around each.
        let type = values.type(depth: 4)
        let arguments = [values.value(of: type), values.value(of: values.basicType())]
        entry.rule("Undo") { call, _, _ in .values(call.arguments) }
        #expect(try await client.call(Focus1.focused, "demo.Edit", "Undo", arguments) == arguments)
        #expect(try await client.invoke("demo.Edit.Undo", arguments) == arguments)
      }
      let own = RemoteError(name: "org.example.Error.Odd", message: "nothing to undo")
      entry.rule("Undo") { _, _, _ in .error(own.name, own.message) }
      let call = await #expect(throws: RemoteError.self) { try await client.call(Focus1.focused, "demo.Edit", "Undo") }
      let invoke = await #expect(throws: RemoteError.self) { try await client.invoke("demo.Edit.Undo") }
      #expect(call == own)
      #expect(invoke == own)
      entry.rule("Undo") { _, _, _ in .values([]) }
      #expect(try await client.call(Focus1.focused, "demo.Edit", "Undo").isEmpty)
      #expect(try await client.invoke("demo.Edit.Undo").isEmpty)
    }
  }

  /// What is carried out is not refused, though a call may not carry so much.
  @Test("come back whole, whatever their size")
  func largeAnswers() async throws {
    try await TestDesktop.with { desktop in
      let (_, entry) = try await window(desktop)
      let client = try await desktop.peer()
      let large: [[DBusValue]] = [
        [.string(String(repeating: "ü", count: 5 << 19)), .boolean(true)],
        [.strings(Array(repeating: "", count: 140_000))],
      ]
      for results in large {
        entry.rule("Undo") { _, _, _ in .values(results) }
        #expect(try await client.call(Focus1.focused, "demo.Edit", "Undo") == results)
        #expect(try await client.invoke("demo.Edit.Undo") == results)
      }
    }
  }

  @Test("that want no reply get none, whatever becomes of them")
  func noReply() async throws {
    try await TestDesktop.with { desktop in
      let (_, entry) = try await window(desktop)
      let client = try await desktop.peer()
      client.send(DaemonCall(Focus1.focused, "demo.Edit", "Save", [.string("x")]))
      client.send(DaemonCall(Focus1.focused, "demo.Edit", "No"))
      client.send(DaemonCall(Focus1.field("gone"), "demo.Edit", "Save"))
      try await entry.called("Save")
      try await client.settle()
      #expect(entry.state.now.calls.last?.wantsReply == false)
      #expect(client.replies.count == 1, "the reply of `settle` alone")
      client.send(.invoke("demo.Edit.Save", [.string("y")]))
      try await eventually("invoked") { entry.count("Save") == 2 }
      #expect(entry.state.now.calls.last?.wantsReply == false)
    }
  }

  /// Which file a descriptor stands for.
  private static func identity(_ descriptor: UnixFD) -> [UInt] {
    var status = stat()
    fstat(descriptor.number, &status)
    return [UInt(status.st_dev), UInt(status.st_ino)]
  }

  @Test("carry file descriptors both ways")
  func descriptors() async throws {
    try await TestDesktop.with { desktop in
      let (_, _) = try await window(desktop)
      let client = try await desktop.peer()
      var ends: [Int32] = [-1, -1]
      try #require(pipe(&ends) == 0)
      let pipe = ends.map { UnixFD(owning: $0) }
      var before: Int?
      for turn in 0..<20 {
        let answer =
          turn % 2 == 0
          ? try await client.call(Focus1.focused, "demo.Pipe", "Pass", [.unixFD(pipe[0])])
          : try await client.invoke("demo.Pipe.Pass", [.unixFD(pipe[0])])
        guard case .unixFD(let back)? = answer.first else {
          Issue.record("\(answer)")
          return
        }
        #expect(Self.identity(back) == Self.identity(pipe[0]))
        #expect(back.number != pipe[0].number)
        guard turn == 1 else { continue }
        try await client.settle()
        before = desktop.daemon.descriptors
      }
      try await client.settle()
      #expect(desktop.daemon.descriptors == before)
    }
  }

  @Test("of a scene-scoped field resolve anywhere in its scene")
  func scene() async throws {
    try await TestDesktop.with { desktop in
      let (window, _) = try await window(desktop)
      let client = try await desktop.peer()
      let toolbar = Exported(window.owner, document(("demo.Bar", method("Hide", out: ["s"]))), at: "/toolbar")
      toolbar.rule("Hide") { _, _, _ in .values([.string("hidden")]) }
      try await window.owner.register(
        "toolbar", object: toolbar.path,
        [("parent", Focus1.fieldPath("window")), ("scope", .string("scene"))])
      #expect(try await client.call(Focus1.focused, "demo.Bar", "Hide") == [.string("hidden")])
      try await client.register("elsewhere")
      try await client.focus("elsewhere")
      #expect(try await refusal { try await client.call(Focus1.focused, "demo.Bar", "Hide") } == "NotFocused")
    }
  }
}
