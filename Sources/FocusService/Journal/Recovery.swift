internal import DBus
internal import DBusTypes
internal import FocusModel

/// The start: what an earlier process has saved is there again before the first call is answered.
extension FocusService {
  /// Has the saved fields back, but those whose owners have left, and looks at the objects behind bound ones afresh.
  /// - Throws: `DBusError` where the bus does not answer.
  func recover() throws(DBusError) {
    let opened = Journal.open(log)
    journal = opened.journal
    model = opened.model
    let bus = try connection.busID()
    let names = try connection.names()
    let isSameBus = (try? journal?.savedBus()) == bus
    for owner in Set(model.fields.values.compactMap(\.owner)) where !isSameBus || !names.contains(owner) {
      _ = model.ownerLeft(owner)
    }
    isRecovering = true
    var left = 0
    for field in opened.saved where model.fields[field.id] != nil {
      guard let object = field.object, let owner = field.owner else { continue }
      left += 1
      bindAgain(field.id, object, owner) { left -= 1 }
    }
    while left > 0, connection.isConnected, !loop.isStopped { loop.turn() }
    isRecovering = false
    _ = model.settle()
    do {
      try journal?.save(model)
      try journal?.save(bus: bus)
      model.saved()
    } catch {
      log.error("changes cannot be saved, and are refused: \(error)")
      cannotSave = true
    }
    model.endTurn()
    outbox = Outbox()
    if !opened.saved.isEmpty { log.info("\(status), as saved") }
  }

  private func bindAgain(
    _ id: FieldID, _ saved: SavedField.SavedObject, _ owner: BusName, _ done: @escaping () -> Void
  ) {
    let object = OwnedObject(owner: owner, path: saved.path)
    examine(object, chosen: saved.interfaces) { [self] result in
      defer { done() }
      do {
        try model.bind(result.get(), disabled: saved.disabled, to: id)
        object.values = [:]
        objects.setField(id, of: object)
      } catch {
        log.info("the field '\(id)' is not back: \(DBusError(any: error).message)")
        if case .success = result { stopWatching(object) }
        _ = try? model.unregister(id, by: owner)
      }
    }
  }
}
