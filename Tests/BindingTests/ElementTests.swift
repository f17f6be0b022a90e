import BusSupport
import DBusTypes
import TestSupport
import Testing

@Suite("Elements of values, read and written with busctl")
struct ElementTests {
  private static func write(
    _ desktop: TestDesktop, _ key: String, _ signature: String, _ value: String...
  ) async throws -> CommandResult {
    try await desktop.busctl("call", [Focus1.bindings, "Write", "sva{sv}", key, signature] + value + ["0"])
  }

  private static func read(_ desktop: TestDesktop, _ key: String) async throws -> CommandResult {
    try await desktop.busctl("call", Focus1.bindings, "Read", "s", key)
  }

  @Test("ElementBinding: a toggle of an array of structs by its index; one out of range is an error")
  func elementBinding() async throws {
    try await TestDesktop.with { desktop in
      let (owner, toggles) = (try await desktop.witness(), "demo.Form.Toggles")
      try await owner.register("form", "{'\(toggles)': <[('wifi', false), ('bluetooth', false)]>}", "{'focus': <true>}")
      #expect(
        try await Self.read(desktop, toggles + "/1/1").text.hasPrefix(
          "avot 1 b false \"/org/focusd/Focus1/field/form\""))
      let written = try await Self.write(desktop, toggles + "/1/1", "b", "true")
      #expect(written.text.hasPrefix("vot b true \"/org/focusd/Focus1/field/form\""))
      #expect(try await Self.read(desktop, toggles + "/1/1").text.hasPrefix("avot 1 b true "))
      #expect(try await Self.read(desktop, toggles).text.hasPrefix(#"avot 1 a(sb) 2 "wifi" false "bluetooth" true "#))
      for index in ["2", "-1", "01", "-", "x", "", "9223372036854775807", "99999999999999999999"] {
        for result in [
          try await Self.write(desktop, "\(toggles)/\(index)/1", "b", "true"),
          try await Self.read(desktop, "\(toggles)/\(index)/1"),
        ] {
          #expect(!result.succeeded)
          #expect(result.errorText.contains("\(toggles): there is no element '/\(index)/1'"), "\(result)")
        }
      }
      #expect(try await Self.read(desktop, toggles).text.hasPrefix(#"avot 1 a(sb) 2 "wifi" false "bluetooth" true "#))
      #expect(try await Self.write(desktop, toggles + "/-", "(sb)", "nfc", "true").succeeded)
      #expect(try await Self.read(desktop, toggles + "/2/0").text.hasPrefix(#"avot 1 s "nfc" "#))
      #expect(try await Self.read(desktop, toggles + "/-").errorText.contains("there is no element '/-'"))
    }
  }

  @Test("ProjectedValue: $person.name changes that member alone; what is derived is no binding")
  func projectedValue() async throws {
    try await TestDesktop.with { desktop in
      let (owner, person) = (try await desktop.witness(), "demo.Person.Current")
      try await owner.register(
        "person",
        """
        {'\(person)': <{'name': <'Ada'>, 'age': <36>, 'address': <{'street': <'St James'>}>}>, 'demo.Person.Text': <'abc'>,
         'demo.Person.Rooms': <{7: 'seven', -1: 'minus one'}>}
        """.replacing("\n", with: " "), "{'focus': <true>}")
      #expect(try await Self.write(desktop, person + "/name", "s", "Grace").succeeded)
      #expect(try await Self.write(desktop, person + "/address/street", "s", "Arlington").succeeded)
      #expect(try await Self.write(desktop, person + "/born", "i", "1906").succeeded)
      // A variant replaces another type; the type itself does not.
      #expect(try await Self.write(desktop, person + "/age", "s", "none").errorText.contains("is of type 'i'"))
      #expect(try await Self.write(desktop, person + "/age", "v", "s", "none").succeeded)
      let expected = DBusValue.properties([
        ("name", .string("Grace")), ("age", .string("none")),
        ("address", .properties([("street", .string("Arlington"))])),
        ("born", .int32(1906)),
      ])
      #expect(try await desktop.peer().read(person).value == expected)

      #expect(try await Self.write(desktop, "demo.Person.Rooms/-1", "s", "basement").succeeded)
      #expect(try await Self.write(desktop, "demo.Person.Rooms/8", "s", "eight").succeeded)
      #expect(
        try await Self.read(desktop, "demo.Person.Rooms").text.contains(#"a{is} 3 7 "seven" -1 "basement" 8 "eight" "#))
      for derived in ["demo.Person.Text/count", "demo.Person.Text/0", person + "/name/count", person + "/-/x"] {
        #expect(try await Self.write(desktop, derived, "i", "1").errorText.contains("there is no element"))
      }
      #expect(try await Self.read(desktop, "demo.Person.Text").text.hasPrefix(#"avot 1 s "abc" "#))
    }
  }

  @Test("Keys whose letters Swift takes for others")
  func letters() async throws {
    try await TestDesktop.with { desktop in
      let client = try await desktop.peer()
      try await client.register("a", [("demo.Form.Map", .properties([("\u{E9}", .int32(1)), ("\u{301}", .int32(2))]))])
      try await client.field("a", "Focus")
      try await client.write("demo.Form.Map/\u{301}", .int32(3))
      try await client.write("demo.Form.Map/e\u{301}", .int32(4))
      let expected = DBusValue.properties([("\u{E9}", .int32(1)), ("\u{301}", .int32(3)), ("e\u{301}", .int32(4))])
      #expect(try await client.read("demo.Form.Map").value == expected)
      // The sign for kelvin, a K to Swift.
      #expect(try await refusal { try await client.get(Focus1.bindings + ".\u{212A}eys") } == "UnknownProperty")
    }
  }
}
