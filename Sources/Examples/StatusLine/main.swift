import FocusKit
import Glibc

// A line for each change of one key, whichever field has focus, as a status bar shows it.

extension FocusedValues {
  var number: Binding<Int>? {
    get { self["demo.Form.Number"] }
    set { self["demo.Form.Number"] = newValue }
  }
}

// snippet: status line
for await number in FocusClient.shared.changes(of: \.number) {
  print(number.map { "\($0)" } ?? "-")
  fflush(nil)
}
// end
