public import FocusContract

/// What becomes of a field when its owner's object is looked at once more.
extension FocusModel {
  /// Puts the owner's object behind the field `id` again, after a restart; what was disabled is so still.
  /// - Throws: `ModelError`: `noSuchField`, `limitExceeded`, `invalid`.
  public func bind(_ object: BoundObject, to id: FieldID) throws(ModelError) {
    let field = try field(id)
    var object = object
    // By now the object may show what the field keeps itself, which counts: else all other keys would be nil. Whoever has it
    // looked at anew is told.
    for key in field.storedKeys { (object.properties[key], object.values[key]) = (nil, nil) }
    try check(object, for: field)
    touch(id)
    put(object.with(disabled: field.awaited?.disabled ?? []), behind: field)
  }

  /// Makes what the object behind the field `id` declares and holds now the field's: what has vanished is nil.
  /// - Throws: `ModelError`: `noSuchField`, `limitExceeded`, `invalid`; then nothing changes.
  public func renew(_ object: BoundObject, of id: FieldID) throws(ModelError) {
    let field = try field(id)
    guard let old = field.object else { return }
    try check(object, for: field)
    put(object.with(disabled: old.disabled), behind: field)
  }

  private func put(_ object: BoundObject, behind field: Field) {
    let id = field.id
    amend(id, object.keys.union(field.object?.keys ?? [])) { table in
      table.bind(object, to: id)
      for (key, binding) in field.bindings where binding.isBound {
        guard let property = object.properties[key], property.isReadable, !binding.isWriteOnly,
          object.values[key] != nil
        else {
          table.set(nil, for: key, in: id)
          continue
        }
        guard binding.isReadOnly == property.isWritable else { continue }
        var binding = binding
        binding.isReadOnly = !property.isWritable
        table.set(binding, for: key, in: id)
      }
      for key in object.writeOnlyKeys { table.set(.writeOnly(key), for: key, in: id) }
    }
    update(object.values, of: id)
    updateActivity(of: id)
  }

  /// Checks that `object` may be behind `field`.
  /// - Throws: `ModelError`: `limitExceeded`, `invalid`.
  private func check(_ object: BoundObject, for field: Field) throws(ModelError) {
    let stored = field.storedKeys
    if let key = stored.first(where: { object.properties[$0] != nil }) {
      throw .invalid("\(key) is both a stored value and a property of the field's object")
    }
    try Limits.check(keys: stored.count + object.keyCount)
    try checkScene(
      table.scene(of: field.id), field.scope, keys: object.keyCount - (field.object?.keyCount ?? 0))
    try table.allowances.check(Extent(bytes: object.size - (field.object?.size ?? 0)), of: field)
  }
}
