import BusSupport
import DBus
import DBusTypes
import TestSupport
import Testing

@Suite("Writes to bound bindings")
struct BoundWriteTests {
  private let key = "demo.Slider.Value"

  /// A field `slider` that has focus, with one property that is told of as `emits` says.
  private func slider(
    _ desktop: TestDesktop, emits: String = "true", _ value: DBusValue = .double(0.5), access: String = "readwrite",
    sensitive: Bool = false
  ) async throws -> Exported {
    let owner = try await desktop.peer()
    let xml = document(("demo.Slider", property("Value", value.type.description, access, emits: emits)))
    let object = Exported(owner, xml, [key: value])
    object.state.update { $0.tells = emits == "true" }
    try await owner.register(
      "slider", object: object.path, [("focus", .boolean(true)), ("sensitive", .boolean(sensitive))])
    return object
  }

  /// When an owner tells of what it made of a value.
  enum Telling: String, CaseIterable, CustomTestStringConvertible {
    case before, after, never
    var testDescription: String { rawValue }
  }

  @Test(
    "hold what the owner made of the value: in the reply and in every later read, whenever it tells of it",
    arguments: Telling.allCases, ["true", "invalidates", "false"])
  func turned(_ telling: Telling, _ emits: String) async throws {
    try await TestDesktop.with { desktop in
      let object = try await slider(desktop, emits: emits)
      let (client, other) = (try await desktop.peer(), try await desktop.peer())
      try await client.subscribe()
      object.rule("Set") { [key] call, object, thread in
        guard case .double(let given)? = call.arguments.last?.variantContent else { return nil }
        object.state.update { $0.values[key] = .double(given + 0.05) }
        let tell = {
          emits == "true"
            ? thread.emitChanged(object.path, "demo.Slider", [("Value", .double(given + 0.05))])
            : thread.emitChanged(object.path, "demo.Slider", [], invalidated: ["Value"])
        }
        switch telling {
        case .before: tell()
        case .after: thread.afterReply = tell
        case .never: break
        }
        return .values([])
      }
      for step in 1...5 {
        let (given, taken) = (DBusValue.double(Double(step)), DBusValue.double(Double(step) + 0.05))
        if step % 2 == 0 {
          let written = try await client.write(key, given)
          #expect(written.value == taken)
          #expect(try await other.read(key) == written)
        } else {
          try await client.set(key, given)
        }
        // Signals that the write caused were sent before its reply.
        #expect(client.signals.values(of: key).last == taken)
        for _ in 0..<3 { #expect(try await other.get(key) == taken) }
        #expect(try await other.read(key, at: Focus1.field("slider")).value == taken)
      }
      #expect(client.signals.values(of: key) == (1...5).map { .double(Double($0) + 0.05) })
    }
  }

  @Test("that the owner refuses are refused in the owner's words, and change nothing")
  func refused() async throws {
    try await TestDesktop.with { desktop in
      let object = try await slider(desktop)
      let client = try await desktop.peer()
      try await client.subscribe()
      let own = RemoteError(name: "org.example.Slider.TooMuch", message: "1.5 is more than 1")
      object.rule("Set") { _, _, _ in .error(own.name, own.message) }
      let set = await #expect(throws: RemoteError.self) { try await client.set(key, .double(1.5)) }
      let write = await #expect(throws: RemoteError.self) { try await client.write(key, .double(1.5)) }
      #expect(set == own)
      #expect(write == own)
      #expect(try await client.get(key) == .double(0.5))
      #expect(client.signals.values(of: key).isEmpty)
    }
  }

  @Test("that cannot be are not asked of the owner")
  func unasked() async throws {
    try await TestDesktop.with { desktop in
      let object = try await slider(desktop)
      let client = try await desktop.peer()
      let before = try await client.read(key)
      #expect(try await refusal { try await client.set(key, .string("1")) } == "TypeMismatch")
      #expect(try await refusal { try await client.write(key + "/0", .int32(1)) } == "NoSuchElement")
      #expect(try await refusal { try await client.write(key, .double(1), [("revision", .uint64(99))]) } == "Conflict")
      try await client.register("other", [("demo.A.X", .int32(1))])
      let other = Focus1.fieldPath("other")
      #expect(try await refusal { try await client.write(key, .double(1), [("field", other)]) } == "Conflict")
      #expect(object.count("Set") == 0)
      // What is there already: an owner may have forgotten to tell.
      #expect(try await client.write(key, .double(0.5)) == before)
      try await client.set(key, .double(0.5))
      #expect(object.count("Set") == 2)

      let slider = Focus1.fieldPath("slider")
      let written = try await client.write(
        key, .double(1), [("revision", .uint64(before.revision)), ("field", slider)])
      #expect(written.value == .double(1))
      #expect(written.revision > before.revision)
      #expect(
        try await refusal {
          try await client.write(key, .double(2), [("revision", .uint64(before.revision))])
        } == "Conflict")
      #expect(object.count("Set") == 3)
    }
  }

  /// A value that moves, too: who tries again after a conflict would never end.
  @Test("of a read-only property are refused, the owner's own too", arguments: ["true", "false"])
  func readOnly(emits: String) async throws {
    try await TestDesktop.with { desktop in
      let object = try await slider(desktop, emits: emits, access: "read")
      let client = try await desktop.peer()
      for peer in [client, object.owner] {
        #expect(try await refusal { try await peer.set(key, .double(1)) } == "PropertyReadOnly")
        #expect(try await refusal { try await peer.write(key, .double(1)) } == "PropertyReadOnly")
        let now = try await peer.read(key)
        object.change(key, to: .double(now.revision == 0 ? 0 : Double(now.revision)))
        try await object.owner.settle()
        let old = [("revision", DBusValue.uint64(now.revision))]
        #expect(try await refusal { try await peer.write(key, .double(1), old) } == "PropertyReadOnly")
      }
      #expect(object.count("Set") == 0)
    }
  }

  @Test("of the same value are asked of an owner that does not tell of changes")
  func equalUntold() async throws {
    try await TestDesktop.with { desktop in
      let object = try await slider(desktop, emits: "false")
      let client = try await desktop.peer()
      object.change(key, to: .double(0.9))
      try await object.owner.settle()
      try await client.set(key, .double(0.5))
      #expect(object.state.now.values[key] == .double(0.5))
      // A revision is asked for as of now.
      let now = try await client.read(key)
      object.change(key, to: .double(0.1))
      try await object.owner.settle()
      #expect(
        try await refusal {
          try await client.write(key, .double(1), [("revision", .uint64(now.revision))])
        } == "Conflict")
    }
  }

  /// Appends `count` numbers from `start` on, one after another.
  private func append(_ client: Peer, from start: Int32, _ count: Int32) async throws {
    for number in start..<(start + count) { try await client.write(key + "/-", .int32(number)) }
  }

  @Test(
    "of elements are ordered one after another: what two clients append, 500 each, is all there",
    arguments: [("true", 500), ("false", 50)] as [(String, Int32)])
  func appends(_ emits: String, _ count: Int32) async throws {
    try await TestDesktop.with { desktop in
      let object = try await slider(desktop, emits: emits, .array(try DBusArray(of: .int32)))
      let (first, second) = (try await desktop.peer(), try await desktop.peer())
      async let one: Void = append(first, from: 0, count)
      async let two: Void = append(second, from: 1000, count)
      _ = try await (one, two)
      guard case .array(let items)? = object.state.now.values[key] else { return }
      let numbers = items.compactMap { if case .int32(let number) = $0 { number } else { nil } }
      #expect(numbers.filter { $0 < 1000 } == Array(0..<count))
      #expect(numbers.filter { $0 >= 1000 } == Array(1000..<(1000 + count)))
    }
  }

  @Test("through two fields with one object are ordered too, and each field sees the other's")
  func shared() async throws {
    try await TestDesktop.with { desktop in
      let object = try await slider(desktop, .array(try DBusArray(of: .int32)))
      object.state.update { $0.tells = false }
      try await object.owner.register("second", object: object.path)
      let clients = [try await desktop.peer(), try await desktop.peer()]
      // Each takes two questions to the owner, who has 5 s for all that are under way.
      for start in stride(from: 0, to: 100, by: 10) {
        let writes = (start..<(start + 10)).map { index in
          clients[index % 2].begin(
            .write(key + "/-", .int32(Int32(index)), at: Focus1.field(index % 2 == 0 ? "slider" : "second")))
        }
        for write in writes { _ = try await write.values() }
      }
      guard case .array(let items)? = object.state.now.values[key] else { return }
      #expect(items.count == 100)
      for id in ["slider", "second"] {
        #expect(try await clients[0].get(key, at: Focus1.field(id)) == .array(items))
      }
    }
  }

  @Test("that wait behind one that is never answered end in time, and later ones are done")
  func queue() async throws {
    try await TestDesktop.with { desktop in
      let object = try await slider(desktop)
      let client = try await desktop.peer()
      object.rule("Set") { _, _, _ in .hold }
      let writes = (1...20).map { client.begin(.set(key, .double(Double($0)))) }
      try await object.called("Set")
      for write in writes { #expect(try await write.refusal() == "Timeout") }
      // Those behind it were not sent when next to nothing of their time was left.
      #expect(object.count("Set") < writes.count)
      object.rule("Set", nil)
      object.release()
      try await object.owner.settle()
      // What the owner did with what came too late is asked for, since it may have done it.
      let now = try await client.get(key)
      #expect(now == object.state.now.values[key])
      try await client.set(key, .double(0.25))
      #expect(try await client.get(key) == .double(0.25))
    }
  }

  @Test("into a sensitive field show nothing of what the owner makes of the value")
  func sensitive() async throws {
    try await TestDesktop.with { desktop in
      let object = try await slider(desktop, .string("secret"), sensitive: true)
      let client = try await desktop.peer()
      try await client.subscribe()
      object.rule("Set") { [key] call, object, thread in
        object.change(key, to: .string("derived secret"), thread)
        return .values([])
      }
      #expect(try await client.write(key, .string("mine")).value == .string(""))
      #expect(try await object.owner.get(key) == .string("derived secret"))
      #expect(try await object.owner.write(key, .string("other")).value == .string("derived secret"))
      for at in [Focus1.focused, Focus1.field("slider")] {
        #expect(try await refusal { try await client.get(key, at: at) } == "AccessDenied")
        #expect(try await client.readAll(at: at).isEmpty)
      }
      object.emit("demo.Slider", "Moved", [.string("secret")])
      try await object.owner.settle()
      try await client.settle()
      #expect(!client.signals.contains { "\($0)".contains("secret") })
      #expect(!desktop.log.contains { $0.contains("secret") })
    }
  }
}
