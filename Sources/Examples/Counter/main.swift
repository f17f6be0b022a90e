import FocusKit

// A number that any program can read and change while it has focus: `focusctl update Number +1`.

// snippet: counter
extension FocusedValues {
  var number: Binding<Int>? {
    get { self["demo.Form.Number"] }
    set { self["demo.Form.Number"] = newValue }
  }
}

struct Counter {
  @State private var number = 1

  func field() -> FocusField {
    FocusField("counter", label: "Counter").focusedValue(\.number, $number).register()
  }

  func show() async {
    for await number in $number.changes() { print(number) }
  }
}

let counter = Counter()
let field = counter.field()
try await field.focus()
await counter.show()
// end
