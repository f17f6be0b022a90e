internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// From a method call to what answers it: an interface of the daemon's own, or a command of whatever has focus.
extension FocusService {
  /// Finds the method that `message` calls, checks its arguments and runs it.
  ///
  /// What the arguments take up is looked at first, then who calls, and then only are they decoded; those of a command
  /// are passed on as they are. If changes cannot be saved, a method that only reads still replies.
  /// - Throws: the error that the caller gets.
  /// - Returns: the results, or nil if `reply` is given later.
  func perform(
    _ message: Message, _ reply: PendingReply, refusingChanges refusal: DBusError?
  ) throws -> MessageBody? {
    guard let client = message.sender, let path = message.path, let member = message.member else {
      throw DBusError(.invalidArgs, "a method call must name its object and its method")
    }
    var target = Target(path)
    if case .place(.field(let id))? = target, model.fields[id] == nil { target = nil }
    let interface = message.interface
    if let place = target?.place, let command = try command(interface, member, at: place) {
      let object = try object(ofCommand: command, at: place, reply)
      try pass(
        try message.forwarded(to: object.owner, path: object.path, interface: command.interface),
        descriptors: message.descriptorCount, from: client, reply, to: object)
      return nil
    }
    let signature = message.signatureText
    return try message.withBody { bytes throws(DBusError) in
      Result {
        try message.checkLimits(bytes)
        guard let target else {
          throw DBusError(
            .unknownObject, "there is no object at \(path); the fields are below /org/focusd/Focus1/field")
        }
        let method = try target.interfaces.method(member, of: interface, at: path)
        try method.check(signature: signature)
        if let action = method.handler.ownersAction, case .place(.field(let id)) = target {
          _ = try model.field(id, ownedBy: client, to: action)
        }
        if let refusal, method.handler.changes { throw refusal }
        reply.showsValues = !method.handler.changes
        var call = Call(
          client: client, target: target, arguments: BodyReader(bytes), descriptors: message.descriptors, reply: reply)
        return try method.handler.run(self, &call)
      }
    }.get()
  }

  /// The command that is called with `interface`, or nil if the method is the daemon's own.
  ///
  /// Without an interface, the daemon's own come first, then what the place has of that name (D-Bus specification, "Message
  /// Protocol": a unique name needs none).
  private func command(_ interface: InterfaceName?, _ member: MemberName, at place: Place) throws -> Key? {
    let own = Target.place(place).interfaces
    guard let interface else {
      guard own.method(member) == nil else { return nil }
      return try model.command(named: member, at: place)
    }
    guard own[interface.text] == nil, !Key.isReserved(interface.text) else { return nil }
    return try Key(interface: interface.text, member: member.text)
  }

  /// The object that a call of `command` at `place`, whose `reply` may have to name it, goes to.
  /// - Throws: `ModelError`: `commandNotFocused`, `unknownCommand`, `disabled`.
  func object(ofCommand command: Key, at place: Place, _ reply: PendingReply) throws -> OwnedObject {
    let id = try model.holder(ofCommand: command, at: place)
    reply.asked = (command, id)
    guard let object = objects[id] else { throw ModelError.unknownCommand(command, id) }
    return object
  }
}
