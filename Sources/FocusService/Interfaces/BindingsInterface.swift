internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

extension InterfaceName {
  static let bindings = Focus1.bindings
}

/// `org.focusd.Focus1.Bindings`: what properties cannot say of bindings, on `focused` and on every field.
extension ServedInterface {
  static let bindings = ServedInterface(
    .bindings,
    methods: [
      Method(
        "Read", in: [.init("key", .string)],
        out: [.init("value", .array(.variant)), .init("field", .objectPath), .init("revision", .uint64)], read),
      Method(
        "Write",
        in: [
          .init("key", .string), .init("value", .variant),
          .init("options", .dictionary(key: .string, value: .variant)),
        ],
        out: [.init("value", .variant), .init("field", .objectPath), .init("revision", .uint64)], changes: true, write),
      Method("ReadAll", out: [.init("values", readAllType)], readAll),
      Method(
        "Invoke",
        in: [
          .init("command", .string), .init("arguments", .array(.variant)),
          .init("options", .dictionary(key: .string, value: .variant)),
        ],
        out: [.init("results", .array(.variant))], invoke),
    ],
    properties: [
      Property("Keys", .array(.string)) { model, target, client in
        guard let place = target.place, let bindings = try? model.bindings(at: place) else { return nil }
        let visible = bindings.filter { _, holder in
          guard let field = model.fields[holder.field] else { return false }
          return client.map { field.isVisible(to: $0) } ?? !field.isSensitive
        }
        return .strings(visible.keys.sorted().map(\.description))
      },
      Property("Commands", .dictionary(key: .string, value: .boolean)) { model, target, _ in
        guard let place = target.place, let commands = try? model.commands(at: place) else { return nil }
        let entries = commands.sorted { $0.key < $1.key }.map { key, holder in
          DBusDictionary.Entry(key: .string(key.description), value: .boolean(holder.isEnabled))
        }
        return .dictionary(DBusDictionary(known: .string, .boolean, entries))
      },
    ])

  private static let readAllType = DBusType.dictionary(
    key: .string, value: .structure([.variant, .objectPath, .uint64]))

  @Sendable private static func read(_ service: FocusService, _ call: Call) throws -> [DBusValue]? {
    let nothing: [DBusValue] = [.variants([]), .objectPath(.root), .uint64(0)]
    return try service.read(BindingPath(call.string(0)), at: call.place(), for: call, nothing: nothing) { reading in
      [
        .variants([reading.value]), .objectPath(Target.path(of: reading.field)),
        .uint64(try service.told(reading.revision)),
      ]
    }
  }

  @Sendable private static func write(_ service: FocusService, _ call: Call) throws -> [DBusValue]? {
    let path = try BindingPath(call.string(0))
    let value = try call.variant(1)
    var options = Options(try call.dictionary(2))
    var condition = WriteCondition()
    if case .uint64(let revision) = try options.take("revision", .uint64) { condition.revision = revision }
    condition.field = try options.field("field")
    try options.finish()
    // Before its owner is asked: what is refused must not be done.
    try service.checkRevisions()
    return try service.write(value, to: path, at: call.place(), if: condition, for: call) { reading in
      [
        .variant(reading.value), .objectPath(Target.path(of: reading.field)),
        .uint64(try service.told(reading.revision)),
      ]
    }
  }

  @Sendable private static func readAll(_ service: FocusService, _ call: Call) throws -> [DBusValue]? {
    let place = try call.place()
    return try service.readAll(at: place, for: call) {
      let readings = try service.model.readAll(at: place, by: call.client)
      let entries = try readings.sorted { $0.key < $1.key }.map { key, reading in
        DBusDictionary.Entry(
          key: .string(key.description),
          value: .structure([
            .variant(reading.value), .objectPath(Target.path(of: reading.field)),
            .uint64(try service.told(reading.revision)),
          ]))
      }
      return [.dictionary(DBusDictionary(known: .string, .structure([.variant, .objectPath, .uint64]), entries))]
    }
  }

  @Sendable private static func invoke(_ service: FocusService, _ call: Call) throws -> [DBusValue]? {
    let command = try Key(call.string(0))
    guard call.arguments.count > 1, case .array(let given) = call.arguments[1] else { return [] }
    try Options(call.dictionary(2)).finish()
    let object = try service.object(ofCommand: command, at: call.place())
    let message = try Message.methodCall(
      to: object.owner, path: object.path, interface: command.interface, member: command.member,
      given.map { $0.variantContent ?? $0 })
    try service.ownerCalls.call(object.owner, message) { result in
      switch result {
      case .success(let answer) where answer.kind == .error: call.reply.forward(answer)
      case .success(let answer): call.reply.answer { [.variants(try answer.arguments())] }
      case .failure(let error): call.reply.fail(error)
      }
    }
    return nil
  }
}
