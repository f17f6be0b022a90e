import BusSupport
import DBusTypes
import FocusKit
import Observation
import TestSupport
import Testing

private struct Settings: Codable, DBusRepresentable, Equatable {
  var isOn = false
  var level = 1
  var name = "a"
  var tags: [String] = []
}

private struct SettingsKey: FocusedValueKey {
  typealias Value = Binding<Settings>
  static let name = "demo.Form.Settings"
}

extension FocusedValues {
  fileprivate var settings: SettingsKey.Value? {
    get { self[SettingsKey.self] }
    set { self[SettingsKey.self] = newValue }
  }
}

/// What two programs assign and change while neither knows of the other's.
@Suite struct AssignmentTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    fileprivate let one: @Sendable (Form) -> Void
    fileprivate let other: @Sendable (Form) -> Void
    fileprivate let results: [Settings]
    let refusals: Int

    fileprivate init(
      _ description: String, _ one: @escaping @Sendable (Form) -> Void, _ other: @escaping @Sendable (Form) -> Void,
      _ results: Settings..., refusals: Int = 0
    ) {
      (testDescription, self.one, self.other) = (description, one, other)
      (self.results, self.refusals) = (results, refusals)
    }
  }

  /// As a view has it.
  fileprivate struct Form: Sendable {
    @FocusedBinding(\.settings) var settings
    @FocusedBinding(\.number) var number

    init(_ client: FocusClient) {
      _settings = FocusedBinding(\.settings, client: client)
      _number = FocusedBinding(\.number, client: client)
    }
  }

  /// Two fields with a number each, and another program's form, which knows that the first has focus.
  private struct Scene {
    let one: State<Int>
    let two: State<Int>
    let first: FocusField
    let second: FocusField
    let client: FocusClient
    let errors: Errors
    let form: Form

    init(_ desktop: TestDesktop, _ numbers: Int...) async throws {
      (one, two) = (State(wrappedValue: numbers[0]), State(wrappedValue: numbers[1]))
      let owner = desktop.client()
      first = FocusField("text1", client: owner).focusedValue(\.number, one.projectedValue).register()
      second = FocusField("text2", client: owner).focusedValue(\.number, two.projectedValue).register()
      try await second.registered()
      try await first.focus()
      client = desktop.client()
      errors = Errors(of: client)
      form = Form(client)
      // The values are there a moment before the client says so, which Observation tells of as well.
      try await eventually("the first") { [form, client] in
        form.number == numbers[0] && client.focusedField == "text1" && client.isConnected
      }
    }
  }

  static let cases = [
    Case(
      "both turn it on", { Binding($0.$settings)?.isOn.wrappedValue = true },
      { Binding($0.$settings)?.isOn.wrappedValue = true }, Settings(isOn: true)),
    Case(
      "both assign a level", { Binding($0.$settings)?.level.wrappedValue = 5 },
      { Binding($0.$settings)?.level.wrappedValue = 3 }, Settings(level: 5), Settings(level: 3)),
    Case(
      "both assign a name", { Binding($0.$settings)?.name.wrappedValue = "ab" },
      { Binding($0.$settings)?.name.wrappedValue = "ac" }, Settings(name: "ab"), Settings(name: "ac")),
    Case(
      "both assign a list", { Binding($0.$settings)?.tags.wrappedValue = ["a"] },
      { Binding($0.$settings)?.tags.wrappedValue = ["b"] }, Settings(tags: ["a"]), Settings(tags: ["b"])),
    Case(
      "each assigns another member", { Binding($0.$settings)?.isOn.wrappedValue = true },
      { Binding($0.$settings)?.level.wrappedValue = 3 }, Settings(isOn: true, level: 3)),
    Case(
      "both assign all", { $0.settings = Settings(isOn: true, tags: ["a"]) },
      { $0.settings = Settings(level: 3, tags: ["b"]) }, Settings(isOn: true, tags: ["a"]),
      Settings(level: 3, tags: ["b"]), refusals: 1),
    Case(
      "both assign the same", { $0.settings = Settings(isOn: true) }, { $0.settings = Settings(isOn: true) },
      Settings(isOn: true)),
    Case(
      "both assign a member after a question mark", { $0.settings?.level = 5 }, { $0.settings?.level = 3 },
      Settings(level: 5), Settings(level: 3), refusals: 1),
    Case(
      "both count", { Binding($0.$settings)?.level.wrappedValue += 1 },
      { Binding($0.$settings)?.level.wrappedValue += 1 }, Settings(level: 3)),
    Case(
      "both toggle", { Binding($0.$settings)?.isOn.wrappedValue.toggle() },
      { Binding($0.$settings)?.isOn.wrappedValue.toggle() }, Settings()),
    Case(
      "both append", { $0.settings?.tags.append("a") }, { $0.settings?.tags.append("b") }, Settings(tags: ["a", "b"]),
      Settings(tags: ["b", "a"])),
    Case(
      "both update", { form in Binding(form.$settings)?.level.update { $0 += 2 } },
      { form in Binding(form.$settings)?.level.update { $0 += 3 } }, Settings(level: 6)),
  ]

  @Test("While the daemon is held up", arguments: cases)
  func twoWritersThatDoNotKnowOfEachOther(each: Case) async throws {
    try await TestDesktop.with { desktop in
      let state = State(wrappedValue: Settings())
      let field = FocusField("form", client: desktop.client()).focusedValue(\.settings, state.projectedValue).register()
      try await field.focus()
      let clients = [desktop.client(), desktop.client()]
      let errors = clients.map { Errors(of: $0) }
      let forms = clients.map { Form($0) }
      for form in forms { try await until("the value") { form.settings != nil } }
      desktop.daemon.terminate(19)
      each.one(forms[0])
      each.other(forms[1])
      #expect(forms.allSatisfy { $0.settings != Settings() })
      desktop.daemon.terminate(18)
      // A read comes after the writes of its client.
      for client in clients { _ = try await client.read(\.settings) }
      #expect(each.results.contains(state.wrappedValue), "\(state.wrappedValue)")
      try await eventually("the refusals are told") { errors.flatMap(\.all).count == each.refusals }
      #expect(errors.flatMap(\.all).allSatisfy { $0.name == FocusError.conflict })
      for form in forms { try await eventually("both see it") { form.settings == state.wrappedValue } }
    }
  }

  @Test func anAssignmentIsDecidedByWhatIsKnownWhenItIsMade() async throws {
    try await TestDesktop.with { desktop in
      let scene = try await Scene(desktop, 1, 2)
      let (form, one, two) = (scene.form, scene.one, scene.two)
      try await scene.second.focus()
      try await until("the second") { form.number == 2 }
      // It does not matter who read what before, as in SwiftUI.
      form.number = 8
      try await eventually("it is made") { two.wrappedValue == 8 }
      one.wrappedValue = 8
      two.wrappedValue = 3
      try await until("the change") { form.number == 3 }
      form.number = 9
      try await eventually("it replaces") { two.wrappedValue == 9 }
      #expect(scene.errors.all.isEmpty)
      #expect(one.wrappedValue == 8)
    }
  }

  /// The daemon tells of no value then, only that focus moved.
  @Test func whenFocusMovesToAnEqualValueAnAssignmentFollows() async throws {
    try await TestDesktop.with { desktop in
      let scene = try await Scene(desktop, 1, 1)
      // At the very moment at which the program learns of it.
      withObservationTracking({ _ = scene.client.focusedField }, onChange: { scene.form.number = 8 })
      try await scene.second.focus()
      try await eventually("it is made") { scene.two.wrappedValue == 8 }
      #expect(scene.errors.all.isEmpty, "\(scene.errors.all)")
      #expect(scene.one.wrappedValue == 1)
    }
  }

  @Test("An assignment while focus moves to an equal value", arguments: [false, true])
  func anAssignmentNeverLandsInAnotherField(isToldByASignal: Bool) async throws {
    try await TestDesktop.with { desktop in
      let value: Int64 = isToldByASignal ? 3 : 1
      let owner = try await desktop.peer()
      try await owner.begin(.register("text1", [("demo.Form.Number", .int64(1))])).values()
      try await owner.begin(.register("text2", [("demo.Form.Number", .int64(value))])).values()
      try await owner.begin(.field("text1", "Focus")).values()
      let client = desktop.client()
      let errors = Errors(of: client)
      let form = Form(client)
      try await eventually("the first") { form.number == 1 && client.focusedField == "text1" }
      // A signal does not say which state of the field it tells.
      if isToldByASignal { try await owner.begin(.set("demo.Form.Number", .int64(value))).values() }
      try await until("the value") { form.number == Int(value) }
      desktop.daemon.terminate(19)
      let move = owner.begin(.field("text2", "Focus"))
      // The bus answers after it has passed the call on, so that the assignment comes later.
      _ = try await owner.askBus("GetId")
      form.number = 9
      desktop.daemon.terminate(18)
      try await move.values()
      try await errors.wait(for: FocusError.conflict)
      #expect(try await client.read(\.number) == Int(value))
      try await owner.begin(.field("text1", "Focus")).values()
      #expect(try await client.read(\.number) == Int(value))
    }
  }

  @Test("A field whose owner hangs holds up no write to the next", arguments: ["Set", "Get"])
  func aHangingOwner(asked member: String) async throws {
    try await TestDesktop.with { desktop in
      let (owner, client) = (try await desktop.peer(), desktop.client())
      let document = document(("demo.Form", property("Number", "x")))
      let object = Exported(owner, document, ["demo.Form.Number": .int64(1)])
      try await owner.begin(.register("text1", object: object.path)).values()
      let state = State(wrappedValue: 1)
      let next = FocusField("text2", client: desktop.client()).focusedValue(\.number, state.projectedValue).register()
      let (errors, form) = (Errors(of: client), Form(client))
      try await owner.begin(.field("text1", "Focus")).values()
      try await until("the value") { form.number == 1 }
      object.rule(member) { _, _, _ in .hold }
      // Before it is written, the value is asked for.
      if member == "Get" { object.invalidate("demo.Form.Number", to: .int64(1)) }
      try await owner.settle()
      form.number = 8
      try await object.called(member)
      if member == "Set" { form.number = 9 }
      try await next.focus()
      // Its value is the same, so that no signal tells it.
      try await until("the value of the next") { form.number == 1 }
      if member == "Set" { try await eventually("what was made on it is told") { !errors.all.isEmpty } }
      form.number = 3
      try await eventually("the write") { state.wrappedValue == 3 }
      #expect(object.count("Set") == (member == "Set" ? 1 : 0))
      object.rule(member, nil)
      object.release()
      try await owner.settle()
      #expect(form.number == 3)
      // Each of them once; a slow machine may take the 5 s after which an owner hangs.
      let names = errors.all.map(\.name)
      #expect(names.count { $0 == FocusError.conflict } <= 1, "\(names)")
      #expect(names.allSatisfy { $0 == FocusError.conflict || $0.hasSuffix(".Timeout") }, "\(names)")
    }
  }
}
