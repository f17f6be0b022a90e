import BusSupport
import DBusTypes
import TestSupport
import Testing

@Suite("Registration of a field with an object")
struct RegistrationTests {
  private static let xml = document(
    (
      "demo.Slider",
      property("Value", "d") + property("Name", "s", "read") + property("Secret", "s", "write")
        + method("Reset", out: ["d"]) + "<signal name='Moved'><arg type='d'/></signal>"
    ),
    ("demo.Other", property("X", "i") + method("Do")), ("org.focusd.Focus1.Mine", method("Never")))

  private static let values: [String: DBusValue] = [
    "demo.Slider.Value": .double(0.5), "demo.Slider.Name": .string("Volume"), "demo.Other.X": .int32(1),
  ]

  @Test("exposes every readable property and every method, but those of D-Bus and of focusd")
  func whole() async throws {
    try await TestDesktop.with { desktop in
      let (owner, client) = (try await desktop.peer(), try await desktop.peer())
      let object = Exported(owner, Self.xml, Self.values)
      #expect(try await owner.register("slider", object: object.path, [("focus", .boolean(true))]) == "slider")
      #expect(
        try await client.keys() == ["demo.Other.X", "demo.Slider.Name", "demo.Slider.Secret", "demo.Slider.Value"])
      #expect(try await client.commands() == ["demo.Other.Do": true, "demo.Slider.Reset": true])
      #expect(try await client.readAll() == Self.values)
      #expect(try await client.getAll("demo.Slider") == ["Value": .double(0.5), "Name": .string("Volume")])
      #expect(try await refusal { try await client.get("demo.Slider.Secret") } == "AccessDenied")
      #expect(object.count("Introspect") == 1)
      #expect(object.count("GetAll") == 2)
    }
  }

  @Test("exposes only the interfaces that were chosen, and of two fields with one object each its own")
  func chosen() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.peer()
      let object = Exported(owner, Self.xml, Self.values)
      try await owner.register("a", object: object.path, [("interfaces", .strings(["demo.Other"]))])
      try await owner.register("b", object: object.path, [("interfaces", .strings(["demo.Slider", "demo.Slider"]))])
      try await owner.register("none", object: object.path, [("interfaces", .strings([]))])
      #expect(try await owner.keys(at: Focus1.field("a")) == ["demo.Other.X"])
      #expect(try await owner.commands(at: Focus1.field("a")) == ["demo.Other.Do": true])
      #expect(
        try await owner.keys(at: Focus1.field("b")) == ["demo.Slider.Name", "demo.Slider.Secret", "demo.Slider.Value"])
      #expect(try await owner.keys(at: Focus1.field("none")).isEmpty)
      #expect(try await owner.commands(at: Focus1.field("none")).isEmpty)
    }
  }

  @Test("passes over interfaces that it does not expose, and names that are none, whatever they hold")
  func foreignInterfaces() async throws {
    let odd = """
      <interface name='local.my-editor.Base'><method name='a-b'/></interface>
      <interface name='demo.Odd'><property name='X' type='z' access='read'/></interface>
      """
    let whole = Self.xml.replacing("<node>", with: "<node>" + odd)
    try await TestDesktop.with { desktop in
      let owner = try await desktop.peer()
      let object = Exported(owner, whole, Self.values)
      try await owner.register("chosen", object: object.path, [("interfaces", .strings(["demo.Other"]))])
      #expect(try await owner.keys(at: Focus1.field("chosen")) == ["demo.Other.X"])
      #expect(try await refusal { try await owner.register("all", object: object.path) } == "InvalidArgs")
    }
  }

  @Test("takes options in the types that languages without D-Bus's own have")
  func naturalTypes() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.peer()
      let object = Exported(owner, Self.xml, Self.values)
      try await owner.register(
        "natural", object: object.path,
        [
          ("interfaces", .variants([.string("demo.Slider"), .string("demo.Other")])), ("live", .variants([])),
          ("scope", .string("session")),
          ("active", .structure([.string("demo.Other.X"), .int32(1)])),
          ("commands", .properties([("demo.Other.Late", .string("s"))])),
        ])
      #expect(try await owner.keys(at: Focus1.field("natural")).count == 4)
      #expect(try await owner.commands(at: Focus1.field("natural"))["demo.Other.Late"] == true)
      let told = try await owner.getAll("org.focusd.Focus1.Field", at: Focus1.field("natural"))
      #expect(told["Active"] == .boolean(true))
      let odd: Named = [
        ("process", .int32(1)), ("focus", .int32(1)), ("label", .int32(1)), ("label", .variant(.string("x"))),
        ("live", .variant(.strings([]))),
        ("parent", .string(Focus1.field("natural"))), ("live", .variants([.string("demo.Other.X"), .int32(1)])),
        ("active", .structure([.string("demo.Other.X")])), ("active", .structure([.int32(1), .int32(1)])),
      ]
      for option in odd {
        #expect(
          try await refusal { try await owner.register("odd", object: object.path, [option]) } == "InvalidArgs",
          "\(option)")
      }
    }
  }

  /// A registration that is refused: what is odd of it, and the error.
  private struct Bad: Sendable {
    var what: String
    var xml = RegistrationTests.xml
    var values = RegistrationTests.values
    var options: Named = []
    var stored: Named = []
    var path: String? = "/object"
    var member = ""
    var answer: Answer?
    var error = "InvalidArgs"
    var says = ""
  }

  private static var bad: [Bad] {
    let error = "org.example.Error.Odd"
    let many = (0..<257).map { method("M\($0)") }.joined()
    return [
      Bad(
        what: "an unknown interface", options: [("interfaces", .strings(["demo.Slider", "demo.No"]))], says: "'demo.No'"
      ),
      Bad(
        what: "a reserved interface", options: [("interfaces", .strings(["org.focusd.Focus1.Mine"]))],
        says: "reserved for D-Bus or focusd"),
      Bad(
        what: "D-Bus's interface", options: [("interfaces", .strings([Focus1.properties]))],
        says: "reserved for D-Bus or focusd"),
      Bad(what: "no object there", path: "/nowhere", says: "there is no /nowhere"),
      Bad(what: "no valid name", xml: document(("local.my-editor.App", "")), says: "'local.my-editor.App' is not an"),
      Bad(what: "linger", options: [("linger", .boolean(true))], says: "'linger'"),
      Bad(
        what: "interfaces without object", options: [("interfaces", .strings(["demo.Slider"]))], path: nil,
        says: "'object'"),
      Bad(
        what: "live keys that are stored", options: [("live", .strings(["demo.A.Y", "demo.A.X"]))],
        stored: [("demo.A.X", .int32(1)), ("demo.A.Y", .int32(1))], says: "'live' lists demo.A.X,"),
      Bad(what: "an option of another type", options: [("interfaces", .string("demo.Slider"))], says: "'interfaces'"),
      Bad(
        what: "only standard interfaces", xml: document(), error: "NothingToExpose",
        says: "neither an interface to expose, none below org.freedesktop among them, nor"),
      Bad(
        what: "only focusd's own", xml: document(("org.focusd.Focus1.Mine", method("Never"))),
        options: [("interfaces", .strings([]))], error: "NothingToExpose", says: Focus1.responder),
      Bad(what: "not XML", xml: "demo.Slider", says: "not valid"),
      Bad(what: "an entity", xml: "<!DOCTYPE node [<!ENTITY a 'b'>]><node/>", says: "DOCTYPE"),
      Bad(what: "too deep", xml: String(repeating: "<node>", count: 100), says: "64 deep"),
      Bad(what: "too big", xml: "<node>" + String(repeating: " ", count: 1 << 20) + "</node>", says: "1048576"),
      Bad(what: "a bad type", xml: document(("demo.Slider", property("Value", "dd"))), says: "'dd'"),
      Bad(what: "Introspect fails", member: "Introspect", answer: .error(error, "odd thing"), says: "odd thing"),
      Bad(
        what: "Introspect answers a number", member: "Introspect", answer: .values([.int32(1)]), says: "not a string"),
      Bad(what: "Introspect answers nothing", member: "Introspect", answer: .values([]), says: "not a string"),
      Bad(
        what: "no object any more", member: "GetAll",
        answer: .error("org.freedesktop.DBus.Error.UnknownObject", "odd thing"), says: "odd thing"),
      Bad(what: "GetAll answers a text", member: "GetAll", answer: .values([.string("x")]), says: "not a dictionary"),
      Bad(what: "GetAll answers nothing", member: "GetAll", answer: .values([]), says: "not a dictionary"),
      Bad(
        what: "GetAll answers texts", member: "GetAll",
        answer: .values([
          .dictionary(DBusDictionary(known: .string, .string, [.init(key: .string("Value"), value: .string("1"))]))
        ]), says: "not a dictionary"),
      Bad(what: "too many keys", xml: document(("demo.Many", many)), error: "LimitsExceeded", says: "257"),
      Bad(
        what: "too many keys with stored ones",
        xml: document(("demo.Many", (0..<256).map { method("M\($0)") }.joined())),
        stored: [("demo.A.X", .int32(1))], error: "LimitsExceeded", says: "257"),
      Bad(what: "a key both stored and bound", stored: [("demo.Slider.Value", .double(1))], says: "demo.Slider.Value"),
      Bad(
        what: "a bound key in read_only", options: [("read_only", .strings(["demo.Slider.Value"]))], says: "'read_only'"
      ),
      Bad(
        what: "a long label", options: [("label", .string(String(repeating: "x", count: 4097)))],
        error: "LimitsExceeded", says: "4096"),
      Bad(
        what: "a parent that is not there", options: [("parent", Focus1.fieldPath("gone"))],
        error: "NoSuchField", says: "'gone'"),
      Bad(
        what: "a stored key of another type than the vocabulary's", stored: [("org.focusd.Text.Caret", .double(1))],
        error: "TypeMismatch", says: "org.focusd.Text.Caret"),
    ]
  }

  @Test("is all or nothing: what is refused leaves nothing behind")
  func refusals() async throws {
    try await TestDesktop.with { desktop in
      let client = try await desktop.peer()
      try await client.register("taken", [("demo.Taken.X", .string("text"))])
      for bad in Self.bad {
        let owner = try await desktop.peer()
        let object = Exported(owner, bad.xml, bad.values)
        if let answer = bad.answer { object.rule(bad.member) { _, _, _ in answer } }
        do {
          try await owner.register("a", object: bad.path, bad.options, stored: bad.stored)
          Issue.record("\(bad.what) is taken")
        } catch let error as RemoteError {
          #expect(error.shortName == bad.error, "\(bad.what): \(error)")
          #expect(error.message.contains(bad.says), "\(bad.what): \(error)")
          #expect(error.message.utf8.count < 500, "\(bad.what): \(error)")
        }
        // Nor is anything of it left: neither the field, nor the id, nor the match rule.
        #expect(try await client.fields() == ["taken"])
        try await client.register("a")
        try await client.field("a", "Unregister")
        object.emit("demo.Slider", "Moved", [.double(1)])
        try await owner.settle()
      }
    }
  }

  @Test("keeps its id while it is under way, and no longer")
  func reservation() async throws {
    try await TestDesktop.with { desktop in
      let (owner, other) = (try await desktop.peer(), try await desktop.peer())
      let object = Exported(owner, Self.xml, Self.values)
      object.rule("Introspect") { _, _, _ in .hold }
      let first = owner.begin(.register("a", object: object.path))
      try await object.called("Introspect")
      #expect(try await refusal { try await other.register("a") } == "FieldExists")
      #expect(try await refusal { try await owner.register("a", object: object.path) } == "FieldExists")
      #expect(try await client(other, picks: "") != "a")
      object.rule("Introspect", nil)
      object.release()
      _ = try await first.values()
      #expect(try await owner.get("demo.Slider.Value", at: Focus1.field("a")) == .double(0.5))
      try await owner.field("a", "Unregister")
      try await other.register("a")
    }
  }

  private func client(_ peer: Peer, picks id: String) async throws -> String { try await peer.register(id) }

  @Test("ends with Timeout where the owner hangs, while others are served", arguments: ["Introspect", "GetAll"])
  func hang(_ member: String) async throws {
    try await TestDesktop.with { desktop in
      let (owner, other) = (try await desktop.peer(), try await desktop.peer())
      let object = Exported(owner, Self.xml, Self.values)
      object.rule(member) { _, _, _ in .hold }
      var round = 0
      // On a slow machine its five seconds are over before the others have come.
      try await eventually("the others are answered before it") {
        round += 1
        object.state.update { $0.calls = [] }
        let hanging = owner.begin(.register("a", object: object.path))
        try await object.called(member)
        // The same connection, so that the order of the replies tells who waited for whom.
        let served = (0..<50).map { owner.begin(.register("other\(round)_\($0)", object: nil)) }
        for each in served { _ = try await each.values() }
        try await other.register("b\(round)")
        #expect(try await hanging.refusal() == "Timeout")
        return owner.replies.last == hanging.number
      }
      #expect(try await other.fields().count == 51 * round)
      object.release()
      object.rule(member, nil)
      try await owner.register("a", object: object.path)
    }
  }

  @Test("gives one object 16 fields, those that are being registered included")
  func crowded() async throws {
    try await TestDesktop.with { desktop in
      let (owner, client) = (try await desktop.peer(), try await desktop.peer())
      let object = Exported(owner, Self.xml, Self.values)
      let other = Exported(owner, Self.xml, Self.values, at: "/other")
      for number in 0..<10 { try await owner.register("f\(number)", object: object.path) }
      object.rule("Introspect") { _, _, _ in .hold }
      let waiting = (10..<16).map { owner.begin(.register("f\($0)", object: object.path)) }
      let error = await #expect(throws: RemoteError.self) { try await owner.register("f16", object: object.path) }
      #expect(error?.shortName == "LimitsExceeded" && error?.message.contains("16 fields") == true, "\(error as Any)")
      // Nothing is kept of what was refused, and another object has room of its own.
      try await owner.register("f16", object: other.path)
      object.rule("Introspect", nil)
      object.release()
      for call in waiting { _ = try await call.values() }
      #expect(try await client.fields().count == 17)
      #expect(try await owner.begin(.register("f17", object: object.path)).refusal() == "LimitsExceeded")
      // In one turn: who goes makes room for who comes.
      let gone = owner.begin(.field("f0", "Unregister"))
      let next = owner.begin(.register("f17", object: object.path))
      _ = try await (gone.values(), next.values())
      object.change("demo.Other.X", to: .int32(5))
      try await owner.settle()
      for id in ["f1", "f15", "f17"] {
        #expect(try await client.get("demo.Other.X", at: Focus1.field(id)) == .int32(5))
      }
    }
  }

  @Test("ends with the owner", arguments: ["Introspect", "GetAll"])
  func leaving(_ member: String) async throws {
    try await TestDesktop.with { desktop in
      let (owner, other) = (try await desktop.peer(), try await desktop.peer())
      let object = Exported(owner, Self.xml, Self.values)
      object.rule(member) { _, _, _ in .hold }
      _ = owner.begin(.register("a", object: object.path))
      try await object.called(member)
      try await owner.leave()
      // The id is free as soon as the daemon knows of it.
      try await eventually("the id is free") { try await refusal { try await other.register("a") } != "FieldExists" }
      #expect(try await other.fields() == ["a"])
    }
  }

  @Test("misses no change that the owner tells while it is under way")
  func changesMeanwhile() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.peer()
      let xml = document(
        ("demo.A", property("Told", "i") + property("Invalidated", "i", emits: "invalidates") + property("Odd", "i")),
        ("demo.B", property("X", "i")))
      let values: [String: DBusValue] = [
        "demo.A.Told": .int32(1), "demo.A.Invalidated": .int32(1), "demo.A.Odd": .int32(1), "demo.B.X": .int32(1),
      ]
      let object = Exported(owner, xml, values)
      object.rule("GetAll") { call, _, _ in call.key == "demo.B" ? .hold : nil }
      let registering = owner.begin(.register("a", object: object.path))
      try await object.called("GetAll", times: 2)
      object.change("demo.A.Told", to: .int32(2))
      object.invalidate("demo.A.Invalidated", to: .int32(3))
      object.change("demo.A.Odd", to: .string("of another type"))
      object.release()
      _ = try await registering.values()
      let told = try await owner.readAll(at: Focus1.field("a"))
      #expect(
        told == [
          "demo.A.Told": .int32(2), "demo.A.Invalidated": .int32(3), "demo.A.Odd": .string("of another type"),
          "demo.B.X": .int32(1),
        ])
    }
  }

  @Test("can be had again at once, and what is under way then does not come into the new field")
  func again() async throws {
    try await TestDesktop.with { desktop in
      let (owner, client) = (try await desktop.peer(), try await desktop.peer())
      let xml = document(("demo.A", property("X", "i", emits: "false")))
      let old = Exported(owner, xml, ["demo.A.X": .int32(1)], at: "/old")
      let new = Exported(owner, xml, ["demo.A.X": .int32(2)], at: "/new")
      try await owner.register("a", object: old.path)
      old.rule("Get") { _, _, _ in .hold }
      let reading = client.begin(.read("demo.A.X", at: Focus1.field("a")))
      try await old.called("Get")
      let writing = client.begin(.write("demo.A.X", .int32(7), at: Focus1.field("a")))
      try await old.called("Set")
      try await old.called("Get", times: 2)
      let gone = owner.begin(.field("a", "Unregister"))
      let back = owner.begin(.register("a", object: new.path))
      _ = try await (gone.values(), back.values())
      old.release()
      #expect(try await reading.refusal() == "OwnerGone")
      // The owner has taken it, and cannot be asked what came of it.
      let written = try await writing.values()
      #expect(written == [.variant(.int32(7)), Focus1.fieldPath("a"), .uint64(0)], "\(written)")
      #expect(try await client.read("demo.A.X", at: Focus1.field("a")).value == .int32(2))
      #expect(new.count("Set") == 0)
      // A hundred times more, each at once after the other.
      for turn in 0..<100 {
        _ = owner.begin(.field("a", "Unregister"))
        try await owner.register("a", object: turn % 2 == 0 ? old.path : new.path)
      }
      #expect(try await client.read("demo.A.X", at: Focus1.field("a")).value == .int32(2))
    }
  }
}
