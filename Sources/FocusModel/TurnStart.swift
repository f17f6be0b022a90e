internal import DBusTypes
internal import FocusContract

/// What was there when a turn began, so that what it has changed can be taken back.
struct TurnStart {
  /// The fields that the turn has touched as they were before; nil: not there.
  private(set) var fields: [FieldID: Field?] = [:]
  /// What bound fields showed before their owners' changes in this turn.
  private(set) var shown: [FieldID: Shown] = [:]
  private(set) var focus = Focus()
  private(set) var published = FocusModel.Published()
  /// What was published of session-scoped fields and has changed since, by interface.
  private(set) var session: [InterfaceName: Shown?] = [:]

  /// Begins a turn.
  mutating func begin(_ focus: Focus, _ published: FocusModel.Published) {
    if !fields.isEmpty { fields.removeAll(keepingCapacity: true) }
    if !shown.isEmpty { shown.removeAll(keepingCapacity: true) }
    if !session.isEmpty { session.removeAll() }
    self.focus = focus
    self.published = published
  }

  /// Remembers the field `id` as it is, before it is changed the first time; nil: not there.
  mutating func touch(_ id: FieldID, _ field: Field?) {
    if fields[id] == nil { fields.updateValue(field, forKey: id) }
  }

  /// Remembers what was published of `interface` before it is changed.
  mutating func keep(_ shown: Shown?, publishedOf interface: InterfaceName) {
    if session[interface] == nil { session.updateValue(shown, forKey: interface) }
  }

  /// Remembers what `field` shows, before its owner's changes are taken in.
  mutating func keep(shownBy field: Field) {
    guard shown[field.id] == nil else { return }
    shown[field.id] = (fields[field.id] ?? field)?.shown
  }

  /// Remembers what the object of `field` declares, which a roll-back keeps.
  mutating func keep(objectOf field: Field) {
    guard let began = fields[field.id], var began, began.registration == field.registration, let old = began.object
    else { return }
    began.object = field.object?.with(commandsOf: old)
    fields.updateValue(began, forKey: field.id)
  }

  /// Remembers the bound values of `field`, which a roll-back keeps.
  mutating func keep(boundBindingsOf field: Field) {
    guard let began = fields[field.id], var began, began.registration == field.registration, began.object != nil
    else { return }
    began.bindings = began.bindings.filter { !$0.value.isBound }
      .merging(field.bindings.filter { $0.value.isBound }) { stored, _ in stored }
    fields.updateValue(began, forKey: field.id)
  }

  /// `present` as it was before the turn.
  func restored(_ present: [FieldID: Field]) -> [FieldID: Field] {
    var restored = present
    for (id, field) in fields { restored[id] = field }
    return restored
  }
}
