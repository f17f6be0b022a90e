import FocusKit

// A line for each change of one key, whatever has focus: what a status bar shows.

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
