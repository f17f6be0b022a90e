import FocusKit

// The first program of the tutorial: three fields with a number each.

// snippet: form
struct Form {
  @State private var numbers = [1, 2, 3]
  @FocusState private var focused: Int?

  func fields() -> [FocusField] {
    zip(1..., $numbers).map { position, $number in
      FocusField("number\(position)", label: "Number \(position)")
        .focusedValue(\.number, $number) { number in
          guard number < 1000 else { throw FocusError("a number has at most three digits") }
        }
        .focusedValue(\.reset) { $number.wrappedValue = 0 }
        .focused($focused, equals: position)
        .register()
    }
  }

  func focus(_ position: Int?) { focused = position }

  var text: String {
    zip(1..., numbers).map { $0 == focused ? "[\($1)]" : "\($1)" }.joined(separator: " ")
  }
}
// end

// snippet: form's terminal
let form = Form()
let fields = form.fields()
for field in fields { try await field.registered() }
print(form.text)
while let line = readLine(), line != "quit" {
  if !line.isEmpty { form.focus(Int(line)) }
  print(form.text)
}
withExtendedLifetime(fields) {}
// end
