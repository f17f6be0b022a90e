package import DBus
package import DBusTypes
package import FocusContract

/// What others call, and are told, of the fields' objects.
extension FieldPublisher {
  /// Answers a call of one of the fields' objects.
  package func called(_ message: Message) {
    guard let path = message.path, let connection = link.daemon?.connection else { return }
    let reply = CallReply(to: message, on: connection)
    do throws(DBusError) {
      if let field = fields.field(of: path) {
        guard let member = message.member else { return }
        let method = try field.interfaces.method(member, of: message.interface, at: path)
        try method.check(signature: message.signatureText)
        try method.handler(FieldCall(field: field, publisher: self, message: message, reply: reply))
      } else {
        guard message.interface == .introspectable, let children = ObjectTree.children(of: path, among: fields.objects)
        else {
          throw DBusError(.unknownObject, "there is no object at '\(path)'")
        }
        reply.succeed([.string(IntrospectionDocument.xml(interfaces: [], children: children))])
      }
    } catch {
      reply.fail(error)
    }
  }

  /// Moves focus to `field` because another program asks for it.
  func requestFocus(_ field: PublishedField, _ reply: CallReply) {
    let requests = field.description.requests
    if case .passedOn(let ask) = requests { return ask { reply.answer($0.map { [] }) } }
    guard let path = field.path else { return reply.fail(DBusError(.failed, "the field is not registered")) }
    let take = { [weak self] in
      field.focus?.set(true)
      self?.callFocus("Focus", path) { reply.answer($0.map { [] }) }
    }
    guard case .asked(let ask) = requests else { return take() }
    ask { result in
      if case .failure(let error) = result { return reply.fail(error) }
      take()
    }
  }

  /// The field `number` has new values, nil for none, all of them at once; if they are `separate`, after those before.
  package func changed(_ number: UInt64, _ values: [(key: Key, value: DBusValue?)], separate: Bool = false) {
    fields[number]?.emitter.emit(values, separate: separate)
  }

  /// The values of the field `number` have changed from `before` to `values`.
  ///
  /// If it `isSecret` now, the values that it no longer has are told first, so that nobody sees an older text beside the news that it
  /// is secret.
  package func changed(
    _ number: UInt64, from before: [Key: DBusValue], to values: [Key: DBusValue], isSecret: Bool = false
  ) {
    let keys = Set(before.keys).union(values.keys).sorted()
    let changes = keys.filter { before[$0] != values[$0] }.map { (key: $0, value: values[$0]) }
    let gone = isSecret ? changes.filter { $0.value == nil } : []
    if !gone.isEmpty { changed(number, gone) }
    let left = changes.filter { gone.isEmpty || $0.value != nil }
    if !left.isEmpty { changed(number, left, separate: !gone.isEmpty) }
  }

  /// The field `number` has a new value for `key`, or one that must be read if none is given.
  package func changed(_ number: UInt64, _ key: Key, _ value: DBusValue?) {
    fields[number]?.changed(key, value)
  }
}
