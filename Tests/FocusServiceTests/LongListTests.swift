import BusSupport
import DBusTypes
import Testing

/// `Keys` and `Commands` are told without their lists if those are long.
@Suite struct LongListTests {
  @Test("A change of Keys is told as invalidated with more than 1,024 entries", arguments: [1024, 1025])
  func keys(_ count: Int) async throws {
    try await Stage.with { stage in
      let keys = (0..<count).map { (name: "demo.I.K\($0)", value: DBusValue.byte(1)) }
      try stage.settle([.call(anna, .register("w"))])
      for (number, start) in stride(from: 0, to: count, by: 256).enumerated() {
        let options: Named = [("parent", Focus1.fieldPath("w")), ("scope", .string("scene"))]
        let some = Array(keys[start..<min(start + 256, count)])
        try stage.settle([.call(anna, .register("part\(number)", some, options))])
      }
      try Self.focus(by: anna, on: stage, tells: "Keys", "K1023", count)
    }
  }

  @Test("So is one of Commands", arguments: [1024, 1025])
  func commands(_ count: Int) async throws {
    try await Stage.with { stage in
      try stage.settle([.call(carl, .register("w"))])
      for start in stride(from: 0, to: count, by: 205) {
        let options: Named = [("parent", Focus1.fieldPath("w")), ("scope", .string("scene"))]
        try stage.turn([.call(carl, .register("part\(start)", object: "/part\(start)", options))])
        try stage.wait(for: "Introspect", of: carl)
        let methods = (start..<min(start + 205, count)).map { method("C\($0)") }.joined()
        try stage.settle([.answered(carl, "Introspect", [.string(document(("demo.I", methods)))])])
      }
      try Self.focus(by: carl, on: stage, tells: "Commands", "C1023", count)
    }
  }

  /// Focuses the window, and checks that this tells the list with its 1,024th entry `last`, or for more that it is another.
  private static func focus(
    by owner: String, on stage: Stage, tells list: String, _ last: String, _ count: Int
  ) throws {
    let told = try stage.settle([.call(owner, .field("w", "Focus"))]).lines.filter { $0.contains("Bindings") }
    #expect(told.count == 1)
    let change = try #require(told.first)
    #expect(
      change.contains("-" + list) == (count > 1024) && change.contains(last) == (count <= 1024), "\(change.prefix(80))")
  }
}
