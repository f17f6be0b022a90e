internal import DBus
internal import DBusTypes
internal import FocusModel

extension InterfaceName {
  static let bindings = InterfaceName(known: "org.focusd.Focus1.Bindings")
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
        out: [.init("value", .variant), .init("field", .objectPath), .init("revision", .uint64)], write),
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
      Property("Commands", .dictionary(key: .string, value: .boolean)) { _, _, _ in
        .dictionary(DBusDictionary(known: .string, .boolean, []))
      },
    ])

  private static let readAllType = DBusType.dictionary(
    key: .string, value: .structure([.variant, .objectPath, .uint64]))

  @Sendable private static func read(_ service: FocusService, _ call: Call) throws -> [DBusValue] {
    let path = try BindingPath(call.string(0))
    do {
      let reading = try service.model.read(path, at: call.place(), by: call.client)
      return [
        .variants([reading.value]), .objectPath(Target.path(of: reading.field)), .uint64(reading.revision),
      ]
    } catch FocusError.notFocused {
      return [.variants([]), .objectPath(.root), .uint64(0)]
    }
  }

  @Sendable private static func write(_ service: FocusService, _ call: Call) throws -> [DBusValue] {
    let path = try BindingPath(call.string(0))
    let value = try call.variant(1)
    var options = Options(try call.dictionary(2))
    var condition = WriteCondition()
    if case .uint64(let revision) = try options.take("revision", .uint64) { condition.revision = revision }
    condition.field = try options.field("field")
    try options.finish()
    let (reading, changes) = try service.model.write(
      value, to: path, at: call.place(), if: condition, by: call.client)
    service.announce(changes)
    return [
      .variant(reading.value), .objectPath(Target.path(of: reading.field)),
      .uint64(reading.revision),
    ]
  }

  @Sendable private static func readAll(_ service: FocusService, _ call: Call) throws -> [DBusValue] {
    let readings = try service.model.readAll(at: call.place(), by: call.client)
    let entries = readings.sorted { $0.key < $1.key }.map { key, reading in
      DBusDictionary.Entry(
        key: .string(key.description),
        value: .structure([
          .variant(reading.value), .objectPath(Target.path(of: reading.field)), .uint64(reading.revision),
        ]))
    }
    return [.dictionary(DBusDictionary(known: .string, .structure([.variant, .objectPath, .uint64]), entries))]
  }

  @Sendable private static func invoke(_ service: FocusService, _ call: Call) throws -> [DBusValue] {
    let command = try Key(call.string(0))
    try Options(call.dictionary(2)).finish()
    switch try call.place() {
    case .focused:
      throw DBusError(.notFocused, "nothing has the command \(command): neither the focused field nor its ancestors do")
    case .field(let id): throw DBusError(.unknownMethod, "the field '\(id)' has no command '\(command)'")
    }
  }
}
