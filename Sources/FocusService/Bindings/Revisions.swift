internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// Revisions are published only if they are reserved: a later process would use another for another state.
extension FocusService {
  /// `reading`, for a reply that publishes its revision.
  /// - Throws: `DBusError.ioError` for one that is not reserved: changes of owners' objects take revisions too, also while
  ///   nothing can be saved.
  func checked(_ reading: Reading) throws(DBusError) -> Reading {
    try checkReserved(reading.revision)
    return reading
  }

  /// Checks that the next revision can be published.
  /// - Throws: `DBusError.ioError` as `checked` does.
  func checkRevisions() throws(DBusError) {
    // With the turn's end more are reserved, if that is possible by now.
    if model.revision >= persistence.reserved {
      persistence.tryAgainSoon()
      endTurn()
    }
    try checkReserved(model.revision + 1)
  }

  private func checkReserved(_ revision: UInt64) throws(DBusError) {
    guard revision <= persistence.reserved else {
      throw DBusError(
        Focus1.ioError, "revision \(revision) cannot be saved: read the property, which needs no revision")
    }
  }
}
