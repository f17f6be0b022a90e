import BusSupport
import TestSupport
import Testing

/// The contract's sections *Focus* and *Focused values*, from outside.
@Suite struct FocusRuleTests {
  /// A window with two entries, and another window.
  private static func windows(_ desktop: TestDesktop) async throws -> GDBusPeer {
    let client = try await desktop.witness()
    let window = try await client.register("window", "{'demo.Form.Title': <'w'>, 'demo.Form.Both': <'outer'>}")
    for id in ["a", "b"] {
      try await client.register(
        id, "{'demo.Form.Name': <'\(id)'>, 'demo.Form.Both': <'inner'>, 'demo.Entry.\(id.uppercased())': <1>}",
        "{'parent': <objectpath '\(window)'>}")
    }
    try await client.register("other", "{'demo.Form.Title': <'o'>}")
    return client
  }

  @Test func focusAndBlur() async throws {
    try await TestDesktop.with { desktop in
      let client = try await Self.windows(desktop)
      // (what is done, what holds focus then, what held it before)
      for (operation, field, path, history) in [
        ("", "", "", ""), ("Blur", "a", "", ""), ("Focus", "a", "a window", ""), ("Focus", "a", "a window", ""),
        ("Blur", "b", "a window", ""), ("Blur", "window", "a window", ""), ("Focus", "b", "b window", "a"),
        ("Blur", "a", "b window", "a"), ("Blur", "b", "window", "b a"), ("Focus", "a", "a window", "b"),
        ("Focus", "other", "other", "a b"), ("Blur", "other", "", "other a b"),
        ("Blur", "other", "", "other a b"), ("Focus", "other", "other", "a b"),
      ] {
        if !operation.isEmpty { try await client.field(field, operation) }
        let words = { (text: String) in text.split(separator: " ").map(String.init) }
        #expect(try await client.fields("FocusPath") == words(path), "\(operation) \(field)")
        #expect(try await client.fields("History") == words(history), "\(operation) \(field)")
        let focused = words(path).first.map { Focus1.field($0) } ?? "/"
        #expect(try await client.manager("FocusedField") == "objectpath '\(focused)'")
        for id in ["window", "a", "b", "other"] {
          #expect(
            try await client.get("org.focusd.Focus1.Field.Focused", at: Focus1.field(id))
              == "\(id == words(path).first)"
          )
        }
      }
    }
  }

  @Test func aRemovedFieldLeavesFocusToItsNearestAncestor() async throws {
    try await TestDesktop.with { desktop in
      let client = try await Self.windows(desktop)
      try await client.register("deep", "{}", "{'parent': <objectpath '\(Focus1.field("a"))'>, 'focus': <true>}")
      try await client.focus("b")
      try await client.focus("deep")
      #expect(try await client.fields("History") == ["b", "deep"].filter { $0 != "deep" })
      try await client.field("a", "Unregister")
      #expect(try await client.fields("FocusPath") == ["deep", "window"])
      try await client.field("b", "Unregister")
      #expect(try await client.fields("History") == [])
      try await client.field("deep", "Unregister")
      #expect(try await client.fields("FocusPath") == ["window"])
      #expect(try await client.fields("History") == [])
      try await client.field("window", "Unregister")
      #expect(try await client.fields("FocusPath") == [])
      #expect(try await client.manager("FocusedField") == "objectpath '/'")
    }
  }

  @Test func historyHolds32() async throws {
    try await TestDesktop.with { desktop in
      let client = try await desktop.witness()
      for index in 0..<40 { try await client.register("f\(index)", "{}", "{'focus': <true>}") }
      #expect(try await client.fields("History") == (7..<39).reversed().map { "f\($0)" })
    }
  }

  @Test func aKeyResolvesToTheInnermostFieldThenToTheScene() async throws {
    try await TestDesktop.with { desktop in
      let client = try await Self.windows(desktop)
      func scene(_ id: String, _ parent: String, _ value: String) async throws {
        try await client.register(
          id, "{'demo.Form.Scene': <'\(value)'>, 'demo.Form.Both': <'scene'>}",
          "{'parent': <objectpath '\(Focus1.field(parent))'>, 'scope': <'scene'>}")
      }
      try await scene("s1", "window", "old")
      try await scene("s2", "b", "new")
      try await scene("s3", "other", "elsewhere")
      try await client.focus("a")
      for (key, value) in [
        ("demo.Form.Name", "'a'"), ("demo.Form.Title", "'w'"), ("demo.Form.Both", "'inner'"),
        ("demo.Form.Scene", "'new'"),
        ("demo.Form.None", "NotFocused"), ("demo.None.X", "NotFocused"), ("demo.Entry.A", "1"),
        ("demo.Entry.B", "NotFocused"),
      ] {
        #expect(try await client.value(key) == value, "\(key)")
      }
      // The path goes before the newest.
      try await client.focus("s1")
      #expect(try await client.value("demo.Form.Scene") == "'old'")
      try await client.field("s2", "Unregister")
      try await client.focus("a")
      #expect(try await client.value("demo.Form.Scene") == "'old'")
      try await client.focus("other")
      #expect(try await client.value("demo.Form.Scene") == "'elsewhere'")
      #expect(try await client.value("demo.Form.Name") == "NotFocused")
    }
  }

  @Test func theFocusedObjectMirrorsWhatResolves() async throws {
    try await TestDesktop.with { desktop in
      let client = try await Self.windows(desktop)
      func all(_ interface: String, at path: String = Focus1.focused) async throws -> String {
        try await client.call(path, Focus1.properties, "GetAll", "('\(interface)',)")
      }
      #expect(try await all("") == "(@a{sv} {},)")
      #expect(try await all("demo.Form") == "(@a{sv} {},)")
      #expect(try await all("demo.None") == "(@a{sv} {},)")
      #expect(try await client.read("demo.Form.Name") == "(@av [], objectpath '/', uint64 0)")
      try await client.focus("a")
      #expect(try await all("demo.Form") == "({'Both': <'inner'>, 'Name': <'a'>, 'Title': <'w'>},)")
      #expect(try await all("demo.Entry") == "({'A': <1>},)")
      #expect(try await all("demo.None") == "(@a{sv} {},)")
      for member in ["'A': <1>", "'Both': <'inner'>", "'Name': <'a'>", "'Title': <'w'>"] {
        #expect(try await all("").contains(member))
      }
      #expect(try await all("demo.Form", at: Focus1.field("window")) == "({'Both': <'outer'>, 'Title': <'w'>},)")
      let read = try await client.read("demo.Form.Title")
      #expect(read.hasPrefix("([<'w'>], objectpath '\(Focus1.field("window"))', uint64 "))
      let readAll = try await client.call(Focus1.focused, Focus1.bindings, "ReadAll")
      for part in [
        "'demo.Form.Name': (<'a'>, objectpath '\(Focus1.field("a"))', uint64 ",
        "'demo.Form.Title': (<'w'>, objectpath '\(Focus1.field("window"))', uint64 ",
      ] {
        #expect(
          readAll.contains(part)
            || readAll.contains(part.replacing("objectpath ", with: "").replacing("uint64 ", with: "")), "\(readAll)")
      }
      #expect(
        try await client.get("org.focusd.Focus1.Bindings.Keys")
          == "['demo.Entry.A', 'demo.Form.Both', 'demo.Form.Name', 'demo.Form.Title']")
    }
  }

  // (path, interface, member, arguments, error)
  @Test func callsThatAreRefused() async throws {
    try await TestDesktop.with { desktop in
      let client = try await Self.windows(desktop)
      let stranger = try await desktop.witness()
      let bindings = Focus1.bindings
      let field = Focus1.fieldInterface
      let nothingFocused = [
        (Focus1.focused, Focus1.properties, "Get", "('demo.Form', 'Name')", "NotFocused"),
        (Focus1.focused, Focus1.properties, "Set", "('demo.Form', 'Name', <'x'>)", "NotFocused"),
        (Focus1.focused, Focus1.properties, "Set", "('demo.Form', 'Name', <1>)", "NotFocused"),
        (Focus1.focused, bindings, "Write", "('demo.Form.Name', <'x'>, @a{sv} {})", "NotFocused"),
        (Focus1.focused, bindings, "Invoke", "('demo.Form.Save', @av [], @a{sv} {})", "NotFocused"),
        (Focus1.focused, "demo.Form", "Save", "()", "NotFocused"),
      ]
      let always = [
        (Focus1.focused, Focus1.properties, "Get", "('demo.Form', 'None')", "NotFocused"),
        (Focus1.focused, Focus1.properties, "Set", "('demo.Form', 'Name', <1>)", "TypeMismatch"),
        (Focus1.focused, bindings, "Write", "('demo.Form.Name', <1>, @a{sv} {})", "TypeMismatch"),
        (Focus1.focused, bindings, "Write", "('demo.Form.Name', <'x'>, {'colour': <1>})", "InvalidArgs"),
        (Focus1.focused, bindings, "Write", "('demo.Form.Name', <'x'>, {'revision': <1>})", "InvalidArgs"),
        (Focus1.focused, bindings, "Write", "('demo.Form.Name', <'x'>, {'revision': <uint64 1000000>})", "Conflict"),
        (
          Focus1.focused, bindings, "Write",
          "('demo.Form.Name', <'x'>, {'field': <objectpath '\(Focus1.field("b"))'>})", "Conflict"
        ),
        (Focus1.focused, bindings, "Read", "('Name',)", "InvalidArgs"),
        (Focus1.focused, bindings, "Read", "('',)", "InvalidArgs"),
        (Focus1.focused, bindings, "Read", "(1,)", "InvalidArgs"),
        (Focus1.focused, bindings, "Read", "('\(String(repeating: "x", count: 1 << 20))',)", "InvalidArgs"),
        (
          Focus1.field("a"), Focus1.properties, "Get", "('\(field)', '\(String(repeating: "x", count: 1 << 20))')",
          "UnknownProperty"
        ),
        (
          Focus1.focused, bindings, "Write",
          "('demo.Form.Name', <'x'>, {'\(String(repeating: "x", count: 1 << 20))': <1>})", "InvalidArgs"
        ),
        (Focus1.focused, bindings, "Nothing", "()", "UnknownMethod"),
        // A value is no command.
        (Focus1.focused, "demo.Form", "Name", "()", "UnknownMethod"),
        (Focus1.focused, bindings, "Invoke", "('demo.Form.Name', @av [], @a{sv} {})", "UnknownMethod"),
        (Focus1.focused, "demo.Form", "None", "()", "NotFocused"),
        (Focus1.field("a"), Focus1.properties, "Get", "('demo.Form', 'None')", "UnknownProperty"),
        (Focus1.field("a"), Focus1.properties, "Set", "('demo.Form', 'None', <1>)", "UnknownProperty"),
        (Focus1.field("a"), Focus1.properties, "Get", "('demo.Form', 'Title')", "UnknownProperty"),
        (Focus1.field("a"), Focus1.properties, "Get", "('\(field)', 'None')", "UnknownProperty"),
        (Focus1.field("a"), Focus1.properties, "Set", "('\(field)', 'Label', <'x'>)", "PropertyReadOnly"),
        (Focus1.field("a"), field, "Nothing", "()", "UnknownMethod"),
        (Focus1.field("a"), field, "Focus", "(1,)", "InvalidArgs"),
        (Focus1.field("a"), "demo.Form", "Save", "()", "UnknownMethod"),
        (Focus1.field("gone"), field, "Focus", "()", "UnknownObject"),
        (Focus1.field("gone"), Focus1.properties, "Get", "('demo.Form', 'Name')", "UnknownObject"),
        (Focus1.field("gone"), bindings, "Read", "('demo.Form.Name',)", "UnknownObject"),
        ("/nowhere", field, "Focus", "()", "UnknownObject"),
        (Focus1.manager, Focus1.managerInterface, "Nothing", "()", "UnknownMethod"),
        (Focus1.manager, Focus1.managerInterface, "Register", "('x',)", "InvalidArgs"),
        (Focus1.manager, "org.focusd.Nothing", "X", "()", "UnknownInterface"),
        (
          Focus1.manager, Focus1.properties, "Set", "('org.focusd.Focus1.Manager', 'Version', <'2'>)",
          "PropertyReadOnly"
        ),
        (Focus1.manager, Focus1.properties, "Get", "('org.focusd.Focus1.Manager', 'None')", "UnknownProperty"),
        (Focus1.manager, Focus1.properties, "Get", "('org.focusd.Nothing', 'X')", "UnknownInterface"),
      ]
      let strangers = [
        ("Focus", "()"), ("Blur", "()"), ("Publish", "({'demo.Form.Name': <'x'>}, @a{sv} {})"),
        ("Withdraw", "(['demo.Form.Name'],)"), ("SetEnabled", "(@a{sb} {},)"), ("Unregister", "()"),
      ].map { (Focus1.field("a"), field, $0.0, $0.1, "AccessDenied") }

      func expectRefused(_ calls: [(String, String, String, String, String)], of client: GDBusPeer) async throws {
        let before = try await client.snapshot()
        for (path, interface, member, arguments, error) in calls {
          let refusal = try await client.refusal(path, interface, member, arguments)
          #expect(refusal.shortName == error, "\(path) \(interface).\(member)\(arguments): \(refusal)")
          FieldRuleTests.expectHelpful(refusal)
        }
        #expect(try await client.snapshot() == before)
      }
      try await expectRefused(nothingFocused, of: client)
      try await client.focus("a")
      try await expectRefused(always, of: client)
      try await expectRefused(strangers, of: stranger)
    }
  }

  @Test func aWriteSaysWhatTheBindingHoldsAndEqualOnesChangeNothing() async throws {
    try await TestDesktop.with { desktop in
      let client = try await Self.windows(desktop)
      try await client.focus("a")
      let first = try await client.read("demo.Form.Name")
      // Equal: the same revision.
      let equal = try await client.write("demo.Form.Name", "'a'")
      #expect(equal.replacing("(<'a'>", with: "([<'a'>]") == first)
      let written = try await client.write("demo.Form.Name", "'x'")
      #expect(written.hasPrefix("(<'x'>, objectpath '\(Focus1.field("a"))', uint64 "))
      let revision = written.split(separator: " ").last.map { $0.dropLast() } ?? ""
      #expect(try await client.read("demo.Form.Name") == written.replacing("(<'x'>", with: "([<'x'>]"))
      // With the revision it lands once.
      _ = try await client.write("demo.Form.Name", "'y'", "{'revision': <uint64 \(revision)>}")
      let again = try await client.refusal(
        Focus1.focused, Focus1.bindings, "Write",
        "('demo.Form.Name', <'z'>, {'revision': <uint64 \(revision)>})")
      #expect(again.shortName == "Conflict")
      _ = try await client.write("demo.Form.Name", "'z'", "{'field': <objectpath '\(Focus1.field("a"))'>}")
      #expect(try await client.value("demo.Form.Name") == "'z'")
    }
  }
}
