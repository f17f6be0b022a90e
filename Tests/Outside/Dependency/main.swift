import DBusTypes
import FocusKit

/// A type that converts itself.
struct Percent: DBusRepresentable, Equatable {
  var number: UInt8

  static var dbusType: DBusType { .byte }
  init(_ number: UInt8) { self.number = number }
  init(dbusValue: DBusValue) throws {
    guard case .byte(let number) = dbusValue, number <= 100 else { throw DBusConversionError("at most 100") }
    self.number = number
  }
  func dbusValue() -> DBusValue { .byte(number) }
}

extension FocusedValues {
  var percent: Binding<Percent>? {
    get { self["demo.Form.Percent"] }
    set { self["demo.Form.Percent"] = newValue }
  }
}

let percent = State(wrappedValue: Percent(40))
let field = FocusField("text1").focusedValue(\.percent, percent.projectedValue).register()
try await field.focus()
let written = try await FocusClient.shared.write(\.percent, Percent(50))
precondition(written == Percent(50) && percent.wrappedValue == written)
