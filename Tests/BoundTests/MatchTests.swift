import BusSupport
import DBusTypes
import TestSupport
import Testing

@Suite("Match rules for the objects behind fields")
struct MatchTests {
  private static let xml = document(("demo.A", property("X", "i") + method("Do")))

  /// How many rules the bus takes: one for who leaves, one for bridges, and this many objects.
  private static let objects = 2

  /// One that the bus refuses would leave what the object tells later unheard, and the field stale for ever.
  @Test(
    "that the bus refuses: LimitsExceeded, and nothing is changed",
    .disabled(if: PrivateBus.isBroker, "dbus-broker does not take this limit from its configuration"))
  func refused() async throws {
    try await TestDesktop.with(matchRules: 2 + Self.objects) { desktop in
      let (owner, client) = (try await desktop.peer(), try await desktop.peer())
      let objects = (0...Self.objects).map { Exported(owner, Self.xml, ["demo.A.X": .int32(0)], at: "/object\($0)") }
      for index in 0..<Self.objects { try await owner.register("f\(index)", object: objects[index].path) }
      let last = objects[Self.objects]
      // Two at once, of which one asks the bus and the other waits for that answer.
      let waiting = [
        owner.begin(.register("more", object: last.path)), owner.begin(.register("another", object: last.path)),
      ]
      for call in waiting { #expect(try await call.refusal() == "LimitsExceeded") }
      #expect(last.state.now.calls.isEmpty, "the object is asked before it is known that it is followed")
      #expect(try await client.fields() == ["f0", "f1"])
      try await client.register("more")
      try await client.field("more", "Unregister")
      // An object that is followed already may stand behind more fields, and those that there are hear of changes.
      try await owner.register("again", object: objects[0].path)
      try await client.subscribe()
      objects[0].change("demo.A.X", to: .int32(1))
      for id in ["f0", "again"] {
        try await client.signals("change") { $0.values(of: "demo.A.X", at: Focus1.field(id)) == [.int32(1)] ? () : nil }
      }
      // What was refused has taken no other rule away, and there is room again when a field goes.
      try await owner.field("f1", "Unregister")
      try await owner.register("more", object: last.path)
      last.change("demo.A.X", to: .int32(2))
      try await client.signals("change") {
        $0.values(of: "demo.A.X", at: Focus1.field("more")) == [.int32(2)] ? () : nil
      }
    }
  }

  /// A bridge has an object for each element: many of one folder take one rule, and give it back with the last of them.
  @Test(
    "of one folder take one rule",
    .disabled(if: PrivateBus.isBroker, "dbus-broker does not take this limit from its configuration"))
  func folder() async throws {
    try await TestDesktop.with(matchRules: 2 + Self.objects) { desktop in
      let (owner, client) = (try await desktop.peer(), try await desktop.peer())
      try await client.subscribe()
      let objects = (0..<8).map { Exported(owner, Self.xml, ["demo.A.X": .int32(0)], at: "/folder/object\($0)") }
      for index in objects.indices { try await owner.register("f\(index)", object: objects[index].path) }
      func changesReach(_ indices: some Sequence<Int>, _ value: Int32) async throws {
        for index in indices {
          objects[index].change("demo.A.X", to: .int32(value))
          try await client.signals("change of \(index)") {
            $0.values(of: "demo.A.X", at: Focus1.field("f\(index)")).last == .int32(value) ? () : nil
          }
        }
      }
      try await changesReach(objects.indices, 1)
      for index in 0..<7 { try await owner.field("f\(index)", "Unregister") }
      try await changesReach([7], 2)
      // The first field's rule is free, the folder's is not.
      let others = (0..<2).map { Exported(owner, Self.xml, ["demo.A.X": .int32(0)], at: "/other\($0)") }
      try await owner.register("other0", object: others[0].path)
      let refused = try await owner.begin(.register("other1", object: others[1].path)).refusal()
      #expect(refused == "LimitsExceeded")
      try await owner.field("f7", "Unregister")
      try await owner.register("other1", object: others[1].path)
    }
  }
}
