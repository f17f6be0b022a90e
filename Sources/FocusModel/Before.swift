internal import FocusContract

/// Fields as they were before they were changed: whole ones, and of fields that are else the same, single stored bindings,
/// since a write of one copies none of the others, and when they were focused.
struct Before {
  /// One binding of one field.
  struct BindingID: Hashable {
    let field: FieldID
    let key: Key
  }

  /// The fields that were touched as a whole; nil: not there.
  private(set) var fields: [FieldID: Field?] = [:]
  /// The bindings that were written in other fields.
  private(set) var bindings: [BindingID: FieldBinding] = [:]
  /// When other fields were focused of which that has changed.
  private(set) var moments: [FieldID: UInt64] = [:]

  var isEmpty: Bool { fields.isEmpty && bindings.isEmpty && moments.isEmpty }

  /// Remembers the field `id` as it is, before it is changed the first time; nil: not there.
  /// - Returns: false if it was remembered before.
  @discardableResult
  mutating func keep(_ id: FieldID, _ field: Field?) -> Bool {
    // Each written binding would be looked at again.
    if !bindings.isEmpty, fields[id] != nil { return false }
    if let first = fields.updateValue(field.map { whole($0) }, forKey: id) {
      fields.updateValue(first, forKey: id)
      return false
    }
    if bindings.keys.contains(where: { $0.field == id }) { bindings = bindings.filter { $0.key.field != id } }
    if !moments.isEmpty { moments[id] = nil }
    return true
  }

  /// Remembers the stored binding at `place` as it is, before it is written the first time.
  mutating func keep(_ binding: FieldBinding, at place: BindingID) {
    if fields[place.field] == nil, bindings[place] == nil { bindings[place] = binding }
  }

  /// Remembers when the field `id` was focused, before that is changed the first time.
  mutating func keep(lastFocused moment: UInt64, of id: FieldID) {
    if fields[id] == nil, moments[id] == nil { moments[id] = moment }
  }

  /// Remembers what `later` does, which began when this had ended.
  mutating func merge(_ later: Before) {
    guard !later.isEmpty else { return }
    for (id, field) in later.fields { keep(id, field) }
    for (place, binding) in later.bindings { keep(binding, at: place) }
    for (id, moment) in later.moments { keep(lastFocused: moment, of: id) }
  }

  /// Remembers `field` in place of what was there.
  mutating func replace(_ field: Field) { fields.updateValue(field, forKey: field.id) }

  /// `field`, which is not remembered as a whole, as it was.
  func whole(_ field: Field) -> Field {
    var field = field
    for (place, binding) in bindings where place.field == field.id { field.bindings[place.key] = binding }
    if let moment = moments[field.id] { field.parts.lastFocused = moment }
    return field
  }

  /// Forgets everything.
  mutating func removeAll() {
    if !fields.isEmpty { fields.removeAll(keepingCapacity: true) }
    if !bindings.isEmpty { bindings.removeAll(keepingCapacity: true) }
    if !moments.isEmpty { moments.removeAll(keepingCapacity: true) }
  }
}
