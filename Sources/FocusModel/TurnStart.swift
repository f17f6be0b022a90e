internal import DBusTypes
internal import FocusContract

/// What was there when a turn began, so that what it has changed can be taken back.
struct TurnStart {
  /// The fields that the turn has changed.
  private(set) var before = Before()
  /// What bound fields showed before their owners' changes in this turn.
  private(set) var shown: [FieldID: Shown] = [:]
  private(set) var focus = Focus()
  /// What was published, if more of it has changed than single values; else nil.
  private var published: FocusModel.Published?
  /// The values that `focused` showed of keys that were written since, if nothing else of what was published has changed.
  private var publishedValues: [Key: MarshalledValue] = [:]
  /// What was published of session-scoped fields and has changed since, by interface.
  private(set) var session: [InterfaceName: Shown?] = [:]

  /// Begins a turn.
  mutating func begin(_ focus: Focus) {
    before.removeAll()
    if !shown.isEmpty { shown.removeAll(keepingCapacity: true) }
    if !session.isEmpty { session.removeAll() }
    if !publishedValues.isEmpty { publishedValues.removeAll(keepingCapacity: true) }
    published = nil
    self.focus = focus
  }

  /// Remembers the field `id` as it is, before it is changed the first time; nil: not there.
  mutating func touch(_ id: FieldID, _ field: Field?) { before.keep(id, field) }

  /// Remembers the stored binding at `place` as it is, before it is written the first time.
  mutating func touch(_ binding: FieldBinding, at place: Before.Place) { before.keep(binding, at: place) }

  /// Remembers what was published, before it is changed in any way.
  mutating func keep(_ published: FocusModel.Published) {
    guard self.published == nil else { return }
    self.published = restored(published)
    publishedValues = [:]
  }

  /// Remembers the value that `focused` shows of `key`, before another is published.
  mutating func keep(_ value: MarshalledValue?, publishedOf key: Key) {
    guard published == nil, let value, publishedValues[key] == nil else { return }
    publishedValues[key] = value
  }

  /// Remembers what was published of `interface` before it is changed.
  mutating func keep(_ shown: Shown?, publishedOf interface: InterfaceName) {
    if session[interface] == nil { session.updateValue(shown, forKey: interface) }
  }

  /// Remembers what `field` shows, before its owner's changes are taken in.
  mutating func keep(shownBy field: Field) {
    guard shown[field.id] == nil else { return }
    shown[field.id] = before.field(field).shown
  }

  /// Remembers what the object of `field` declares, which a roll-back keeps.
  mutating func keep(objectOf field: Field) {
    guard let began = before.fields[field.id], var began, began.registration == field.registration,
      let old = began.object
    else { return }
    began.object = field.object?.with(commandsOf: old)
    before.replace(began)
  }

  /// Remembers the bound values of `field`, which a roll-back keeps.
  mutating func keep(boundBindingsOf field: Field) {
    guard let began = before.fields[field.id], var began, began.registration == field.registration, began.object != nil
    else { return }
    began.bindings = began.bindings.filter { !$0.value.isBound }
      .merging(field.bindings.filter { $0.value.isBound }) { stored, _ in stored }
    before.replace(began)
  }

  /// What was published when the turn began, if `present` is now.
  func restored(_ present: FocusModel.Published) -> FocusModel.Published {
    if let published { return published }
    var restored = present
    for (key, value) in publishedValues { restored.shown.values[key] = value }
    return restored
  }
}
