public import DBusTypes
public import FocusContract

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

  /// Whether all of a value is written, whatever its revision.
  public func isForWhole(_ path: BindingPath) -> Bool { path.pointer.tokens.isEmpty && revision == nil }
}

/// What becomes of a write that nothing speaks against.
public enum WriteOutcome: Hashable, Sendable {
  /// It is done: what the binding, or its element, holds now.
  case written(Reading)
  /// The binding is bound: the service must ask the field's owner to set the whole value to this.
  case forwarded(FieldID, MarshalledValue)
}

extension FocusModel {
  /// Writes through the binding that `path` leads to at `place`; a value that is already there changes nothing, but the owner
  /// of a bound binding is asked all the same.
  /// - Throws: `ModelError`: `notFocused` at `focused`, `unknownProperty` at a field, `noSuchField`, `conflict`,
  ///   `readOnly`, `noSuchElement`, `typeMismatch`, `limitExceeded`, `invalid`.
  public func write(
    _ value: MarshalledValue, to path: BindingPath, at place: Place, if condition: WriteCondition = WriteCondition(),
    by client: BusName
  ) throws(ModelError) -> WriteOutcome {
    let key = path.key
    let field = try holder(of: path, at: place, if: condition, by: client)
    guard let old = field.bindings[key] else { throw .unknownProperty(key, field.id) }
    let isShown = field.isVisible(to: client)
    let declared = field.object?.type(ofWritesTo: key)
    if old.isWriteOnly, let declared {
      guard condition.isForWhole(path) else {
        throw .accessDenied("\(key) can only be written: write \(key) as a whole and without 'revision'")
      }
      guard let whole = value.converted(to: declared) else {
        throw .typeMismatch(path, expected: declared, actual: value.type)
      }
      _ = try Limits.check(whole, of: key)
      return .forwarded(field.id, whole)
    }
    // Not after the revision: a value that moves would be read and tried again for ever.
    guard !old.isReadOnly || (!old.isBound && field.isOwned(by: client)) else { throw .readOnly(key, field.id) }
    if let wanted = condition.revision, wanted != old.revision {
      throw .conflict("\(key) is now at revision \(old.revision), not \(wanted): read it again")
    }
    let whole = try path.replacing(old.value, with: value, declared: old.isBound ? declared : nil)
    let extent = try Limits.check(whole, of: key)
    let written = try path.written(to: whole)
    // Owners forget to tell: also one that is believed to hold the value is asked.
    guard !old.isBound else { return .forwarded(field.id, whole) }
    guard whole != old.value || !isShown else {
      return .written(Reading(value: written, field: field.id, revision: old.revision))
    }
    // How much was there before does not show in a refusal either.
    try table.allowances.check(isShown ? extent - old.extent : extent, of: field)

    let binding = FieldBinding(
      value: whole, revision: nextRevision(), isReadOnly: old.isReadOnly, extent: extent)
    let place = Before.BindingID(field: field.id, key: key)
    // A copy of the field that lives on would have all its bindings copied.
    _ = consume field
    write(binding, at: place, of: old, by: client)
    guard isShown else { return .written(.hidden(place.field)) }
    return .written(Reading(value: written, field: place.field, revision: binding.revision))
  }

  /// Gives the binding `key` of the field `id` the next revision, though it is as it was.
  public func takeRevision(of key: Key, in id: FieldID) {
    guard var binding = fields[id]?.bindings[key] else { return }
    binding.revision = nextRevision()
    amend(id, [key]) { $0.set(binding, for: key, in: id) }
  }

  /// The field whose binding a write to `path` at `place` is about.
  /// - Throws: `ModelError`: `notFocused`, `unknownProperty`, `noSuchField`, `conflict` for the condition's field,
  ///   `accessDenied` for what would reveal a sensitive field.
  public func holder(
    of path: BindingPath, at place: Place, if condition: WriteCondition, by client: BusName
  ) throws(ModelError) -> Field {
    if let wanted = condition.field {
      let holder = if case .field(let id) = place { id } else { resolve(path.key) }
      guard holder == wanted else {
        let now = holder.map { "the field '\($0)'" } ?? "no field"
        throw .conflict("\(path.key) now belongs to \(now), not to '\(wanted)'")
      }
    }
    let field = try holder(of: path.key, at: place)
    // Who is not shown the values of a sensitive field learns nothing of them by writing.
    guard field.isVisible(to: client) || condition.isForWhole(path) else {
      throw .accessDenied(
        "the field '\(field.id)' is sensitive: others may write \(path) only as a whole and without 'revision'")
    }
    return field
  }

  /// What `path` leads to in the field `id` after a write there; after an append, the array's last element.
  /// - Throws: `ModelError`: `noSuchField`, `unknownProperty`, `noSuchElement`.
  public func reading(afterWriteTo path: BindingPath, of id: FieldID) throws(ModelError) -> Reading {
    guard let binding = try field(id).bindings[path.key] else { throw .unknownProperty(path.key, id) }
    return Reading(value: try path.written(to: binding.value), field: id, revision: binding.revision)
  }

  /// What is told of a write to `path` in the field `id` that has left the whole value as `whole`, as far as is known.
  public func unconfirmedReading(of whole: MarshalledValue, afterWriteTo path: BindingPath, of id: FieldID) -> Reading {
    Reading(value: (try? path.written(to: whole)) ?? whole, field: id, revision: 0)
  }
}
