import BusSupport
import DBusTypes
import TestSupport
import Testing

/// The field that `BindingWriteTests` write to, with a second one that has the same keys.
private struct Form: Sendable {
  static let number = "demo.Form.Number"
  static let ratio = "demo.Form.Ratio"
  static let fixed = "demo.Form.Fixed"

  let desktop: TestDesktop
  let owner: GDBusPeer

  static func with(_ body: (Form) async throws -> Void) async throws {
    try await TestDesktop.with { desktop in
      let form = Form(desktop: desktop, owner: try await desktop.witness())
      for id in ["a", "b"] {
        try await form.owner.register(
          id, "{'\(number)': <1>, '\(ratio)': <0.5>, '\(fixed)': <5>, 'demo.Form.Tags': <['x']>}",
          "{'read_only': <['\(fixed)']>}")
      }
      try await form.owner.field("a", "Focus")
      try await body(form)
    }
  }
}

@Suite("Write: its options, and what it refuses")
struct BindingWriteTests {
  /// One write, its arguments in GVariant's text form, `REVISION` standing for the binding's own; and its error.
  struct Attempt: Sendable, CustomTestStringConvertible {
    let key: String
    let value: String
    var options = "@a{sv} {}"
    var path = Focus1.focused
    let error: String?

    var testDescription: String { "\(key) \(value) \(options) at \(path)" }
  }

  private static let a = Focus1.field("a")
  private static let b = Focus1.field("b")

  @Test("What happens, or the error, and that nothing has changed then")
  func attempts() async throws {
    let number = Form.number
    try await Form.with { form in
      for attempt in [
        Attempt(key: number, value: "<5>", error: nil),
        Attempt(key: number, value: "<6>", options: "{'revision': <uint64 REVISION>}", error: nil),
        Attempt(key: number, value: "<7>", options: "{'field': <objectpath '\(Self.a)'>}", error: nil),
        Attempt(
          key: number, value: "<8>", options: "{'revision': <uint64 REVISION>, 'field': <objectpath '\(Self.a)'>}",
          error: nil),
        Attempt(key: number, value: "<9>", options: "{'field': <objectpath '\(Self.b)'>}", path: Self.b, error: nil),
        Attempt(key: Form.ratio, value: "<nan>", error: nil),
        Attempt(key: "demo.Form.Tags/-", value: "<'y'>", error: nil),
        Attempt(
          key: "demo.Form.Tags/0", value: "<'z'>", options: "{'revision': <uint64 REVISION>}", error: nil),

        Attempt(key: number, value: "<9>", options: "{'revision': <uint64 0>}", error: "Conflict"),
        Attempt(key: number, value: "<9>", options: "{'revision': <uint64 18446744073709551615>}", error: "Conflict"),
        Attempt(key: "demo.Form.Tags/0", value: "<'q'>", options: "{'revision': <uint64 1>}", error: "Conflict"),
        Attempt(key: number, value: "<9>", options: "{'field': <objectpath '\(Self.b)'>}", error: "Conflict"),
        Attempt(
          key: number, value: "<9>", options: "{'field': <objectpath '\(Self.b)'>}", path: Self.a, error: "Conflict"),
        Attempt(key: "demo.Form.None", value: "<9>", options: "{'field': <objectpath '\(Self.a)'>}", error: "Conflict"),
        Attempt(
          key: number, value: "<9>", options: "{'revision': <uint64 REVISION>, 'field': <objectpath '\(Self.b)'>}",
          error: "Conflict"),
        Attempt(
          key: number, value: "<9>", options: "{'field': <objectpath '\(Focus1.field("gone"))'>}", error: "Conflict"),
        Attempt(key: number, value: "<9>", options: "{'field': <objectpath '/'>}", error: "Conflict"),
        Attempt(key: number, value: "<9>", options: "{'field': <objectpath '/else/where'>}", error: "Conflict"),

        Attempt(key: number, value: "<9>", options: "{'revision': <1>}", error: "InvalidArgs"),
        Attempt(key: number, value: "<9>", options: "{'revision': <'1'>}", error: "InvalidArgs"),
        Attempt(key: number, value: "<9>", options: "{'revision': <<uint64 REVISION>>}", error: "InvalidArgs"),
        Attempt(key: number, value: "<9>", options: "{'field': <'\(Self.a)'>}", error: "InvalidArgs"),
        Attempt(key: number, value: "<9>", options: "{'Revision': <uint64 REVISION>}", error: "InvalidArgs"),
        Attempt(key: number, value: "<9>", options: "{'focus': <true>}", error: "InvalidArgs"),
        Attempt(key: number, value: "<9>", options: "{'': <true>}", error: "InvalidArgs"),
        Attempt(key: "Number", value: "<9>", error: "InvalidArgs"),
        Attempt(key: "", value: "<9>", error: "InvalidArgs"),
        Attempt(key: number + "/~2", value: "<9>", error: "InvalidArgs"),
        Attempt(key: Focus1.properties, value: "<9>", error: "InvalidArgs"),

        Attempt(key: number, value: "<'9'>", error: "TypeMismatch"),
        Attempt(key: number, value: "<int64 4294967296>", error: "TypeMismatch"),
        Attempt(key: number, value: "<<9>>", error: "TypeMismatch"),
        Attempt(key: "demo.Form.Tags/0", value: "<9>", error: "TypeMismatch"),
        Attempt(key: "demo.Form.Tags/-", value: "<9>", error: "TypeMismatch"),
        Attempt(key: "demo.Form.Tags", value: "<@ai []>", error: "TypeMismatch"),
        Attempt(key: "demo.Form.Tags/7", value: "<'x'>", error: "NoSuchElement"),
        Attempt(key: number + "/0", value: "<9>", error: "NoSuchElement"),
        Attempt(key: number + "/", value: "<9>", error: "NoSuchElement"),
        Attempt(key: Form.fixed, value: "<9>", error: "PropertyReadOnly"),
        Attempt(key: "demo.Form.None", value: "<9>", error: "NotFocused"),
        Attempt(key: "demo.Form.None/0", value: "<9>", error: "NotFocused"),
        Attempt(key: "demo.Form.None", value: "<9>", path: Self.a, error: "UnknownProperty"),
        Attempt(key: number, value: "<9>", path: Focus1.field("gone"), error: "UnknownObject"),
      ] {
        try await Self.make(attempt, form)
      }
    }
  }

  private static func make(_ attempt: Attempt, _ form: Form) async throws {
    let key = String(attempt.key.prefix { $0 != "/" })
    let client = try await form.desktop.peer()
    func state() async throws -> [Reading?] {
      var readings: [Reading?] = []
      for path in [attempt.path, Self.b, Focus1.focused] {
        do { readings.append(try await client.read(key, at: path)) } catch is RemoteError { readings.append(nil) }
      }
      return readings
    }
    let before = try await state()
    let options = attempt.options.replacing("REVISION", with: "\(before[0]?.revision ?? 1)")
    // As another client than the owner.
    let result = try await form.desktop.gdbus(
      "call", at: attempt.path, "--method", Focus1.bindings + ".Write", attempt.key, attempt.value, options)
    let after = try await state()
    guard let error = attempt.error else {
      #expect(result.succeeded, "\(attempt): \(result)")
      #expect(after != before, "\(attempt)")
      return
    }
    #expect(result.errorText.contains(".Error.\(error):"), "\(attempt): \(result)")
    #expect(after == before, "\(attempt)")
  }
}
