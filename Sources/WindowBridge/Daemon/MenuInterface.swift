internal import DBus
internal import DBusTypes
internal import FocusContract

/// The bridge's own object, `/org/focusd/Bridge1/Windows`, which tells where the menus of a window are, and its process
/// if the window manager does not.
enum MenuInterface {
  static let path = Focus1.windowBridgeObject

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

  /// The reply to `call`, which is for the object; `find` gives nil for a field that is not a window's.
  static func reply(
    to call: Message, _ find: (ObjectPath) -> (addresses: MenuAddresses, process: UInt32?)?
  ) -> OutgoingMessage? {
    guard let member = call.member else { return nil }
    do throws(DBusError) {
      let method = try interfaces.method(member, of: call.interface, at: path)
      try method.check(signature: call.signatureText)
      guard method.handler == .menus, case .objectPath(let field)? = try call.arguments().first else {
        return try call.reply([.string(interfaces.introspection)])
      }
      guard let (addresses, process) = find(field) else {
        throw DBusError(.unknownObject, "the field \(field) is not a window of this bridge")
      }
      return try call.reply([addresses.value(with: process)])
    } catch {
      return call.reply(error)
    }
  }
}

extension MenuAddresses {
  /// The addresses as the bus carries them, each a text or an object path, and the process as a number.
  fileprivate func value(with process: UInt32?) -> DBusValue {
    var values: [String: DBusValue] = process.map { ["process": .uint32($0)] } ?? [:]
    for (part, text) in parts {
      values[part.rawValue] = part.isPath ? .objectPath(ObjectPath(known: text)) : .string(text)
    }
    let entries = values.sorted { $0.key < $1.key }.map { DBusDictionary.Entry(key: .string($0), value: .variant($1)) }
    return .dictionary(DBusDictionary(known: .string, .variant, entries))
  }
}
