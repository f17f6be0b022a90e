package import DBusTypes

/// The names of the contract, spelled out once: a test that took them from the program would prove nothing of them.
package enum Focus1 {
  package static let name = "org.focusd.Focus1"
  package static let manager = "/org/focusd/Focus1"
  package static let focused = "/org/focusd/Focus1/focused"
  package static let managerInterface = "org.focusd.Focus1.Manager"
  package static let fieldInterface = "org.focusd.Focus1.Field"
  package static let bindings = "org.focusd.Focus1.Bindings"
  package static let responder = "org.focusd.Focus1.Responder"
  package static let properties = "org.freedesktop.DBus.Properties"
  package static let introspectable = "org.freedesktop.DBus.Introspectable"
  package static let objectManager = "org.freedesktop.DBus.ObjectManager"
  package static let peer = "org.freedesktop.DBus.Peer"
  private static let errors = ["org.focusd.Focus1.Error.", "org.freedesktop.DBus.Error."]

  /// The path of the field `id`.
  package static func field(_ id: String) -> String { manager + "/field/" + id }

  /// The path of the field `id`, as a value.
  package static func fieldPath(_ id: String) -> DBusValue { .objectPath(ObjectPath(known: field(id))) }

  /// The id in the path of a field; nil for every other path.
  package static func id(_ path: String) -> String? {
    path.hasPrefix(field("")) ? String(path.dropFirst(field("").count)) : nil
  }

  /// A key's interface and its last part.
  package static func split(_ key: String) -> (interface: String, member: String) {
    guard let dot = key.lastIndex(of: ".") else { return ("", key) }
    return (String(key[..<dot]), String(key[dot...].dropFirst()))
  }

  /// An error's name without the prefixes of the contract's errors.
  package static func shortName(_ error: String) -> String {
    for prefix in errors where error.hasPrefix(prefix) { return String(error.dropFirst(prefix.count)) }
    return error
  }
}

/// Values by their names.
package typealias Named = [(name: String, value: DBusValue)]

/// A call of the daemon, or of whoever else has `destination`.
package struct DaemonCall: Sendable {
  package var destination: String
  package var path: String
  /// Nil leaves it out of the message.
  package var interface: String?
  package var member: String
  package var arguments: [DBusValue]
  package var wantsReply = true

  package init(
    to destination: String = Focus1.name, _ path: String, _ interface: String?, _ member: String,
    _ arguments: [DBusValue] = []
  ) {
    (self.destination, self.path, self.interface) = (destination, path, interface)
    (self.member, self.arguments) = (member, arguments)
  }

  /// A call of the bus itself.
  package static func bus(
    _ member: String, _ arguments: [DBusValue] = [], of interface: String = "org.freedesktop.DBus"
  ) -> DaemonCall {
    DaemonCall(to: "org.freedesktop.DBus", "/org/freedesktop/DBus", interface, member, arguments)
  }

  package static func register(_ id: String, _ values: Named = [], _ options: Named = []) -> DaemonCall {
    DaemonCall(
      Focus1.manager, Focus1.managerInterface, "Register", [.string(id), .properties(values), .properties(options)])
  }

  /// With an object of the caller's own behind the field, unless `object` is nil.
  package static func register(
    _ id: String, object: String?, _ options: Named = [], stored: Named = []
  ) -> DaemonCall {
    let object = object.map { [(name: "object", value: DBusValue.objectPath(ObjectPath(known: $0)))] } ?? []
    return register(id, stored, object + options)
  }

  package static func field(_ id: String, _ member: String, _ arguments: [DBusValue] = []) -> DaemonCall {
    DaemonCall(Focus1.field(id), Focus1.fieldInterface, member, arguments)
  }

  package static func publish(_ id: String, _ values: Named, _ options: Named = []) -> DaemonCall {
    field(id, "Publish", [.properties(values), .properties(options)])
  }

  package static func get(_ key: String, at path: String = Focus1.focused) -> DaemonCall {
    let (interface, member) = Focus1.split(key)
    return DaemonCall(path, Focus1.properties, "Get", [.string(interface), .string(member)])
  }

  package static func set(_ key: String, _ value: DBusValue, at path: String = Focus1.focused) -> DaemonCall {
    let (interface, member) = Focus1.split(key)
    return DaemonCall(path, Focus1.properties, "Set", [.string(interface), .string(member), .variant(value)])
  }

  package static func getAll(_ interface: String = "", at path: String = Focus1.focused) -> DaemonCall {
    DaemonCall(path, Focus1.properties, "GetAll", [.string(interface)])
  }

  package static func read(_ key: String, at path: String = Focus1.focused) -> DaemonCall {
    DaemonCall(path, Focus1.bindings, "Read", [.string(key)])
  }

  package static func write(
    _ key: String, _ value: DBusValue, _ options: Named = [], at path: String = Focus1.focused
  ) -> DaemonCall {
    DaemonCall(path, Focus1.bindings, "Write", [.string(key), .variant(value), .properties(options)])
  }

  package static func readAll(at path: String = Focus1.focused) -> DaemonCall {
    DaemonCall(path, Focus1.bindings, "ReadAll")
  }

  package static func invoke(
    _ command: String, _ arguments: [DBusValue] = [], at path: String = Focus1.focused
  ) -> DaemonCall {
    DaemonCall(path, Focus1.bindings, "Invoke", [.string(command), .variants(arguments), .properties([])])
  }

  package static func introspect(_ path: String = Focus1.focused) -> DaemonCall {
    DaemonCall(path, Focus1.introspectable, "Introspect")
  }

  package static var managedObjects: DaemonCall {
    DaemonCall(Focus1.manager, Focus1.objectManager, "GetManagedObjects")
  }

  package static var ping: DaemonCall { DaemonCall(Focus1.manager, Focus1.peer, "Ping") }
}
