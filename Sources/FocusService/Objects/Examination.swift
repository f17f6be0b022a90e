internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// One call of `Examine`: it comes after the writes under way, and what comes after it waits for its end.
final class Examination {
  let field: FieldID
  let object: OwnedObject
  /// Whether no write is awaited any more.
  var isLooking = false
  private let handler: (Result<Void, any Error>) -> Void

  init(_ field: FieldID, _ object: OwnedObject, _ handler: @escaping (Result<Void, any Error>) -> Void) {
    self.field = field
    self.object = object
    self.handler = handler
  }

  func end(_ result: Result<Void, any Error>) { handler(result) }
}

/// `Field.Examine`: a field's object is looked at anew.
extension FocusService {
  /// Looks at the object of the field `id` anew, and replies when the field shows what the object has now.
  /// - Throws: `DBusError`: `invalidArgs` for a field without an object, `timeout` for one whose owner is silent since a
  ///   restart, `limitsExceeded` if too many calls wait for the owner.
  func examine(_ id: FieldID, for call: Call) throws {
    guard let object = objects[id] else {
      guard model.fields[id]?.isAwaitingObject == true else {
        throw DBusError(.invalidArgs, "the field '\(id)' has no object: its owner changes it with Publish and Withdraw")
      }
      return try examineAwaited(id, for: call)
    }
    let (owner, reply) = (object.owner, call.reply)
    try ownerCalls.enter(owner)
    begin(
      Examination(id, object) { [ownerCalls] result in
        ownerCalls.leave(owner)
        reply.answer {
          try result.get()
          return .empty
        }
      })
  }

  /// Looks at the object of the field `id` for the first time since a restart.
  private func examineAwaited(_ id: FieldID, for call: Call) throws {
    guard let awaited = model.awaitedObjects.first(where: { $0.id == id }) else {
      throw DBusError(.invalidArgs, "the field '\(id)' has no object")
    }
    let (connection, reply) = (awaited.connection, call.reply)
    try ownerCalls.enter(connection)
    bindAgain(id, awaited.registration, awaited.object, of: connection) { [weak self, ownerCalls] in
      ownerCalls.leave(connection)
      reply.answer {
        guard self?.model.fields[id]?.isAwaitingObject == false else {
          throw DBusError(.invalidArgs, "the object \(awaited.object.path) cannot back the field '\(id)'")
        }
        return .empty
      }
    }
  }

  private func begin(_ examination: Examination) {
    let traffic = examination.object.traffic
    guard traffic.examination == nil else {
      return traffic.later.append { [weak self] in self?.begin(examination) }
    }
    traffic.examination = examination
    writesMayHaveEnded(traffic)
  }

  /// Goes on with the examination that waits for the writes under way, if they have ended.
  func writesMayHaveEnded(_ traffic: ObjectTraffic) {
    guard let examination = traffic.examination, !examination.isLooking, traffic.writes.isEmpty else { return }
    examination.isLooking = true
    let fresh = OwnedObject(again: examination.object)
    introspect(fresh) { [weak self] result in
      guard let self else { return }
      end(examination, Result { try renew(examination, fresh, result.get()) })
    }
  }

  /// Makes what the object is now the field's.
  /// - Throws: `ModelError` as `FocusModel.renew` does; `DBusError.unknownObject` if the field is gone.
  private func renew(_ examination: Examination, _ fresh: OwnedObject, _ bound: BoundObject) throws {
    defer { stopWatching(fresh) }
    let (id, object) = (examination.field, examination.object)
    guard objects[id] === object else {
      throw DBusError(.unknownObject, "the field '\(id)' has been unregistered meanwhile")
    }
    try model.renew(bound, of: id)
    object.become(fresh)
    nameUnfit(object, among: bound.values)
  }

  /// Ends `examination`, and goes on with what waits for its end.
  func end(_ examination: Examination, _ result: Result<Void, any Error>) {
    let traffic = examination.object.traffic
    examination.end(result)
    traffic.examination = nil
    while traffic.examination == nil, !traffic.later.isEmpty { traffic.later.removeFirst()() }
  }
}
