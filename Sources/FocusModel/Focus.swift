public import DBusTypes
public import FocusContract

/// Which field holds focus, and which did.
struct Focus: Hashable {
  /// The field that holds focus, or nil.
  private(set) var field: FieldID?
  /// The focused field, then its ancestors up to the scene; empty if nothing is focused.
  var path: [FieldID] = []
  /// The fields that held focus before, newest first.
  private(set) var history: [FieldID] = []

  init(field: FieldID? = nil, path: [FieldID] = [], history: [FieldID] = []) {
    self.field = field
    self.path = path
    self.history = history
  }

  /// Moves focus to the field `id`, which has this path, or to nothing.
  mutating func move(to id: FieldID?, path: @autoclosure () -> [FieldID]) {
    guard id != field else { return }
    history.removeAll { $0 == id || $0 == field }
    if let previous = field { history.insert(previous, at: 0) }
    if history.count > Limits.historyLength { history.removeLast() }
    field = id
    self.path = path()
  }

  /// Forgets the field `id`, which is gone; its parent has the focus if the field had it.
  mutating func leave(_ id: FieldID, for parent: FieldID?) {
    if field == id { field = parent }
    history.removeAll { $0 == id || $0 == field }
  }

  /// What must be published if this follows `old`; nothing of fields that are not among `fields`.
  func changes(from old: Focus, _ fields: [FieldID: Field]) -> [Change] {
    let moved = old.field != field
    var changes: [Change] = [
      .focusChanged(focusedField: moved, focusPath: old.path != path, history: old.history != history)
    ]
    guard moved else { return changes }
    for id in [old.field, field] {
      if let id, fields[id] != nil { changes.append(.focusedChanged(id)) }
    }
    return changes
  }
}

extension FocusModel {
  /// The field that holds focus, or nil.
  public var focusedField: FieldID? { focus.field }

  /// The focused field, then its ancestors up to the scene; empty if nothing is focused.
  public var focusPath: [FieldID] { focus.path }

  /// The fields that held focus before, newest first.
  public var history: [FieldID] { focus.history }

  /// Moves focus to a field.
  ///
  /// `settle` publishes it.
  /// - Throws: `ModelError`: `noSuchField`, `accessDenied`.
  public func focus(_ id: FieldID, by client: BusName) throws(ModelError) {
    _ = try field(id, ownedBy: client, to: "focus")
    moveFocus(to: id)
  }

  /// Moves focus from a field to its parent, or to nothing; nothing happens if the field does not hold focus.
  ///
  /// `settle` publishes it.
  /// - Throws: `ModelError`: `noSuchField`, `accessDenied`.
  public func blur(_ id: FieldID, by client: BusName) throws(ModelError) {
    let field = try field(id, ownedBy: client, to: "blur")
    if focusedField == id { moveFocus(to: field.parent) }
  }
}
