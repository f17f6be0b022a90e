internal import DBus
internal import DBusTypes
internal import FocusContract

extension DBusValue {
  /// Checks that others can be shown the value: they see nil in place of one that a message cannot carry or that is past the
  /// contract's limits.
  /// - Throws: `DBusError`.
  func checkIsShown() throws(DBusError) {
    guard !type.isNumber else { return }
    try ValueCheck.check([self])
    let value = MarshalledValue(self)
    let (most, measure) = (Limits.value, value.measure)
    guard value.size > most.bytes || measure.elements > most.elements || measure.depth > Limits.valueDepth else {
      return
    }
    throw DBusError(
      .limitsExceeded,
      "it takes \(value.size) bytes, has \(measure.elements) elements and is nested \(measure.depth) deep, but at most "
        + "\(most.bytes), \(most.elements) and \(Limits.valueDepth) are allowed")
  }
}
