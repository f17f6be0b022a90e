import FocusKit

// snippet: keys
extension FocusedValues {
  var number: Binding<Int>? {
    get { self["demo.Form.Number"] }
    set { self["demo.Form.Number"] = newValue }
  }

  var reset: FocusedCommand? {
    get { self["demo.Form.Reset"] }
    set { self["demo.Form.Reset"] = newValue }
  }
}
// end
