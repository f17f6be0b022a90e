internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// A read that is answered when owners have been asked for what is not known.
final class PendingRead {
  /// What is read.
  enum Wanted {
    /// One binding, or an element of it.
    case one(BindingPath)
    /// The bindings of one interface, or all.
    case all(InterfaceName?)
  }

  /// One value that an owner has been asked for.
  struct Asked: Hashable {
    let key: Key
    let field: FieldID
  }

  let wanted: Wanted
  /// Whether values alone are shown: by `Properties`, and not by `Bindings`.
  let asProperty: Bool
  let place: Place
  let client: BusName
  let reply: PendingReply
  /// The field that the only key resolved to when it was found out what owners must be asked for.
  var holder: FieldID?
  /// How many answers are awaited.
  var awaited = 0
  /// The objects that have not answered in time: they are asked for nothing more, so that a read ends in time too.
  var silent: Set<ObjectIdentifier> = []
  /// What owners have answered, and for which objects.
  var answers: [Asked: (object: OwnedObject, answer: Result<MessageBody?, any Error>)] = [:]

  init(_ wanted: Wanted, asProperty: Bool, at place: Place, for call: Call) {
    (self.wanted, self.asProperty, self.place) = (wanted, asProperty, place)
    (client, reply) = (call.client, call.reply)
  }

  /// What it takes of what may wait for an owner.
  var load: Load {
    if case .one(let path) = wanted { Load(calls: 1, bytes: path.pointer.size) } else { .call }
  }
}

/// Reading: from the daemon what it is kept told of, else from the owners.
extension FocusService {
  /// Reads what is `wanted` at `place`.
  /// - Throws: as `FocusModel.read` does.
  /// - Returns: the results, or nil if the reply is given later.
  func read(
    _ wanted: PendingRead.Wanted, asProperty: Bool = false, at place: Place, for call: Call
  ) throws -> MessageBody? {
    try goOn(PendingRead(wanted, asProperty: asProperty, at: place, for: call))
  }

  /// Asks for what is not known yet, or makes the results.
  func goOn(_ read: PendingRead) throws -> MessageBody? {
    let unknown =
      switch read.wanted {
      case .one(let path): try unknownValue(of: path.key, read)
      case .all(let interface): try unknownValues(of: interface, read)
      }
    guard !unknown.isEmpty else { return try results(of: read) }
    read.awaited = unknown.count
    for (asked, object) in unknown {
      do throws(DBusError) {
        if read.silent.contains(ObjectIdentifier(object)) { throw DBusError(.timeout, "it has not answered before") }
        try ownerCalls.enter(object.owner, read.load)
        makeCurrent(asked.key, in: asked.field, of: object) { [weak self] answer in
          self?.ownerCalls.leave(object.owner, read.load)
          self?.answered(read, asked, object, answer)
        }
      } catch {
        answered(read, asked, object, .failure(error))
      }
    }
    return nil
  }

  /// An owner has answered, or cannot, what a read asked for.
  private func answered(
    _ read: PendingRead, _ asked: PendingRead.Asked, _ object: OwnedObject, _ answer: Result<Message, any Error>
  ) {
    if case .failure(let error as DBusError) = answer, error.name == .timeout {
      read.silent.insert(ObjectIdentifier(object))
    }
    read.answers[asked] = (object, kept(answer, of: asked, for: read))
    read.awaited -= 1
    if read.awaited == 0 { deliver(.answered(read.reply, changes: false) { service in try service.goOn(read) }) }
  }

  /// What a read keeps of an owner's answer: the body if it is the reply.
  ///
  /// Not the message: libdbus receives nothing while what is kept of its messages takes more than 63 MiB.
  private func kept(
    _ answer: Result<Message, any Error>, of asked: PendingRead.Asked, for read: PendingRead
  ) -> Result<MessageBody?, any Error> {
    guard case .one = read.wanted else {
      return (try? answer.get()) == nil ? .failure(DBusError(.failed, "")) : .success(nil)
    }
    return answer.map { reply in
      // Without a binding it has told UnknownProperty, or what is too large.
      guard read.asProperty, model.fields[asked.field]?.bindings[asked.key] != nil else { return nil }
      return try? reply.body
    }
  }

  /// The nearest field whose owner must be asked before it is known what `key` resolves to, the read's holder at last, also if
  /// the key is nil as far as is known: an owner that tells no changes of it would never tell that it has a value.
  /// - Throws: what an owner answered instead of the value.
  private func unknownValue(of key: Key, _ read: PendingRead) throws -> [PendingRead.Asked: OwnedObject] {
    for (asked, (object, answer)) in read.answers {
      let isThere = objects[asked.field] === object
      if !isThere, read.place == .focused, case .success = answer {
        // The key is another field's now, or another object's.
        read.answers[asked] = nil
        continue
      }
      read.reply.asked = (asked.key, asked.field)
      _ = try answer.get()
      guard isThere else { throw DBusError.ownerGone }
    }
    func unknown(in id: FieldID) -> [PendingRead.Asked: OwnedObject] {
      let asked = PendingRead.Asked(key: key, field: id)
      guard let object = objectToAsk(for: key, in: id), read.answers[asked] == nil,
        model.fields[id]?.isVisible(to: read.client) == true
      else { return [:] }
      return [asked: object]
    }
    read.holder = model.resolve(key, at: read.place)
    guard !objects.isEmpty else { return [:] }
    for id in ownFields(at: read.place) {
      let found = unknown(in: id)
      if !found.isEmpty || id == read.holder { return found }
    }
    guard read.place == .focused else { return read.holder.map(unknown) ?? [:] }
    for id in sceneFields(for: key, before: read.holder) {
      let found = unknown(in: id)
      if !found.isEmpty { return found }
    }
    // Only for a key that is nil: to resolve an interface takes longer than to resolve a key.
    return (read.holder ?? model.resolve(key.interface)).map(unknown) ?? [:]
  }

  /// What owners must be asked for before all readings can be shown, each with its object.
  /// - Throws: as `FocusModel.readAll` does.
  private func unknownValues(
    of interface: InterfaceName?, _ read: PendingRead
  ) throws -> [PendingRead.Asked: OwnedObject] {
    guard !objects.isEmpty else { return [:] }
    var unknown: [PendingRead.Asked: OwnedObject] = [:]
    func add(_ key: Key, _ id: FieldID) {
      let asked = PendingRead.Asked(key: key, field: id)
      guard interface ?? key.interface == key.interface, read.answers[asked] == nil else { return }
      unknown[asked] = objectToAsk(for: key, in: id)
    }
    for (key, reading) in try model.readAll(at: read.place, of: interface, by: read.client) { add(key, reading.field) }
    /// Adds keys that are nil as far as is known.
    func addNil(_ id: FieldID, _ isWanted: (Key) -> Bool) {
      guard let field = model.fields[id], let bound = field.object, field.isVisible(to: read.client),
        interface.map(bound.interfaces.contains) ?? true
      else { return }
      for key in bound.properties.keys where field.bindings[key] == nil && isWanted(key) { add(key, id) }
    }
    let path = ownFields(at: read.place)
    for id in path { addNil(id) { _ in true } }
    guard read.place == .focused else { return unknown }
    let interfaces =
      try interface.map { name in model.resolve(name).map { [name: $0] } ?? [:] }
      ?? model.objectInterfaces(at: .focused)
    for (name, id) in interfaces {
      for id in model.sceneFields(declaring: name, before: nil, most: Self.mostInScene) {
        addNil(id) { key in
          guard key.interface == name, objectToAsk(for: key, in: id) != nil else { return false }
          return sceneFields(for: key, before: model.resolve(key)).contains(id)
        }
      }
      // Of those that are no scene's, a session field supplies it.
      guard model.fields[id]?.scope == .session else { continue }
      addNil(id) { $0.interface == name && model.resolve($0) == nil }
    }
    return unknown
  }

  /// How many fields of a scene are asked for one key at most: a read costs the same however many there are.
  private static let mostInScene = 64

  /// The fields of the scene at `focused` that may have `key`, before `holder`, the nearest first.
  private func sceneFields(for key: Key, before holder: FieldID?) -> [FieldID] {
    model.sceneFields(declaring: key.interface, before: holder, most: Self.mostInScene)
  }

  /// The fields whose own keys are at `place`, innermost first.
  private func ownFields(at place: Place) -> [FieldID] {
    switch place {
    case .field(let id): [id]
    case .focused: model.focusPath
    }
  }

  /// Makes the results of a read for which nothing has to be asked.
  private func results(of read: PendingRead) throws -> MessageBody {
    let path: BindingPath
    switch read.wanted {
    case .one(let one): path = one
    case .all(let interface):
      let failed = Set(read.answers.compactMap { if case .failure = $1.answer { $0 } else { nil } })
      let path = ownFields(at: read.place)
      // A field further in that does not tell may have a value, too; one further out says nothing.
      func isKnown(_ key: Key, in id: FieldID) -> Bool {
        guard !failed.isEmpty else { return true }
        func tells(_ nearer: FieldID) -> Bool { !failed.contains(.init(key: key, field: nearer)) }
        guard (path.prefix { $0 != id } + [id]).allSatisfy(tells) else { return false }
        return read.place != .focused || sceneFields(for: key, before: id).allSatisfy(tells)
      }
      let readings = try model.readAll(at: read.place, of: interface, by: read.client)
        .filter { isKnown($0, in: $1.field) }
      return try read.asProperty
        ? DaemonInterfaces.results(readings, of: read, model) : .readings(readings.mapValues(publishable))
    }
    do {
      let place = read.holder.map { Place.field($0) } ?? read.place
      let reading = try model.read(path, at: place, by: read.client)
      guard read.asProperty else { return try .read(publishable(reading)) }
      // The object may have been examined meanwhile, and the key be another.
      guard case .success(let answer?)? = read.answers[.init(key: path.key, field: reading.field)]?.answer,
        model.fields[reading.field]?.object?.reads(path.key) == true
      else { return try .variant(reading.value) }
      return answer
    } catch ModelError.notFocused where !read.asProperty {
      return try .read(nil)
    }
  }
}
