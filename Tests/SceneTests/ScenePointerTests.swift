import BusSupport
import TestSupport
import Testing

/// Elements of bindings by JSON Pointer, as two programs see them.
@Suite struct ScenePointerTests {
  private static let values =
    "{'demo.Todo.Items': <[('milk', false), ('bread', true)]>, 'demo.Person.Current': <{'name': <'Ann'>, 'a/b~c': <1>}>, "
    + "'demo.Table.ByNumber': <{uint32 7: ['x']}>, 'demo.Deep.V': <<<[1, 2]>>>, 'demo.Bytes.B': <[byte 1, 2]>}"

  @Test func readsAndWrites() async throws {
    try await TestDesktop.with { desktop in
      let (owner, other) = (try await desktop.witness(), try await desktop.witness())
      try await owner.register("a", Self.values, "{'focus': <true>}")
      // (key with pointer, value there, value to write or "", what is there afterwards)
      for (key, value, new, after) in [
        ("demo.Todo.Items/0", "('milk', false)", "", ""), ("demo.Todo.Items/1/0", "'bread'", "'rye'", "'rye'"),
        ("demo.Todo.Items/0/1", "false", "true", "true"), ("demo.Person.Current/name", "'Ann'", "'Bob'", "'Bob'"),
        ("demo.Person.Current/a~1b~0c", "1", "2", "2"), ("demo.Table.ByNumber/7/0", "'x'", "'y'", "'y'"),
        ("demo.Deep.V/1", "2", "3", "3"), ("demo.Bytes.B/0", "byte 0x01", "byte 0xff", "byte 0xff"),
      ] {
        let read = try await other.read(key)
        #expect(read.hasPrefix("([<\(value)>], "), "\(key): \(read)")
        guard !new.isEmpty else { continue }
        #expect(try await other.write(key, new).hasPrefix("(<\(after)>, "), "\(key)")
        #expect(try await owner.read(key).hasPrefix("([<\(after)>], "), "\(key)")
      }
      _ = try await other.write("demo.Todo.Items/-", "('tea', false)")
      _ = try await other.write("demo.Person.Current/age", "<uint32 30>")
      #expect(try await owner.get("demo.Todo.Items") == "[('milk', true), ('rye', true), ('tea', false)]")
      #expect(try await owner.get("demo.Person.Current") == "{'name': <'Bob'>, 'a/b~c': <2>, 'age': <uint32 30>}")
    }
  }

  @Test func whatLeadsNowhereOrDoesNotFitChangesNothing() async throws {
    try await TestDesktop.with { desktop in
      let client = try await desktop.witness()
      try await client.register("a", Self.values, "{'focus': <true>}")
      let before = try await client.snapshot()
      // (key with pointer, value to write or "" for a read, error)
      for (key, value, error) in [
        ("demo.Todo.Items/2", "", "NoSuchElement"), ("demo.Todo.Items/2", "('x', true)", "NoSuchElement"),
        ("demo.Todo.Items/-", "", "NoSuchElement"), ("demo.Todo.Items/01", "", "NoSuchElement"),
        ("demo.Todo.Items/-1", "", "NoSuchElement"), ("demo.Todo.Items/x", "", "NoSuchElement"),
        ("demo.Todo.Items/18446744073709551616", "", "NoSuchElement"), ("demo.Todo.Items/0/2", "", "NoSuchElement"),
        ("demo.Todo.Items/0/0/0", "", "NoSuchElement"), ("demo.Todo.Items/0/-", "true", "NoSuchElement"),
        ("demo.Person.Current/none", "", "NoSuchElement"), ("demo.Table.ByNumber/8/0", "", "NoSuchElement"),
        ("demo.Table.ByNumber/8/0", "'x'", "NoSuchElement"), ("demo.Table.ByNumber/x", "['x']", "NoSuchElement"),
        ("demo.Todo.Items/0/1", "'yes'", "TypeMismatch"), ("demo.Todo.Items/-", "'x'", "TypeMismatch"),
        ("demo.Table.ByNumber/7", "'x'", "TypeMismatch"), ("demo.Person.Current/a~2", "", "InvalidArgs"),
        ("demo.None.X/0", "true", "NotFocused"),
      ] {
        let refusal =
          value.isEmpty
          ? try await client.refusal(Focus1.focused, Focus1.bindings, "Read", "('\(key)',)")
          : try await client.refusal(
            Focus1.focused, Focus1.bindings, "Write", "('\(key)', <\(value)>, @a{sv} {})")
        #expect(refusal.shortName == error, "\(key) \(value): \(refusal)")
        FieldRuleTests.expectHelpful(refusal)
      }
      #expect(try await client.snapshot() == before)
    }
  }

  /// One client appends, another toggles, at the same time: what each writes is its own element.
  @Test("TodoList") func todoList() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.witness()
      try await owner.register(
        "a", "{'demo.Todo.Items': <[('a', false), ('b', false), ('c', false)]>}", "{'focus': <true>}")
      let (adder, toggler) = (try await desktop.witness(), try await desktop.witness())
      let count = 1000
      var (added, toggled): ([Int], [Int]) = ([], [])
      for index in 0..<count {
        added.append(try await adder.begin("demo.Todo.Items/-", "('n\(index)', false)"))
        toggled.append(try await toggler.begin("demo.Todo.Items/2/1", index.isMultiple(of: 2) ? "true" : "false"))
      }
      for id in added { _ = try await adder.reply(to: id) }
      for id in toggled { _ = try await toggler.reply(to: id) }
      let expected = (0..<count).map { "('n\($0)', false)" }
      #expect(
        try await owner.get("demo.Todo.Items")
          == "[" + (["('a', false)", "('b', false)", "('c', false)"] + expected).joined(separator: ", ") + "]")
    }
  }
}

extension GDBusPeer {
  /// Begins a write to what is focused; `peer.reply(to:)` waits for its end.
  fileprivate func begin(_ key: String, _ value: String) async throws -> Int {
    try await begin(
      Focus1.name, Focus1.focused, Focus1.bindings, "Write", "('\(key)', <\(value)>, @a{sv} {})")
  }
}
