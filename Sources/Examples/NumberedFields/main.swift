import FocusKit

// Three text fields with a number each, and an independent button that multiplies the focused number by 8.
// Start it twice: either program's button acts on the focused field, even if it is in the other program.

struct MyIntDataBinding: FocusedValueKey {
  typealias Value = Binding<Int>
  static let name = "demo.Form.Number"
}

extension FocusedValues {
  var myIntDataBinding: MyIntDataBinding.Value? {
    get { self[MyIntDataBinding.self] }
    set { self[MyIntDataBinding.self] = newValue }
  }
}

struct Form {
  @State private var numbers = [1, 2, 3]
  @FocusState private var focused: Int?

  /// A field for each number, registered while the result is kept.
  func fields() -> [FocusField] {
    zip(1..., $numbers).map { number, $number in
      FocusField(label: "text \(number)")
        .focusedValue(\.myIntDataBinding, $number)
        .focused($focused, equals: number)
        .register()
    }
  }

  func focus(_ number: Int?) { focused = number }

  var text: String {
    zip(1..., numbers).map { $0 == focused ? "[\($1)]" : " \($1) " }.joined(separator: " ")
  }
}

struct SetButton {
  @FocusedBinding(\.myIntDataBinding) private var myBinding

  var isDisabled: Bool { myBinding == nil }
  var title: String { isDisabled ? "x 8 (disabled)" : "x 8 (\(myBinding ?? 0))" }
  func press() { myBinding? *= 8 }
}

let form = Form()
let button = SetButton()
let fields = form.fields()
for field in fields { try await field.registered() }

print("1, 2, 3: focus a field; x: press the button; an empty line: show again; b: blur; q: quit")
while let line = readLine(), line != "q" {
  switch line {
  case "b": form.focus(nil)
  case "x": button.press()
  case "": break
  default: form.focus(Int(line).flatMap { (1...fields.count).contains($0) ? $0 : nil })
  }
  print(form.text, "  ", button.title)
}
withExtendedLifetime(fields) {}
