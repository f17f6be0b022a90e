import BusSupport
import TestSupport
import Testing

/// The contract's sections *Fields* and *What gets refused*, from outside.
@Suite struct FieldRuleTests {
  private static let manager = Focus1.managerInterface

  private static func padded(_ start: String, to count: Int) -> String {
    start + String(repeating: "x", count: count - start.utf8.count)
  }

  // (id, values, options, error)
  private static let refusedRegistrations: [(String, String, String, String)] = [
    // Ids.
    ("'a-b'", "{}", "{}", "InvalidArgs"), ("'a b'", "{}", "{}", "InvalidArgs"), ("'a/b'", "{}", "{}", "InvalidArgs"),
    ("'é'", "{}", "{}", "InvalidArgs"), ("'a.b'", "{}", "{}", "InvalidArgs"),
    ("'\(padded("a", to: 65))'", "{}", "{}", "InvalidArgs"), ("'taken'", "{}", "{}", "FieldExists"),
    // Keys.
    ("'f'", "{'': <1>}", "{}", "InvalidArgs"), ("'f'", "{'Number': <1>}", "{}", "InvalidArgs"),
    ("'f'", "{'demo.Number': <1>}", "{}", "InvalidArgs"), ("'f'", "{'demo.Form.': <1>}", "{}", "InvalidArgs"),
    ("'f'", "{'.demo.Form': <1>}", "{}", "InvalidArgs"), ("'f'", "{'demo..Form': <1>}", "{}", "InvalidArgs"),
    ("'f'", "{'demo.Form.1a': <1>}", "{}", "InvalidArgs"), ("'f'", "{'demo.1Form.a': <1>}", "{}", "InvalidArgs"),
    ("'f'", "{'demo.Form.a-b': <1>}", "{}", "InvalidArgs"), ("'f'", "{'demo.Form.é': <1>}", "{}", "InvalidArgs"),
    ("'f'", "{'demo.Form.a b': <1>}", "{}", "InvalidArgs"), ("'f'", "{'demo.Form.a/0': <1>}", "{}", "InvalidArgs"),
    ("'f'", "{'\(padded("demo.Form.x", to: 256))': <1>}", "{}", "InvalidArgs"),
    ("'f'", "{'\(padded("demo.Form.x", to: 300))': <1>}", "{}", "InvalidArgs"),
    // Reserved keys.
    ("'f'", "{'org.freedesktop.DBus.Properties.X': <1>}", "{}", "InvalidArgs"),
    ("'f'", "{'org.freedesktop.Anything.X': <1>}", "{}", "InvalidArgs"),
    ("'f'", "{'org.freedesktop.X': <1>}", "{}", "InvalidArgs"),
    ("'f'", "{'org.focusd.Focus1.X': <1>}", "{}", "InvalidArgs"),
    ("'f'", "{'org.focusd.Focus1.Field.Id': <'x'>}", "{}", "InvalidArgs"),
    ("'f'", "{'org.focusd.Focus1.Own.Deep.X': <1>}", "{}", "InvalidArgs"),
    // One bad key spoils them all.
    ("'f'", "{'demo.Form.Good': <1>, 'bad': <1>}", "{}", "InvalidArgs"),
    // Options.
    ("'f'", "{}", "{'colour': <'red'>}", "InvalidArgs"), ("'f'", "{}", "{'label': <1>}", "InvalidArgs"),
    ("'f'", "{}", "{'linger': <'true'>}", "InvalidArgs"), ("'f'", "{}", "{'focus': <1>}", "InvalidArgs"),
    ("'f'", "{}", "{'scope': <'window'>}", "InvalidArgs"), ("'f'", "{}", "{'scope': <''>}", "InvalidArgs"),
    ("'f'", "{}", "{'read_only': <'demo.Form.X'>}", "InvalidArgs"),
    ("'f'", "{}", "{'read_only': <['bad']>}", "InvalidArgs"),
    ("'f'", "{}", "{'parent': <'/org/focusd/Focus1/field/taken'>}", "InvalidArgs"),
    ("'f'", "{}", "{'parent': <objectpath '/org/focusd/Focus1/field/gone'>}", "NoSuchField"),
    ("'f'", "{}", "{'parent': <objectpath '/org/focusd/Focus1/field/f'>}", "NoSuchField"),
    ("'f'", "{}", "{'parent': <objectpath '/org/focusd/Focus1'>}", "NoSuchField"),
    ("'f'", "{}", "{'parent': <objectpath '/nowhere'>}", "NoSuchField"),
    // Types.
    ("'f'", "{'org.focusd.Text.Caret': <'text'>}", "{}", "TypeMismatch"),
    ("'f'", "{'org.focusd.Text.Caret': <uint32 1>}", "{}", "TypeMismatch"),
    ("'f'", "{'org.focusd.Text.Caret': <<1>>}", "{}", "TypeMismatch"),
    ("'f'", "{'org.focusd.Text.Selection': <@ai []>}", "{}", "TypeMismatch"),
    ("'f'", "{'org.focusd.Action.Click': <true>}", "{}", "TypeMismatch"),
    ("'f'", "{'demo.Other.X': <1>, 'org.focusd.Range.Value': <1>}", "{'focus': <true>}", "TypeMismatch"),
    // Limits.
    ("'f'", "{'demo.Form.X': <'\(String(repeating: "x", count: 2 << 20))'>}", "{}", "LimitsExceeded"),
    ("'f'", "{}", "{'label': <'\(String(repeating: "x", count: 4097))'>}", "LimitsExceeded"),
    ("'f'", "{" + (0..<257).map { "'demo.Many.K\($0)': <1>" }.joined(separator: ", ") + "}", "{}", "LimitsExceeded"),
  ]

  @Test func registrationsThatAreRefusedChangeNothing() async throws {
    try await TestDesktop.with { desktop in
      let client = try await desktop.witness()
      try await client.register("taken", "{'demo.Taken.Number': <1>, 'demo.Taken.List': <['a']>}", "{'focus': <true>}")
      let before = try await client.snapshot()
      for (id, values, options, error) in Self.refusedRegistrations {
        let arguments = "(\(id), @a{sv} \(values), @a{sv} \(options))"
        let refusal = try await client.refusal(Focus1.manager, Self.manager, "Register", arguments)
        #expect(refusal.shortName == error, "\(arguments.prefix(200)): \(refusal)")
        Self.expectHelpful(refusal)
      }
      #expect(try await client.snapshot() == before)
    }
  }

  /// One sentence, one line, of a length that a person reads.
  static func expectHelpful(_ refusal: RemoteError) {
    #expect(refusal.message.count > 10, "\(refusal)")
    #expect(refusal.message.utf8.count < 1000, "\(refusal.message.prefix(100))")
    #expect(!refusal.message.contains("\n"), "\(refusal)")
  }

  @Test func registrationsUpToTheLimitsAreTaken() async throws {
    try await TestDesktop.with { desktop in
      let client = try await desktop.witness()
      let longID = Self.padded("a", to: 64)
      #expect(try await client.register(longID) == Focus1.field(longID))
      try await client.register("k255", "{'\(Self.padded("demo.Form.x", to: 255))': <1>}")
      try await client.register("k256", "{" + (0..<256).map { "'demo.Many.K\($0)': <1>" }.joined(separator: ", ") + "}")
      // A text takes 5 bytes more than its own.
      let text = String(repeating: "x", count: (1 << 20) - 5)
      try await client.register("mib", "{'demo.Big.Text': <'\(text)'>}")
      try await client.register("label", "{}", "{'label': <'\(String(repeating: "x", count: 4096))'>}")
      for name in [
        "org.focusd.Focus10.X", "org.focusd.Focus2.X", "org.focusd.X.Y", "org.freedesktops.X.Y", "a.b.C", "_._._",
      ] {
        try await client.register("", "{'\(name)': <1>}")
      }
      for (member, arguments) in [
        ("Publish", "({'demo.Many.One_more': <1>}, @a{sv} {})")
      ] {
        let refusal = try await client.refusal(Focus1.field("k256"), Focus1.fieldInterface, member, arguments)
        #expect(refusal.shortName == "LimitsExceeded")
      }
      try await client.focus("mib")
      #expect(try await client.writing("demo.Big.Text", "'\(text)x'") == "LimitsExceeded")
      #expect(try await client.get("demo.Big.Text").utf8.count == text.utf8.count + 2)
    }
  }

  @Test func anEmptyIdIsPickedByTheDaemon() async throws {
    try await TestDesktop.with { desktop in
      let client = try await desktop.witness()
      var paths: Set<String> = []
      for _ in 0..<20 { paths.insert(try await client.register("")) }
      #expect(paths.count == 20)
      #expect(paths.allSatisfy { $0.hasPrefix("/org/focusd/Focus1/field/") && $0.utf8.count > 25 })
    }
  }

  @Test func whatAFieldSaysOfItself() async throws {
    try await TestDesktop.with { desktop in
      let client = try await desktop.witness()
      try await client.register("window", "{}", "{'label': <'Die Tür'>, 'scope': <'scene'>}")
      try await client.register(
        "entry", "{'demo.Form.B': <1>, 'demo.Form.A': <2>}",
        "{'parent': <objectpath '\(Focus1.field("window"))'>, 'linger': <true>, 'sensitive': <true>, 'focus': <true>}")
      func property(_ id: String, _ name: String) async throws -> String {
        try await client.get("org.focusd.Focus1.Field." + name, at: Focus1.field(id))
      }
      for (id, name, value) in [
        ("window", "Id", "'window'"), ("window", "Label", "'Die Tür'"),
        ("window", "Owner", "'\(client.uniqueName)'"),
        ("window", "Parent", "objectpath '/'"), ("window", "Scope", "'scene'"), ("window", "Focused", "false"),
        ("window", "Linger", "false"), ("window", "Sensitive", "false"), ("entry", "Label", "'entry'"),
        ("entry", "Parent", "objectpath '\(Focus1.field("window"))'"), ("entry", "Scope", "'field'"),
        ("entry", "Focused", "true"), ("entry", "Linger", "true"), ("entry", "Sensitive", "true"),
      ] {
        #expect(try await property(id, name) == value, "\(id).\(name)")
      }
      #expect(
        try await client.get("org.focusd.Focus1.Bindings.Keys", at: Focus1.field("entry"))
          == "['demo.Form.A', 'demo.Form.B']")
      #expect(try await client.get("org.focusd.Focus1.Bindings.Commands", at: Focus1.field("entry")) == "@a{sb} {}")
      #expect(try await client.manager("Version").hasPrefix("'"))
    }
  }

  @Test func publishAndWithdraw() async throws {
    try await TestDesktop.with { desktop in
      let client = try await desktop.witness()
      let window = try await client.register("window", "{'demo.Form.Title': <'outer'>}")
      try await client.register(
        "entry", "{'demo.Form.Title': <'inner'>}", "{'parent': <objectpath '\(window)'>, 'focus': <true>}")
      #expect(try await client.value("demo.Form.Title") == "'inner'")
      try await client.field("entry", "Withdraw", "(['demo.Form.Title'],)")
      #expect(try await client.value("demo.Form.Title") == "'outer'")
      #expect(try await client.value("demo.Form.Title", at: Focus1.field("entry")) == "UnknownProperty")
      try await client.field(
        "entry", "Publish", "({'demo.Form.Title': <'again'>, 'demo.Other.X': <1>}, {'read_only': <['demo.Other.X']>})")
      #expect(try await client.value("demo.Form.Title") == "'again'")
      #expect(try await client.value("demo.Other.X") == "1")
      let stranger = try await desktop.witness()
      #expect(try await stranger.writing("demo.Other.X", "2") == "PropertyReadOnly")
      #expect(try await stranger.writing("demo.Form.Title", "'theirs'") == "done")
      // A publish that is refused in one key changes none.
      let before = try await client.snapshot()
      let refusal = try await client.refusal(
        Focus1.field("entry"), Focus1.fieldInterface, "Publish",
        "({'demo.Form.Title': <'x'>, 'bad': <1>}, @a{sv} {})")
      #expect(refusal.shortName == "InvalidArgs")
      #expect(try await client.snapshot() == before)
      let missing = try await client.refusal(
        Focus1.field("entry"), Focus1.fieldInterface, "Withdraw",
        "(['demo.Form.Title', 'demo.Other.Z', 'demo.Other.A'],)")
      #expect(
        missing.shortName == "UnknownProperty" && missing.message.contains("demo.Other.Z"), "the first that is missing")
      try await client.field("entry", "Withdraw", "(['demo.Form.Title', 'demo.Other.X'],)")
      try await client.field("window", "Withdraw", "(['demo.Form.Title'],)")
      #expect(try await client.value("demo.Form.Title") == "NotFocused")
    }
  }

  @Test func twoFieldsMayGiveAKeyDifferentTypes() async throws {
    try await TestDesktop.with { desktop in
      let (one, other) = (try await desktop.witness(), try await desktop.witness())
      try await one.register("one", "{'demo.Form.X': <1>}", "{'focus': <true>}")
      try await other.register("two", "{'demo.Form.X': <'text'>}")
      #expect(try await one.value("demo.Form.X") == "1")
      try await other.field("two", "Focus")
      #expect(try await one.value("demo.Form.X") == "'text'")
      let refusal = try await one.refusal(
        Focus1.field("one"), Focus1.fieldInterface, "Publish", "({'demo.Form.X': <'x'>}, @a{sv} {})")
      #expect(refusal.shortName == "TypeMismatch")
      try await one.field("one", "Publish", "({'demo.Form.X': <7.0>}, @a{sv} {})")
      try await one.field("one", "Focus")
      #expect(try await other.value("demo.Form.X") == "7")
      try await one.field("one", "Withdraw", "(['demo.Form.X'],)")
      try await one.field("one", "Publish", "({'demo.Form.X': <7.0>}, @a{sv} {})")
      #expect(try await other.value("demo.Form.X") == "7.0")
    }
  }

  @Test func depthUpTo64() async throws {
    try await TestDesktop.with { desktop in
      let client = try await desktop.witness()
      var path = try await client.register("f1")
      for depth in 2...64 { path = try await client.register("f\(depth)", "{}", "{'parent': <objectpath '\(path)'>}") }
      let refusal = try await client.refusal(
        Focus1.manager, Self.manager, "Register", "('f65', @a{sv} {}, {'parent': <objectpath '\(path)'>})")
      #expect(refusal.shortName == "LimitsExceeded")
      try await client.focus("f64")
      #expect(try await client.fields("FocusPath") == (1...64).reversed().map { "f\($0)" })
      // One that goes makes room for another.
      try await client.field("f1", "Unregister")
      try await client.register("f65", "{}", "{'parent': <objectpath '\(path)'>}")
    }
  }

  @Test func whenAnOwnerLeavesItsFieldsGoAndOthersStay() async throws {
    try await TestDesktop.with { desktop in
      let (owner, other) = (try await desktop.witness(), try await desktop.witness())
      let window = try await other.register("window", "{'demo.Form.Title': <'w'>}")
      let box = try await owner.register("box", "{'demo.Box.X': <1>}", "{'parent': <objectpath '\(window)'>}")
      try await owner.register("inner", "{}", "{'parent': <objectpath '\(box)'>}")
      try await owner.register(
        "lingers", "{'demo.Form.Kept': <1>}", "{'parent': <objectpath '\(box)'>, 'linger': <true>}")
      let inner = Focus1.field("inner")
      try await other.register("entry", "{'demo.Form.Own': <2>}", "{'parent': <objectpath '\(inner)'>}")
      try await other.focus("entry")
      #expect(try await other.fields("FocusPath") == ["entry", "inner", "box", "window"])
      try await other.subscribe(to: Focus1.name)
      try await owner.kill()
      _ = try await other.signals("removal") { signals in
        signals.first { $0.member == "InterfacesRemoved" && $0.arguments.contains("'\(Focus1.field("box"))'") }
      }
      // Whole: once one of its fields is gone, all are.
      #expect(try await other.fields("FocusPath") == ["entry", "window"])
      #expect(
        try await other.value("org.focusd.Focus1.Field.Parent", at: Focus1.field("entry")) == "objectpath '\(window)'")
      for id in ["box", "inner"] {
        #expect(try await other.value("org.focusd.Focus1.Field.Id", at: Focus1.field(id)) == "UnknownObject")
      }
      #expect(try await other.value("org.focusd.Focus1.Field.Owner", at: Focus1.field("lingers")) == "''")
      #expect(
        try await other.value("org.focusd.Focus1.Field.Parent", at: Focus1.field("lingers")) == "objectpath '\(window)'"
      )
      #expect(try await other.value("demo.Form.Title") == "'w'")
      #expect(try await other.value("demo.Box.X") == "NotFocused")
      // The lingering field belongs to nobody now: anyone may use it, and the ids that went are free.
      try await other.field("lingers", "Publish", "({'demo.Form.Kept': <5>}, @a{sv} {})")
      try await other.focus("lingers")
      #expect(try await other.value("demo.Form.Kept") == "5")
      try await other.register("box")
      try await other.field("lingers", "Unregister")
      #expect(try await other.fields("FocusPath") == ["window"])
    }
  }
}
