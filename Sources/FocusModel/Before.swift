internal import FocusContract

/// Fields as they were before they were changed: whole ones, and single stored bindings of fields that are else the same.
///
/// A write of one binding copies none of the others.
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

  var isEmpty: Bool { fields.isEmpty && bindings.isEmpty }

  /// Remembers the field `id` as it is, before it is changed the first time; nil: not there.
  /// - Returns: whether nothing of it was remembered.
  @discardableResult
  mutating func keep(_ id: FieldID, _ field: Field?) -> Bool {
    guard fields[id] == nil else { return false }
    guard let field, !bindings.isEmpty, let written = self.written(in: field) else {
      fields.updateValue(field, forKey: id)
      return true
    }
    fields.updateValue(written, forKey: id)
    bindings = bindings.filter { $0.key.field != id }
    return false
  }

  /// Remembers the stored binding at `place` as it is, before it is written the first time.
  /// - Returns: whether it was not remembered.
  @discardableResult
  mutating func keep(_ binding: FieldBinding, at place: BindingID) -> Bool {
    guard fields[place.field] == nil, bindings[place] == nil else { return false }
    bindings[place] = binding
    return true
  }

  /// Remembers `field` in place of what was there.
  mutating func replace(_ field: Field) { fields.updateValue(field, forKey: field.id) }

  /// `present` with its written bindings as they were; nil if there are none.
  func written(in present: Field) -> Field? {
    let written = bindings.filter { $0.key.field == present.id }
    guard !written.isEmpty else { return nil }
    var field = present
    for (place, binding) in written { field.bindings[place.key] = binding }
    return field
  }

  /// Forgets the field `id`.
  mutating func forget(_ id: FieldID) { fields[id] = nil }

  /// Forgets the stored binding at `place`.
  mutating func forget(_ place: BindingID) { bindings[place] = nil }

  /// Forgets everything.
  mutating func removeAll() {
    if !fields.isEmpty { fields.removeAll(keepingCapacity: true) }
    if !bindings.isEmpty { bindings.removeAll(keepingCapacity: true) }
  }
}
