internal import DBus
internal import DBusTypes
internal import EventLoop
internal import FocusContract
internal import FocusModel
internal import ProgramSupport

/// A saved field whose owner's object is introspected again.
struct Rebinding {
  let field: FieldID
  /// The field's registration: another field of the name is another.
  let registration: UInt64
  let saved: SavedField.SavedObject
  let object: OwnedObject

  /// The field, unless it is gone or has its object again.
  func field(in model: FocusModel) -> Field? {
    guard let field = model.fields[field], field.isAwaitingObject, field.registration == registration else {
      return nil
    }
    return field.connection == object.owner ? field : nil
  }
}

/// Objects of saved fields are bound again after a restart.
extension FocusService {
  /// Introspects the object of `field`, as it was saved, and binds it; an owner that does not answer is asked again once a
  /// second.
  func bindAgain(
    _ field: FieldID, _ registration: UInt64, _ saved: SavedField.SavedObject, of owner: BusName,
    _ done: @escaping () -> Void = {}
  ) {
    let rebinding = Rebinding(
      field: field, registration: registration, saved: saved,
      object: OwnedObject(owner: owner, path: saved.path, chosen: saved.interfaces, live: saved.live))
    introspect(rebinding.object) { [weak self] result in
      self?.handle(.rebinding(rebinding, result))
      done()
    }
  }

  /// Binds the object that has been introspected; a field whose object fails stays without it.
  ///
  /// Neither needs saving.
  /// - Returns: whether it must be done again if the turn is taken back.
  func complete(_ rebinding: Rebinding, _ result: Result<BoundObject, DBusError>) -> Bool {
    let (id, object) = (rebinding.field, rebinding.object)
    guard let field = rebinding.field(in: model) else {
      if case .success = result { objects.drop(object) }
      return true
    }
    do {
      let bound = try result.get()
      try model.bind(bound, disabled: rebinding.saved.disabled, to: id)
      objects.bind(id, to: object)
      nameUnfit(object, among: bound.values)
    } catch {
      if case .success = result { objects.drop(object) }
      let name = DBusError(any: error).name
      guard name != .timeout else {
        log.debug("the owner of the field '\(id)' does not reply yet")
        loop.schedule(after: .seconds(1)) { [weak self] in
          guard let self, rebinding.field(in: model) != nil else { return }
          bindAgain(id, rebinding.registration, rebinding.saved, of: object.owner)
        }
        return false
      }
      if name == Focus1.ownerGone, let owner = field.owner {
        emit((try? model.unregister(id, by: owner)) ?? [])
        return true
      }
      // Only the error's name: what an owner says of it may hold a value.
      log.info("the object of the field '\(id)' was not restored until its owner calls Examine: \(name)")
    }
    return true
  }
}
