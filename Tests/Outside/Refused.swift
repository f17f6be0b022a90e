import FocusKit

// What the compiler must refuse, each at a line that says so; `.ci/outside` compares.

extension FocusedValues {
  var number: Binding<Int>? {
    get { self["demo.Form.Number"] }
    set { self["demo.Form.Number"] = newValue }
  }
  /// No key, but something that is computed from one.
  var half: Int? { number.map { $0.wrappedValue / 2 } }
}

struct Shapeless: Sendable {}

actor Foreign {
  var count = 0

  func binding() -> Binding<Int> {
    Binding(get: { self.count }, set: { self.count = $0 })  // refused
  }
}

func changesOfSomethingComputed(_ client: FocusClient) {
  _ = client.changes(of: \.half)  // refused
  _ = client.onChange(of: \.half) { _, _ in }  // refused
  _ = client.commandChanges(of: \.half)  // refused
}

func publishesSomethingComputed(_ field: FocusField) {
  field.focusedValue(\.half, 1)  // refused
}

struct View {
  @FocusedBinding(\.number) var number: Int?
  @FocusedValue(\.half) var half: Int?

  func assigns() {
    half = 3  // refused
  }
}

func bindsToWhatHasNoType(_ key: KeyPath<FocusedValues, Binding<Shapeless>?>) {
  _ = FocusedBinding(key)  // refused
}
