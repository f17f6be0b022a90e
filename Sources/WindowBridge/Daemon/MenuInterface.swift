internal import DBus
internal import DBusTypes
internal import FocusContract

/// The bridge's own object, `/org/focusd/Bridge1/Windows`, which tells where the menus of a window are.
enum MenuInterface {
  static let path = ObjectPath(known: "/org/focusd/Bridge1/Windows")

  private enum Method: Sendable {
    case menus
    case introspect
  }

  private static let interfaces = ServedInterfaces<Method, Never>([
    ServedInterface(
      InterfaceName(known: Focus1.windowBridge.text),
      methods: [
        ServedMethod(
          .init(
            MemberName(known: "Menus"), in: [.init("field", .objectPath)],
            out: [.init("addresses", .properties)]), .menus)
      ]),
    ServedInterface(.introspectable, methods: [ServedMethod(.introspect, .introspect)]),
  ])

  private static var introspection: String {
    IntrospectionDocument.xml(interfaces: interfaces.all.map(\.description), children: [])
  }

  /// The reply to `call`, which is for the object; `find` gives nil for a field that is not a window's.
  static func reply(to call: Message, _ find: (ObjectPath) -> MenuAddresses?) -> OutgoingMessage? {
    guard let member = call.member else { return nil }
    do throws(DBusError) {
      let method = try interfaces.method(member, of: call.interface, at: path)
      try method.check(signature: call.signatureText)
      guard method.handler == .menus, case .objectPath(let field)? = try call.arguments().first else {
        return try call.reply([.string(introspection)])
      }
      guard let menus = find(field) else {
        throw DBusError(.unknownObject, "the field \(field) is not a window of this bridge")
      }
      return try call.reply([menus.value])
    } catch {
      return call.reply(error)
    }
  }
}

extension MenuAddresses {
  /// The addresses as the bus carries them, each a text or an object path.
  var value: DBusValue {
    let entries = parts.sorted { $0.key.rawValue < $1.key.rawValue }.map { part, text in
      let value: DBusValue = part.isPath ? .objectPath(ObjectPath(known: text)) : .string(text)
      return DBusDictionary.Entry(key: .string(part.rawValue), value: .variant(value))
    }
    return .dictionary(DBusDictionary(known: .string, .variant, entries))
  }
}
