import FocusKit

// A line for each change of one key, whichever field has focus, as a status bar shows it.

struct NumberKey: FocusedValueKey {
  typealias Value = Binding<Int>
  static let name = "demo.Form.Number"
}

extension FocusedValues {
  var number: NumberKey.Value? {
    get { self[NumberKey.self] }
    set { self[NumberKey.self] = newValue }
  }
}

for await number in FocusClient.shared.changes(of: \.number) {
  print(number.map { "\($0)" } ?? "-")
}
