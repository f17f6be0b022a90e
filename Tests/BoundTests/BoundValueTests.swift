import BusSupport
import DBusTypes
import TestSupport
import Testing

@Suite("Values of bound bindings")
struct BoundValueTests {
  private let key = "demo.Slider.Value"

  /// A field `slider` that has focus, with one property that is told of as `emits` says.
  private func slider(_ desktop: TestDesktop, emits: String, _ value: DBusValue = .double(0.5)) async throws -> Exported
  {
    let owner = try await desktop.peer()
    let xml = document(("demo.Slider", property("Value", value.type.description, emits: emits)))
    let object = Exported(owner, xml, [key: value])
    object.state.update { $0.tells = emits == "true" }
    try await owner.register("slider", object: object.path, [("focus", .boolean(true))])
    return object
  }

  /// Moves the field `slider` into a field `window` that stores the same key.
  private func putIntoWindow(_ object: Exported) async throws {
    try await object.owner.register("window", [(key, .double(7))])
    try await object.owner.field("slider", "Unregister")
    try await object.owner.register(
      "slider", object: object.path, [("parent", Focus1.fieldPath("window")), ("focus", .boolean(true))])
  }

  @Test("are served by the daemon where the owner tells of changes, or there are none", arguments: ["true", "const"])
  func cached(_ emits: String) async throws {
    try await TestDesktop.with { desktop in
      let object = try await slider(desktop, emits: emits)
      let client = try await desktop.peer()
      try await client.subscribe()
      object.rule("Get") { _, _, _ in .error("org.example.Error.Asked", "") }
      for _ in 0..<20 {
        #expect(try await client.get(key) == .double(0.5))
        #expect(try await client.read(key).value == .double(0.5))
        #expect(try await client.readAll() == [key: .double(0.5)])
        #expect(try await client.getAll() == ["Value": .double(0.5)])
      }
      guard emits == "true" else { return }
      object.change(key, to: .double(0.6))
      try await client.signals("change") { $0.values(of: key) == [.double(0.6)] ? () : nil }
      #expect(try await client.get(key) == .double(0.6))
      // What is there already is told to nobody.
      object.change(key, to: .double(0.6))
      object.change(key, to: .double(0.7))
      try await client.signals("change") { $0.values(of: key).last == .double(0.7) ? () : nil }
      #expect(client.signals.values(of: key) == [.double(0.6), .double(0.7)])
      #expect(client.signals.values(of: key, at: Focus1.field("slider")) == [.double(0.6), .double(0.7)])
      #expect(object.count("Get") == 0)
    }
  }

  @Test("that the owner only says to be others are fetched, once for all who want them")
  func invalidated() async throws {
    try await TestDesktop.with { desktop in
      let object = try await slider(desktop, emits: "invalidates")
      let (client, other) = (try await desktop.peer(), try await desktop.peer())
      try await client.subscribe()
      #expect(try await client.get(key) == .double(0.5))
      #expect(object.count("Get") == 0)

      object.rule("Get") { _, _, _ in .hold }
      object.invalidate(key, to: .double(0.6))
      try await object.called("Get")
      let readings = (0..<20).map { ($0 % 2 == 0 ? client : other).begin(.get(key)) }
      try await client.settle()
      try await other.settle()
      object.rule("Get", nil)
      object.release()
      for each in readings { #expect(try await each.values() == [.variant(.double(0.6))]) }
      #expect(object.count("Get") == 1)
      #expect(try await client.signals("change") { $0.values(of: key).last } == .double(0.6))
      #expect(try await client.get(key) == .double(0.6))
      #expect(object.count("Get") == 1)
    }
  }

  @Test(
    "that are said to be others once more while they are fetched are fetched again, read or not",
    arguments: [true, false])
  func invalidatedAgain(_ isRead: Bool) async throws {
    try await TestDesktop.with { desktop in
      let object = try await slider(desktop, emits: "invalidates")
      let client = try await desktop.peer()
      try await client.subscribe()
      object.rule("Get") { _, _, _ in .hold }
      object.invalidate(key, to: .double(0.6))
      try await object.called("Get")
      for step in 1...200 { object.invalidate(key, to: .double(Double(step))) }
      try await object.owner.settle()
      let reading = isRead ? client.begin(.get(key)) : nil
      try await client.settle()
      // The first question is answered by what was there when it was asked.
      object.rule("Get", nil)
      object.release { _ in .values([.variant(.double(0.6))]) }
      if let reading { #expect(try await reading.values() == [.variant(.double(200))]) }
      try await client.signals("change") { $0.values(of: key).last == .double(200) ? () : nil }
      #expect(object.count("Get") == 2)
    }
  }

  @Test("that the owner does not tell of are read from it each time")
  func never() async throws {
    try await TestDesktop.with { desktop in
      let object = try await slider(desktop, emits: "false")
      let client = try await desktop.peer()
      try await client.subscribe()
      for step in 1...5 {
        let value = DBusValue.double(Double(step))
        object.change(key, to: value)
        try await object.owner.settle()
        let before = object.count("Get")
        switch step {
        case 1: #expect(try await client.get(key) == value)
        case 2: #expect(try await client.read(key).value == value)
        case 3: #expect(try await client.readAll() == [key: value])
        case 4: #expect(try await client.getAll("demo.Slider") == ["Value": value])
        default: #expect(try await client.get(key, at: Focus1.field("slider")) == value)
        }
        #expect(object.count("Get") == before + 1)
        // What a reading finds is told to everyone else.
        #expect(client.signals.values(of: key).last == value)
      }
      // Other interfaces are not asked for.
      #expect(try await client.getAll("demo.Other").isEmpty)
      #expect(object.count("Get") == 5)
      // An owner's refusal comes back as it was.
      object.rule("Get") { _, _, _ in .error("org.example.Error.Odd", "not now") }
      let error = await #expect(throws: RemoteError.self) { try await client.get(key) }
      #expect(error == RemoteError(name: "org.example.Error.Odd", message: "not now"))
      // What cannot be had is left out.
      #expect(try await client.readAll() == [:])
      #expect(try await client.getAll("demo.Slider") == [:])
    }
  }

  @Test("that are told of against what was declared are taken nevertheless")
  func undeclaredTelling() async throws {
    try await TestDesktop.with { desktop in
      let object = try await slider(desktop, emits: "true")
      let client = try await desktop.peer()
      object.invalidate(key, to: .double(0.9))
      try await object.called("Get")
      #expect(try await client.get(key) == .double(0.9))
    }
  }

  @Test("of another type than declared are taken as they are; a write may have either type")
  func otherType() async throws {
    try await TestDesktop.with { desktop in
      let object = try await slider(desktop, emits: "true")
      let client = try await desktop.peer()
      try await client.subscribe()
      object.change(key, to: .int64(3))
      try await client.signals("value") { $0.values(of: key).last == .int64(3) ? () : nil }
      #expect(try await client.get(key) == .int64(3))
      for (value, taken) in [(.double(0.5), .double(0.5)), (.int64(4), .int64(4)), (.int32(5), .int64(5))]
        as [(DBusValue, DBusValue)]
      {
        #expect(try await client.write(key, value).value == taken)
        #expect(try await client.get(key) == taken)
        object.change(key, to: .int64(3))
        try await object.owner.settle()
      }
      #expect(try await refusal { try await client.set(key, .string("4")) } == "TypeMismatch")
      // Another field may give the key another type, and neither breaks the other.
      try await client.register("other", [(key, .string("x"))])
      #expect(try await client.read(key, at: Focus1.field("other")).value == .string("x"))
      #expect(try await client.get(key) == .int64(3))
    }
  }

  @Test("past a limit are nil until the owner tells another", arguments: ["true", "invalidates", "false"])
  func tooLarge(_ emits: String) async throws {
    try await TestDesktop.with { desktop in
      let object = try await slider(desktop, emits: emits, .string("a"))
      let client = try await desktop.peer()
      let most = String(repeating: "x", count: (1 << 20) - 5)
      object.invalidate(key, to: .string(most + "x"))
      try await object.owner.settle()
      #expect(try await refusal { try await client.get(key) } == "NotFocused")
      #expect(try await client.read(key).value == nil)
      #expect(try await client.readAll() == [:])
      object.invalidate(key, to: .string(most))
      try await object.called("Get", times: 2)
      try await eventually("the value is there") { try await client.read(key).value == .string(most) }
      #expect(try await client.readAll() == [key: .string(most)])
    }
  }

  @Test(
    "that Get says are unknown are nil now, and stay it until the owner tells one", arguments: ["invalidates", "false"])
  func unknown(_ emits: String) async throws {
    try await TestDesktop.with { desktop in
      let object = try await slider(desktop, emits: emits)
      let client = try await desktop.peer()
      try await client.subscribe()
      try await putIntoWindow(object)
      object.rule("Get") { _, _, _ in .error("org.freedesktop.DBus.Error.UnknownProperty", "not now") }
      object.invalidate(key, to: .double(1))
      try await object.owner.settle()
      #expect(try await client.read(key).field == "window")
      #expect(try await client.get(key) == .double(7))
      #expect(client.signals.values(of: key).last == .double(7))
      object.rule("Get", nil)
      if emits == "false" {
        // Nobody would tell of it: it is asked for each time, also while it is nil.
        #expect(try await client.read(key).field == "slider")
        #expect(try await client.readAll() == [key: .double(1)])
        return
      }
      object.change(key, to: .double(2))
      object.owner.perform { $0.emitChanged(object.path, "demo.Slider", [("Value", .double(2))]) }
      try await client.signals("value") { $0.values(of: key).last == .double(2) ? () : nil }
      #expect(try await client.read(key).field == "slider")
      // A write is the owner's to take, also if the key is nil after it: what was written cannot be read back.
      object.rule("Get") { _, _, _ in .error("org.freedesktop.DBus.Error.UnknownProperty", "not now") }
      let written = try await client.write(key, .double(3))
      #expect(written.field == "slider" && written.value == .double(3) && written.revision == 0, "\(written)")
    }
  }

  @Test("that the owner says are nil while they are asked for resolve to the next field that has them")
  func vanishing() async throws {
    try await TestDesktop.with { desktop in
      let object = try await slider(desktop, emits: "false")
      let client = try await desktop.peer()
      try await putIntoWindow(object)
      #expect(try await client.read(key).field == "slider")
      object.rule("Get") { _, _, _ in .hold }
      let asked = object.count("Get")
      let readings = (client.begin(.read(key)), client.begin(.get(key)))
      try await object.called("Get", times: asked + 2)
      object.change(key, to: .string("odd"))
      object.owner.perform { $0.emitChanged(object.path, "demo.Slider", [("Value", .string("odd"))]) }
      object.release { _ in .values([.variant(.string("odd"))]) }
      for reading in [readings.0, readings.1] { _ = try await reading.values() }
      object.rule("Get") { _, _, _ in .error("org.freedesktop.DBus.Error.UnknownProperty", "gone") }
      let reading = try await client.read(key)
      #expect(reading.value == .double(7))
      #expect(reading.field == "window")
      #expect(try await client.get(key) == .double(7))
    }
  }

  @Test("that are nil are asked for in the scene, too, if nobody would tell of them: the newest field first")
  func nilInTheScene() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.peer()
      let client = try await desktop.peer()
      let number = "demo.P.Number"
      try await owner.register("window", [("demo.P.Title", .string("window"))])
      var objects: [Exported] = []
      for (index, id) in ["older", "newer"].enumerated() {
        objects.append(
          Exported(owner, document(("demo.P", property("Number", "i", emits: "false"))), [:], at: "/\(index)"))
        try await owner.register(
          id, object: objects[index].path, [("parent", Focus1.fieldPath("window")), ("scope", .string("scene"))])
      }
      try await owner.register("entry", [], [("parent", Focus1.fieldPath("window")), ("focus", .boolean(true))])
      #expect(try await client.read(number).field == "")
      objects[0].change(number, to: .int32(1))
      #expect(try await client.read(number).field == "older")
      objects[1].change(number, to: .int32(2))
      #expect(try await client.get(number) == .int32(2))
      #expect(try await client.read(number).field == "newer")
      #expect(try await client.readAll()[number] == .int32(2))
      // One that does not tell is not passed over.
      objects[1].rule("Get") { _, _, _ in .error("org.example.Error.Odd", "odd") }
      #expect(try await client.begin(.get(number)).refusal() == "org.example.Error.Odd")
      #expect(try await client.readAll()[number] == nil)
      objects[1].rule("Get") { _, _, _ in .hold }
      // A session field is scene-scoped in its scene.
      try await owner.register(
        "player", [(number, .int32(4))], [("parent", Focus1.fieldPath("window")), ("scope", .string("session"))])
      #expect(try await client.get(number) == .int32(4))
      #expect(try await client.readAll()[number] == .int32(4))
      objects[1].rule("Get", nil)
      // Nothing further away is asked for what a nearer field has.
      try await owner.call(.publish("entry", [(number, .int32(3))]))
      let asked = objects.map { $0.count("Get") }
      #expect(try await client.get(number) == .int32(3))
      #expect(try await client.readAll()[number] == .int32(3))
      #expect(objects.map { $0.count("Get") } == asked)
    }
  }

  @Test("of a field that went while they were asked for are those of what has focus then")
  func unregisteredMeanwhile() async throws {
    try await TestDesktop.with { desktop in
      let object = try await slider(desktop, emits: "false")
      let client = try await desktop.peer()
      try await putIntoWindow(object)
      object.rule("Get") { _, _, _ in .hold }
      let readings = (client.begin(.read(key)), client.begin(.get(key)))
      try await object.called("Get", times: 2)
      try await object.owner.field("slider", "Unregister")
      object.release()
      #expect(try await readings.1.values() == [.variant(.double(7))])
      #expect(try await readings.0.values()[1] == Focus1.fieldPath("window"))
    }
  }

  @Test("of an object that is silent end a read of all in time, whatever else becomes unknown meanwhile")
  func readAllOfASilentObject() async throws {
    try await TestDesktop.with { desktop in
      let (owner, client) = (try await desktop.peer(), try await desktop.peer())
      let xml = document(("demo.A", property("Each", "i", emits: "false") + property("Told", "i")))
      let object = Exported(owner, xml, ["demo.A.Each": .int32(1), "demo.A.Told": .int32(2)])
      try await owner.register("a", object: object.path, [("focus", .boolean(true))])
      for member in ["Get", "Set"] { object.rule(member) { _, _, _ in .hold } }
      // What is in a property whose write is not answered is unknown.
      let write = client.begin(.set("demo.A.Told", .int32(3)))
      try await object.called("Set")
      let reading = client.begin(.readAll())
      try await object.called("Get")
      #expect(try await write.refusal() == "Timeout")
      guard case .dictionary(let all)? = try await reading.values().first else {
        Issue.record("no dictionary")
        return
      }
      #expect(all.entries.isEmpty)
      #expect(object.count("Get") == 1)
    }
  }

  @Test("are read all from what has focus when the reply is made")
  func readAllWhileFocusMoves() async throws {
    try await TestDesktop.with { desktop in
      let (first, second, client) = (try await desktop.peer(), try await desktop.peer(), try await desktop.peer())
      let xml = document(("demo.A", property("X", "i", emits: "false")))
      let objects = [Exported(first, xml, ["demo.A.X": .int32(1)]), Exported(second, xml, ["demo.A.X": .int32(2)])]
      for (object, id) in zip(objects, ["a", "b"]) { try await object.owner.register(id, object: object.path) }
      try await first.focus("a")
      objects[0].rule("Get") { _, _, _ in .hold }
      let reading = client.begin(.readAll())
      try await objects[0].called("Get")
      try await second.focus("b")
      objects[1].change("demo.A.X", to: .int32(3))
      objects[0].release()
      guard case .dictionary(let all)? = try await reading.values().first,
        case .structure(let entry)? = all.entries.first?.value
      else {
        Issue.record("no entry")
        return
      }
      #expect(all.entries.count == 1)
      #expect(entry.prefix(2) == [.variant(.int32(3)), Focus1.fieldPath("b")])
      #expect(objects[1].count("Get") == 1)
    }
  }
}

extension Reading {
  /// What `Read` replies for nil.
  fileprivate static var nothing: Reading { Reading(value: nil, field: "", revision: 0) }
}
