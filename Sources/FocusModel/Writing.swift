public import DBusTypes

/// What must still hold for a write to happen.
public struct WriteCondition: Hashable, Sendable {
  /// The binding is still in the state of that revision.
  public var revision: UInt64?
  /// The key resolves to that field.
  public var field: FieldID?

  /// Creates a condition that always holds.
  public init(revision: UInt64? = nil, field: FieldID? = nil) {
    self.revision = revision
    self.field = field
  }
}

extension FocusModel {
  /// Writes through the binding that `path` leads to at `place`.
  ///
  /// A write of the value that is already there changes nothing.
  /// - Throws: `FocusError`: `notFocused` at `focused`, `unknownProperty` at a field, `noSuchField`, `conflict`,
  ///   `readOnly`, `noSuchElement`, `typeMismatch`, `limitExceeded`, `invalid`.
  /// - Returns: what the binding, or its element, holds afterwards, and what changed.
  public mutating func write(
    _ value: DBusValue, to path: BindingPath, at place: Place, if condition: WriteCondition = WriteCondition(),
    by client: BusName
  ) throws(FocusError) -> (reading: Reading, changes: [Change]) {
    let key = path.key
    if let wanted = condition.field { try check(key, at: place, resolvesTo: wanted) }
    let field = try holder(of: key, at: place)
    guard var binding = field.bindings[key] else { throw .unknownProperty(key, field.id) }
    if let wanted = condition.revision, wanted != binding.revision {
      throw .conflict("\(key) is at revision \(binding.revision) by now, and \(wanted) was asked for: read it again")
    }
    guard !binding.isReadOnly || field.isOwned(by: client) else { throw .readOnly(key, field.id) }
    let whole = try path.replacing(binding.value, with: value)
    try types.check(whole, of: key)
    let size = try Limits.check(whole, of: key)
    let shown = path.pointer.tokens.isEmpty ? whole : value.lookedThrough
    guard whole != binding.value else {
      return (Reading(value: shown, field: field.id, revision: binding.revision), [])
    }
    let growth = size - binding.size
    try allowances[field.owner, default: Allowance()].check(bytes: growth)

    var changes = settle()
    binding.value = whole
    binding.size = size
    binding.revision = nextRevision()
    fields[field.id]?.bindings[key] = binding
    charge(field.owner, bytes: growth)
    if !field.isSensitive { changes += told(whole, of: key, in: field.id) }
    return (Reading(value: shown, field: field.id, revision: binding.revision), changes)
  }

  private func check(_ key: Key, at place: Place, resolvesTo wanted: FieldID) throws(FocusError) {
    guard fields[wanted] != nil else { throw .noSuchField(wanted.text) }
    let holder =
      switch place {
      case .focused: resolve(key)
      case .field(let id): id
      }
    guard holder != wanted else { return }
    throw .conflict("\(key) belongs to \(holder.map { "the field '\($0)'" } ?? "no field") now, not to '\(wanted)'")
  }

  private mutating func told(_ value: DBusValue, of key: Key, in id: FieldID) -> [Change] {
    let changed = [NamedValue(name: key.member, value: value)]
    var changes: [Change] = [.valuesChanged(.field(id), key.interface, changed: changed, invalidated: [])]
    if resolve(key) == id {
      told.values[key] = value
      changes.append(.valuesChanged(.focused, key.interface, changed: changed, invalidated: []))
    }
    return changes
  }
}
