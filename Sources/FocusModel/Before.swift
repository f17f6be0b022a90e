internal import FocusContract

/// Fields as they were before they were changed: whole ones, and single stored bindings of fields that are else the same.
///
/// A write of one binding copies none of the others.
struct Before {
  /// One binding of one field.
  struct Place: Hashable {
    let field: FieldID
    let key: Key
  }

  /// The fields that were touched as a whole; nil: not there.
  private(set) var fields: [FieldID: Field?] = [:]
  /// The bindings that were written in other fields.
  private(set) var bindings: [Place: FieldBinding] = [:]

  var isEmpty: Bool { fields.isEmpty && bindings.isEmpty }

  /// Remembers the field `id` as it is, before it is changed the first time; nil: not there.
  mutating func keep(_ id: FieldID, _ field: Field?) {
    guard fields[id] == nil else { return }
    let old = field.map { self.field($0) }
    bindings = bindings.isEmpty ? bindings : bindings.filter { $0.key.field != id }
    fields.updateValue(old, forKey: id)
  }

  /// Remembers the stored binding at `place` as it is, before it is written the first time.
  mutating func keep(_ binding: FieldBinding, at place: Place) {
    guard fields[place.field] == nil, bindings[place] == nil else { return }
    bindings[place] = binding
  }

  /// Remembers `field` in place of what was there.
  mutating func replace(_ field: Field) { fields.updateValue(field, forKey: field.id) }

  /// What `present` was; the same if nothing of it has changed.
  func field(_ present: Field) -> Field {
    if let whole = fields[present.id], let whole { return whole }
    var field = present
    for (place, binding) in bindings where place.field == present.id { field.bindings[place.key] = binding }
    return field
  }

  /// All of `present` as it was.
  func restored(_ present: [FieldID: Field]) -> [FieldID: Field] {
    var restored = present
    for (id, field) in fields { restored[id] = field }
    for (place, binding) in bindings { restored[place.field]?.bindings[place.key] = binding }
    return restored
  }

  /// Forgets everything.
  mutating func removeAll() {
    if !fields.isEmpty { fields.removeAll(keepingCapacity: true) }
    if !bindings.isEmpty { bindings.removeAll(keepingCapacity: true) }
  }
}
