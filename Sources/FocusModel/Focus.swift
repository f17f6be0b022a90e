public import DBusTypes
public import FocusContract

extension FocusModel {
  /// Moves focus to a field.
  ///
  /// `settle` tells of it.
  /// - Throws: `FocusError`: `noSuchField`, `accessDenied`.
  public func focus(_ id: FieldID, by client: BusName) throws(FocusError) {
    _ = try field(id, ownedBy: client, to: "focus")
    moveFocus(to: id)
  }

  /// Moves focus from a field to its parent, or to nothing; nothing happens where the field does not hold focus.
  ///
  /// `settle` tells of it.
  /// - Throws: `FocusError`: `noSuchField`, `accessDenied`.
  public func blur(_ id: FieldID, by client: BusName) throws(FocusError) {
    let field = try field(id, ownedBy: client, to: "blur")
    if focusedField == id { moveFocus(to: field.parent) }
  }

  private func moveFocus(to id: FieldID?) {
    guard id != focusedField else { return }
    history.removeAll { $0 == id || $0 == focusedField }
    if let previous = focusedField { history.insert(previous, at: 0) }
    if history.count > Limits.historyLength { history.removeLast() }
    focusedField = id
    focusPath = path(from: id)
  }

  /// Tells what has not been told yet: moves of focus, and what owners told of bound bindings.
  public func settle() -> [Change] { settle(valuesMayDiffer: false) }

  func settle(valuesMayDiffer: Bool) -> [Change] {
    let moved = told.focusedField != focusedField
    let pathChanged = told.focusPath != focusPath
    let historyChanged = told.history != history
    var changes: [Change] = []
    if moved || pathChanged || historyChanged {
      changes.append(.focusChanged(focusedField: moved, focusPath: pathChanged, history: historyChanged))
    }
    if moved {
      for id in [told.focusedField, focusedField] {
        if let id, fields[id] != nil { changes.append(.focusedChanged(id)) }
      }
    }
    told.focusedField = focusedField
    told.focusPath = focusPath
    told.history = history
    let updated = untold
    untold = [:]
    for (id, before) in updated.sorted(by: { $0.key < $1.key }) {
      if let field = fields[id] { changes += Change.difference(.field(id), from: before, to: field.shown) }
    }
    if pathChanged || valuesMayDiffer || !updated.isEmpty { changes += refreshFocusedValues() }
    return changes
  }
}
