import BusSupport
import DBusTypes
import TestSupport
import Testing

/// What the daemon tells of each change: once, before the reply of what caused it, and nothing of what stayed.
@Suite struct SceneSignalTests {
  private static let manager = Focus1.managerInterface
  private static let bindings = Focus1.bindings
  private static let field = Focus1.fieldInterface
  private static let own = "'org.focusd.Focus1.Bindings', 'org.focusd.Focus1.Field'"

  /// Checks what a call caused: its reply last, and of the rest `expected`, each once, in whatever order.
  private static func expect(
    _ events: [String], _ expected: [String], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(events.last == "reply", sourceLocation: sourceLocation)
    #expect(
      events.dropLast().sorted() == expected.sorted(), "\(events.joined(separator: "\n"))",
      sourceLocation: sourceLocation)
  }

  /// Of the events, those about the keys' own interfaces.
  private static func values(_ events: [String]) -> [String] {
    events.filter { $0.contains("demo.") && !$0.contains(bindings) }.sorted()
  }

  @Test func aRegistrationIsToldWhole() async throws {
    try await TestDesktop.with { desktop in
      let observer = try await Observer(desktop)
      let events = try await observer.call(
        .register("a", [("demo.Form.Name", .string("x")), ("demo.Other.N", .int32(1))]))
      let interfaces = ["demo.Form", "demo.Other", Focus1.bindings, Focus1.fieldInterface]
      Self.expect(events, ["added a \(interfaces)"])
      #expect(try await observer.rest() == ["reply"])
      let removed = try await observer.call(.field("a", "Unregister"))
      Self.expect(removed, ["removed a \(interfaces)"])
      #expect(try await observer.rest() == ["reply"])
    }
  }

  @Test func focusIsToldOnceForEachInterface() async throws {
    try await TestDesktop.with { desktop in
      let observer = try await Observer(desktop)
      try await observer.call(.register("window", [("demo.Form.Title", .string("w"))]))
      let parent = DBusValue.objectPath(try ObjectPath(Focus1.field("window")))
      for (id, number) in [("a", Int32(1)), ("b", 2)] {
        try await observer.call(
          .register(
            id,
            [
              ("demo.Form.Name", .string(id)), ("demo.Form.Same", .double(.nan)), ("demo.Other.N", .int32(number)),
              ("demo.Only_\(id).X", .int32(0)),
            ], [("parent", parent)]))
      }
      var events = try await observer.call(.field("a", "Focus"))
      #expect(events.last == "reply")
      #expect(
        Self.values(events) == [
          "added focused [\"demo.Form\", \"demo.Only_a\", \"demo.Other\"]",
          "focused demo.Form {Name: a, Same: nan, Title: w} []", "focused demo.Only_a {X: 0} []",
          "focused demo.Other {N: 1} []",
        ])
      let path = { (id: String) in Focus1.field(id) }
      #expect(
        events.filter { $0.contains(Self.manager) } == [
          "Focus1 \(Self.manager) {FocusPath: [\(path("a")), \(path("window"))], FocusedField: \(path("a"))} []"
        ])
      #expect(events.filter { $0.contains(Self.field) } == ["a \(Self.field) {Focused: true} []"])

      // The siblings share a value, which is not told again, and the title stays.
      events = try await observer.call(.field("b", "Focus"))
      #expect(events.last == "reply")
      #expect(
        Self.values(events) == [
          "added focused [\"demo.Only_b\"]", "focused demo.Form {Name: b} []", "focused demo.Only_a {} [X]",
          "focused demo.Only_b {X: 0} []", "focused demo.Other {N: 2} []", "removed focused [\"demo.Only_a\"]",
        ])
      #expect(
        events.filter { $0.contains(Self.manager) } == [
          "Focus1 \(Self.manager) "
            + "{FocusPath: [\(path("b")), \(path("window"))], FocusedField: \(path("b")), History: [\(path("a"))]} []"
        ])
      #expect(
        events.filter { $0.contains(Self.field) }.sorted() == [
          "a \(Self.field) {Focused: false} []", "b \(Self.field) {Focused: true} []",
        ])

      // Focus where it is already, and a late blur, are told to nobody.
      #expect(try await observer.call(.field("b", "Focus")) == ["reply"])
      #expect(try await observer.call(.field("a", "Blur")) == ["reply"])

      events = try await observer.call(.field("b", "Blur"))
      #expect(
        Self.values(events) == [
          "focused demo.Form {} [Name, Same]", "focused demo.Only_b {} [X]", "focused demo.Other {} [N]",
          "removed focused [\"demo.Only_b\", \"demo.Other\"]",
        ])
      events = try await observer.call(.field("window", "Blur"))
      #expect(Self.values(events) == ["focused demo.Form {} [Title]", "removed focused [\"demo.Form\"]"])
      #expect(try await observer.rest() == ["reply"])
    }
  }

  @Test func aWriteIsToldOnceBeforeItsReply() async throws {
    try await TestDesktop.with { desktop in
      let observer = try await Observer(desktop)
      try await observer.call(
        .register(
          "a",
          [("demo.Form.Name", .string("x")), ("demo.Form.Level", .double(.nan)), ("demo.Form.List", .strings(["x"]))],
          [("focus", .boolean(true))]))
      _ = try await observer.rest()
      Self.expect(
        try await observer.call(.set("demo.Form.Name", .string("y"))),
        ["a demo.Form {Name: y} []", "focused demo.Form {Name: y} []"])
      Self.expect(
        try await observer.call(.set("demo.Form.Name", .string("z"), at: Focus1.field("a"))),
        ["a demo.Form {Name: z} []", "focused demo.Form {Name: z} []"])
      // Equal ones are told to nobody.
      #expect(try await observer.call(.set("demo.Form.Name", .string("z"))) == ["reply"])
      #expect(try await observer.call(.set("demo.Form.Level", .double(.nan))) == ["reply"])
      #expect(try await observer.call(.set("demo.Form.List", .strings(["x"]))) == ["reply"])
      #expect(
        try await observer.call(
          .field("a", "Publish", [.properties([("demo.Form.Name", .string("z"))]), .properties([])])) == [
            "reply"
          ])
      // Refused ones too.
      #expect(try await observer.call(.set("demo.Form.Name", .int32(1))) == ["TypeMismatch"])
      // 0 and -0 are two values.
      try await observer.call(.set("demo.Form.Level", .double(0)))
      #expect(try await observer.call(.set("demo.Form.Level", .double(-0.0))).count == 3)
      // A letter with an accent, written in two ways, is two texts.
      try await observer.call(.set("demo.Form.Name", .string("\u{E9}")))
      #expect(try await observer.call(.set("demo.Form.Name", .string("e\u{301}"))).count == 3)
      // Once it is not focused, only its own object tells.
      try await observer.call(.field("a", "Blur"))
      Self.expect(
        try await observer.call(.set("demo.Form.Name", .string("q"), at: Focus1.field("a"))),
        ["a demo.Form {Name: q} []"])
      #expect(try await observer.rest() == ["reply"])
    }
  }

  @Test func severalKeysPublishedAtOnceAreToldAtOnce() async throws {
    try await TestDesktop.with { desktop in
      let observer = try await Observer(desktop)
      try await observer.call(.register("a", [("demo.Form.One", .int32(1))], [("focus", .boolean(true))]))
      _ = try await observer.rest()
      let events = try await observer.call(
        .field(
          "a", "Publish",
          [
            .properties([
              ("demo.Form.One", .int32(2)), ("demo.Form.Two", .int32(2)), ("demo.Other.X", .int32(3)),
              ("demo.Other.Y", .int32(4)),
            ]), .properties([]),
          ]))
      #expect(
        Self.values(events) == [
          "a demo.Form {One: 2, Two: 2} []", "a demo.Other {X: 3, Y: 4} []", "added a [\"demo.Other\"]",
          "added focused [\"demo.Other\"]", "focused demo.Form {One: 2, Two: 2} []",
          "focused demo.Other {X: 3, Y: 4} []",
        ])
      let withdrawn = try await observer.call(
        .field(
          "a", "Withdraw", [.strings(["demo.Other.X", "demo.Other.Y", "demo.Form.One"])]))
      #expect(
        Self.values(withdrawn) == [
          "a demo.Form {} [One]", "a demo.Other {} [X, Y]", "focused demo.Form {} [One]",
          "focused demo.Other {} [X, Y]",
          "removed a [\"demo.Other\"]", "removed focused [\"demo.Other\"]",
        ])
      #expect(
        withdrawn.filter { $0.contains(Self.bindings) }.sorted() == [
          "a \(Self.bindings) {Keys: [demo.Form.Two]} []", "focused \(Self.bindings) {Keys: [demo.Form.Two]} []",
        ])
    }
  }

  @Test func anotherClientSeesTheSame() async throws {
    try await TestDesktop.with { desktop in
      let (owner, watcher) = (try await desktop.witness(), try await desktop.witness())
      try await watcher.subscribe(to: Focus1.name, interface: Focus1.properties)
      try await owner.register("a", "{'demo.Form.Number': <1>}", "{'focus': <true>}")
      for number in 2...50 { try await owner.set("demo.Form.Number", "\(number)") }
      try await owner.blur("a")
      let seen = try await watcher.signals("the end") { signals in
        let own = signals.filter { $0.path == Focus1.focused && $0.arguments.hasPrefix("('demo.Form'") }
        return own.last?.arguments.hasSuffix("['Number'])") == true ? own : nil
      }
      #expect(
        seen.map(\.arguments)
          == (1...50).map { "('demo.Form', {'Number': <\($0)>}, @as [])" } + ["('demo.Form', @a{sv} {}, ['Number'])"])
    }
  }
}
