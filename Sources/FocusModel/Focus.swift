public import DBusTypes
public import FocusContract

/// Which field holds focus, and which did.
struct Focus: Hashable {
  /// The field that holds focus, or nil.
  private(set) var field: FieldID?
  /// The focused field, then its ancestors up to the scene or its window; empty if nothing is focused.
  private(set) var path: [FieldID] = []
  /// The fields that held focus before, newest first.
  private(set) var history: [FieldID] = []
  /// The window in front: the one that the window bridge focused last and has not blurred or unregistered.
  var front: FieldID?
  /// The field focused last of those that were in no window then, while that counts.
  var outside: FieldID?

  /// Moves focus to the field `id`, or to nothing; the fields of `table` are those that there are.
  mutating func move(to id: FieldID?, in table: FieldTable) {
    if let previous = field, previous != id, table.fields[previous] != nil,
      !table.path(from: history.first).dropFirst().contains(previous)
    {
      history.removeAll { $0 == previous }
      history.insert(previous, at: 0)
    }
    field = id
    path = table.path(from: id)
    guard !history.isEmpty else { return }
    // It names what people left, not what focus fell back to.
    history.removeAll { table.fields[$0] == nil || path.contains($0) }
    let above = table.path(from: history.first).dropFirst()
    history.removeAll { above.contains($0) }
    history.removeLast(max(0, history.count - Limits.historyLength))
  }

  /// Adds to `changes` what must be published if this follows `old`; of fields, what `tells` of.
  func tell(since old: Focus, _ changes: inout [Change], tells: (FieldID) -> Bool) {
    let moved = old.field != field
    let differs = (path: old.path != path, history: old.history != history)
    guard moved || differs.path || differs.history else { return }
    changes.append(.focusChanged(focusedField: moved, focusPath: differs.path, history: differs.history))
    guard moved else { return }
    for id in [old.field, field].compactMap({ $0 }) where tells(id) { changes.append(.fieldChanged(id, .focused)) }
  }
}

extension FocusModel {
  /// The field that holds focus, or nil.
  public var focusedField: FieldID? { focus.field }

  /// The focused field, then its ancestors up to the scene or its window; empty if nothing is focused.
  public var focusPath: [FieldID] { focus.path }

  /// The fields that held focus before, newest first.
  public var history: [FieldID] { focus.history }

  /// The window in front, or nil.
  public var front: FieldID? { focus.front }

  /// Lets the owner of a field focus it; a window comes to the front.
  /// - Throws: `ModelError`: `noSuchField`, `accessDenied`.
  public func focus(_ id: FieldID, by client: BusName) throws(ModelError) {
    let field = try field(
      id, ownedBy: client, to: "focus", unless: ", unless its object implements \(Focus1.responder)")
    guard field.window == nil else { return bringToFront(id) }
    let outside =
      switch table.window(of: id) {
      case nil: id
      case focus.front: FieldID?.none
      default: focus.outside
      }
    // Toolkits tell it again: nothing would differ but the moment, which would have to be saved.
    if focus.field == id, field.lastFocused == lastMoment, focus.outside == outside { return }
    touchMemory(of: field)
    let moment = nextMoment()
    arrange { focus, table in
      table.setFocused(id, at: moment)
      focus.outside = outside
    }
    refocus()
  }

  /// Lets the owner of a field blur it; if it is the one that its owner focused last, focus moves to its parent, or to what
  /// its window shows else.
  /// - Throws: `ModelError`: `noSuchField`, `accessDenied`.
  public func blur(_ id: FieldID, by client: BusName) throws(ModelError) {
    let field = try field(id, ownedBy: client, to: "blur")
    guard field.window == nil else { return sendBehind(id) }
    forgetFocus(of: field, andOthers: true)
    arrange { focus, _ in if focus.outside == id { focus.outside = field.parent } }
    refocus()
  }

  /// Forgets that `field`, which goes or is blurred, was focused.
  ///
  /// If it is the one in its window that its owner focused last, its parent takes its place, and of several that were
  /// focused only that is remembered if `andOthers`.
  func forgetFocus(of field: Field, andOthers: Bool = false) {
    guard field.lastFocused > 0 else { return }
    let group = table.group(of: field.id)
    let isNewest = table.memory.newest(in: group, by: field.owner) == field.id
    for id in isNewest && andOthers ? table.memory.all(in: group, by: field.owner) : [field.id] {
      fields[id].map(touchMemory)
      arrange { _, table in table.setFocused(id, at: 0) }
    }
    guard isNewest, let parent = field.parent.flatMap({ fields[$0] }), parent.window == nil else { return }
    touchMemory(of: parent)
    arrange { _, table in table.setFocused(parent.id, at: max(parent.lastFocused, field.lastFocused)) }
  }
}
