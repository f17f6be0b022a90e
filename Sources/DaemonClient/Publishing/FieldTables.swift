internal import DBus
internal import DBusTypes
internal import FocusContract

/// What carries out a method of a published field's object.
typealias FieldMethod = (FieldCall) throws(DBusError) -> Void

/// One call of a published field's object.
struct FieldCall {
  let field: PublishedField
  let publisher: FieldPublisher
  let message: Message
  let reply: CallReply

  /// What it is called with, which anybody may have sent.
  /// - Throws: `DBusError.limitsExceeded`.
  fileprivate func arguments() throws(DBusError) -> [DBusValue] {
    try message.arguments(elementLimit: Limits.arguments.elements)
  }

  /// Refuses to show values of a sensitive field to anyone but the daemon.
  /// - Throws: `DBusError.accessDenied`.
  fileprivate func checkReader() throws(DBusError) {
    guard field.description.isSensitive, message.sender == nil || message.sender != publisher.link.owner else { return }
    throw DBusError(.accessDenied, "the field is sensitive: its values are shown to focusd alone")
  }

  /// The names of an interface and a property, with which the arguments of `Get` and `Set` begin.
  /// - Throws: `DBusError`: `unknownInterface`, `unknownProperty`.
  fileprivate func property(_ arguments: [DBusValue]) throws(DBusError) -> (Key, FieldProperty) {
    guard arguments.count >= 2, case .string(let interface) = arguments[0], case .string(let member) = arguments[1],
      let name = try? InterfaceName(interface), let table = field.interfaces[interface]
    else {
      throw DBusError(.unknownInterface, "the field has no interface '\((arguments.first?.basicText ?? "").excerpt)'")
    }
    let property = try table.property(member)
    return (Key(name, property.description.name), property.handler)
  }
}

extension PublishedField {
  /// The tables of a field's object.
  static func tables(of field: FieldDescription) -> [ServedInterface<FieldMethod, FieldProperty>] {
    var methods: [InterfaceName: [ServedMethod<FieldMethod>]] = [:]
    var properties: [InterfaceName: [ServedProperty<FieldProperty>]] = [:]
    for (key, command) in field.commands.sorted(by: { $0.key < $1.key }) {
      let description = InterfaceDescription.Method(
        key.member, in: command.input.map { .init("", $0) }, out: command.output.map { .init("", $0) })
      let run: FieldMethod = { call throws(DBusError) in
        // Whoever completes it later must not be the last to hold the field.
        let reply = call.reply
        command.run(try call.arguments()) { [weak field = call.field] result in
          // Who gets the reply finds what the command changed.
          if let field { field.emitter.afterAll { reply.answer(result) } } else { reply.answer(result) }
        }
      }
      methods[key.interface, default: []].append(ServedMethod(description, run))
    }
    for (key, property) in field.properties.sorted(by: { $0.key < $1.key }) {
      let description = InterfaceDescription.Property(
        key.member, property.type, property.access)
      properties[key.interface, default: []].append(ServedProperty(description, property))
    }
    let names = Set(methods.keys).union(properties.keys).sorted()
    let own = names.map { ServedInterface($0, methods: methods[$0] ?? [], properties: properties[$0] ?? []) }
    return own + (field.takesRequests ? [responder()] : []) + [propertiesTable(), introspectable()]
  }

  private static func method(
    _ description: InterfaceDescription.Method, _ run: @escaping FieldMethod
  ) -> ServedMethod<FieldMethod> { ServedMethod(description, run) }

  private static func responder() -> ServedInterface<FieldMethod, FieldProperty> {
    ServedInterface(
      Focus1.responder,
      methods: [
        method(.init(MemberName(known: "RequestFocus"), in: [.init("field", .objectPath)])) { call throws(DBusError) in
          call.publisher.requestFocus(call.field, call.reply)
        }
      ])
  }

  private static func introspectable() -> ServedInterface<FieldMethod, FieldProperty> {
    ServedInterface(
      .introspectable,
      methods: [
        method(.introspect) { call throws(DBusError) in
          let interfaces = call.field.interfaces.all.map(\.description)
          call.reply.succeed([.string(IntrospectionDocument.xml(interfaces: interfaces, children: []))])
        }
      ])
  }

  private static func propertiesTable() -> ServedInterface<FieldMethod, FieldProperty> {
    ServedInterface(
      .properties, methods: [method(.get, get), method(.set, set), method(.getAll, getAll)],
      signals: [.propertiesChanged])
  }

  private static func get(_ call: FieldCall) throws(DBusError) {
    try call.checkReader()
    let (key, property) = try call.property(try call.arguments())
    guard property.read != nil else { throw DBusError(.accessDenied, "\(key) is write-only") }
    let (field, reply) = (call.field, call.reply)
    // What changed until now is told first, and not the value before it answered: the daemon asks before a write that depends
    // on the value.
    let answer = {
      field.read(key) { result in
        field.emitter.afterAll { reply.answer(result.map { [.variant(field.emitter.emitted[key] ?? $0)] }) }
      }
    }
    guard let refresh = property.refresh else { return answer() }
    refresh { result in
      if case .failure(let error) = result { reply.fail(error) } else { answer() }
    }
  }

  /// Answers when every owner has answered, with the values as they are then; leaves out those that cannot be read.
  private static func getAll(_ call: FieldCall) throws(DBusError) {
    try call.checkReader()
    guard case .string(let interface)? = try call.arguments().first else { return }
    let (field, reply) = (call.field, call.reply)
    let keys = field.description.properties.filter { key, property in
      property.read != nil && (interface.isEmpty || key.interface.text == interface)
    }.keys.sorted()
    var missing = keys.count
    func answer() {
      let values = keys.compactMap { key in field.emitter.emitted[key].map { (name: key.member.text, value: $0) } }
      reply.succeed([.properties(values)])
    }
    guard missing > 0 else { return answer() }
    for key in keys {
      field.read(key) { _ in
        missing -= 1
        if missing == 0 { answer() }
      }
    }
  }

  private static func set(_ call: FieldCall) throws(DBusError) {
    let arguments = try call.arguments()
    let (key, property) = try call.property(arguments)
    guard let write = property.write else { throw DBusError(.propertyReadOnly, "\(key) is read-only") }
    guard let value = arguments.last?.variantContent, value.type == property.type else {
      throw DBusError(
        Focus1.typeMismatch,
        "\(key) is of type '\(property.type)', and the value given is of type '"
          + (arguments.last?.variantContent?.type.description ?? "") + "'")
    }
    let (field, reply) = (call.field, call.reply)
    write(value) { result in
      guard case .success = result else { return reply.answer(result.map { [] }) }
      guard property.tellsChanges || property.read == nil else {
        return field.read(key) { _ in field.emitter.afterAll { reply.succeed() } }
      }
      field.emitter.afterAll { reply.succeed() }
    }
  }
}

extension FieldProperty {
  /// What introspection shows.
  fileprivate var access: InterfaceDescription.Property.Access {
    guard read != nil else { return .write }
    return write == nil ? .read : .readWrite
  }
}
