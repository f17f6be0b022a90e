package import DBus
package import DBusTypes

/// What a connection says of the one window of a program that all its fields are in.
package struct ProgramWindow: Hashable, Sendable {
  /// The title, as the program tells it; empty: none.
  package var title: String
  /// Whether it is in front, as the program tells.
  package var isActive: Bool

  package init(title: String = "", isActive: Bool = false) { (self.title, self.isActive) = (title, isActive) }
}

/// The object `/org/focusd/Bridge1/Window` of a connection whose fields are all in one window of a program.
///
/// A bridge that speaks for programs serves it, and the window bridge reads it: so a window of several that are one
/// program's is known.
package enum ProgramWindowInterface {
  private enum Method: Sendable {
    case get
    case getAll
    case introspect
  }

  package static let path = ObjectPath(known: "/org/focusd/Bridge1/Window")
  /// The signals that tell what is different.
  package static let rule = MatchRule(
    path: path, interface: .properties, member: .propertiesChanged, arguments: [0: name.text])
  private static let name = InterfaceName(known: "org.focusd.Bridge1.Window")
  private static let title = MemberName(known: "Title")
  private static let active = MemberName(known: "Active")

  private static let interfaces = ServedInterfaces<Method, Void>([
    ServedInterface(
      name,
      properties: [
        ServedProperty(.init(title, .string, .read), ()), ServedProperty(.init(active, .boolean, .read), ()),
      ]),
    ServedInterface(
      .properties, methods: [ServedMethod(.get, .get), ServedMethod(.getAll, .getAll)], signals: [.propertiesChanged]),
    ServedInterface(.introspectable, methods: [ServedMethod(.introspect, .introspect)]),
  ])

  private static func properties(of window: ProgramWindow) -> [(name: String, value: DBusValue)] {
    [(name: title.text, value: .string(window.title)), (name: active.text, value: .boolean(window.isActive))]
  }

  // MARK: Who speaks for a window

  /// The reply to `call`, which is for the object of a connection whose fields are in `window`.
  package static func reply(to call: Message, _ window: ProgramWindow) -> OutgoingMessage? {
    guard let member = call.member else { return nil }
    do throws(DBusError) {
      let method = try interfaces.method(member, of: call.interface, at: path)
      try method.check(signature: call.signatureText)
      let arguments = try call.arguments().map { $0.basicText ?? "" }
      let isOurs = ["", name.text].contains(arguments.first)
      let properties = isOurs ? Self.properties(of: window) : []
      switch method.handler {
      case .introspect: return try call.reply([.string(interfaces.introspection)])
      case .getAll: return try call.reply([.properties(properties)])
      case .get:
        guard let property = properties.first(where: { $0.name == arguments.last }) else {
          throw DBusError(.unknownProperty, "\(path) has the properties '\(title)' and '\(active)' of \(name) alone")
        }
        return try call.reply([.variant(property.value)])
      }
    } catch {
      return call.reply(error)
    }
  }

  /// The signal with the properties that differ from those told `before`; nil if none do.
  package static func change(to window: ProgramWindow, from before: ProgramWindow?) -> OutgoingMessage? {
    let old = before.map { properties(of: $0).map(\.value) }
    let changed = properties(of: window).enumerated().filter { old?[$0.offset] != $0.element.value }.map(\.element)
    return changed.isEmpty ? nil : try? .propertiesChanged(path: path, interface: name, changed: changed)
  }

  // MARK: Who asks

  /// The call that asks `connection` for its window.
  package static func question(to connection: BusName) -> OutgoingMessage? {
    try? .methodCall(
      to: connection, path: path, interface: .properties, member: MemberName(known: "GetAll"), [.string(name.text)])
  }

  /// The window in the answer to `question`; nil if the connection tells of none.
  package static func window(in answer: Message) -> ProgramWindow? {
    guard let properties = try? answer.success().arguments(elementLimit: 64).first else { return nil }
    var window = ProgramWindow()
    return update(&window, properties) ? window : nil
  }

  /// Takes over what a signal tells, which may be anybody's.
  /// - Returns: whether it is about the window.
  package static func update(_ window: inout ProgramWindow, changedBy signal: Message) -> Bool {
    guard signal.path == path, signal.interface == .properties, signal.member?.text == "PropertiesChanged",
      let values = try? signal.arguments(elementLimit: 64), values.count == 3, values[0] == .string(name.text)
    else { return false }
    _ = update(&window, values[1])
    return true
  }

  /// - Returns: whether the title is among the properties.
  private static func update(_ window: inout ProgramWindow, _ properties: DBusValue) -> Bool {
    guard case .dictionary(let properties) = properties else { return false }
    if case .boolean(let isActive)? = properties[.string(active.text)]?.variantContent { window.isActive = isActive }
    guard case .string(let text)? = properties[.string(title.text)]?.variantContent else { return false }
    window.title = text
    return true
  }
}
