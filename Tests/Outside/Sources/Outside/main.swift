import FocusKit
import Glibc

// What compiles is the test; what runs says that it does what it says. `reads` tells what a reading costs.

FormView().body()
transactions()
collections()
SetView().change()
BindingUse().use()

let view = MainView(number: .constant(1))
let volume = view.volume
await Task.detached { volume.wrappedValue = 0.75 }.value
check(volume.wrappedValue == 0.75, "a binding of the main actor is written from elsewhere")

let slider = SizeView().slider
slider.wrappedValue = 0.8
check(slider.wrappedValue == 0.85, "a slider's 0.8 is large")

if CommandLine.arguments.contains("reads") { try await reads() }
print("outside: ok")

/// Reads focused values millions of times.
func reads() async throws {
  let number = State(wrappedValue: 3)
  let field = FocusField().focusedValue(\.myIntDataBinding, number.projectedValue).focusedValue(\.note, "note")
    .register()
  try await field.focus()
  for await value in FocusClient.shared.changes(of: \.myIntDataBinding) where value == 3 { break }
  measure("@FocusedBinding of an Int") { (view: SetView) in view.myBinding == 3 }
  measure("@FocusedValue of a String") { (view: SetView) in view.note == "note" }
  measure("@FocusedValue of a Binding") { (view: SetView) in view.asBinding != nil }
  withExtendedLifetime(field) {}
}

/// Tells how long a reading takes in the best of twenty rounds, which is the one that nothing else disturbed.
func measure(_ what: String, _ read: (SetView) -> Bool) {
  let view = SetView()
  let (rounds, count) = (20, 200_000)
  var found = 0
  let times = (0..<rounds).map { _ in
    ContinuousClock().measure {
      for _ in 0..<count where read(view) { found += 1 }
    }
  }
  let nanoseconds = (times.min() ?? .zero) / Duration.nanoseconds(count)
  print("\(what): \(Int(nanoseconds.rounded())) ns a reading")
  check(found == rounds * count, "\(what) is there all the time")
}

func check(_ holds: Bool, _ what: String) {
  guard !holds else { return }
  print("outside: not so: \(what)")
  exit(1)
}
