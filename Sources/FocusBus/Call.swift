internal import DBus
package import DBusTypes
internal import FocusContract

/// A call of the daemon: which method, with which arguments, and what its reply says.
package struct Call<Reply>: Sendable {
  package let path: ObjectPath
  package let interface: InterfaceName
  package let member: MemberName
  package let arguments: [DBusValue]
  /// What the reply's values say, or nil where they are not the contract's.
  private let read: @Sendable ([DBusValue]) -> Reply?

  package init(
    _ path: ObjectPath, _ interface: InterfaceName, _ member: String, _ arguments: [DBusValue] = [],
    _ read: @escaping @Sendable ([DBusValue]) -> Reply?
  ) {
    self.path = path
    self.interface = interface
    self.member = MemberName(known: member)
    self.arguments = arguments
    self.read = read
  }

  func message() throws(DBusError) -> OutgoingMessage {
    try OutgoingMessage.methodCall(to: Focus1.busName, path: path, interface: interface, member: member, arguments)
  }

  func reply(in message: Message) throws(DBusError) -> Reply {
    let values = try message.success().arguments()
    guard let reply = read(values) else {
      let types = values.map(\.type.description).joined()
      throw DBusError(
        .failed, "focusd replies to '\(member)' with '\(types)', which does not match version 1 of its interface")
    }
    return reply
  }
}

/// Which state of which field a value belongs to.
package struct Origin: Hashable, Sendable {
  package let field: ObjectPath
  package let revision: UInt64

  package init(field: ObjectPath, revision: UInt64) {
    self.field = field
    self.revision = revision
  }
}

/// The value of a key, and where it is from.
package struct Reading: Sendable {
  package let value: DBusValue
  package let origin: Origin

  /// Reads a variant, a path and a revision, as `Write` answers and `ReadAll` has for each key.
  init?(_ values: [DBusValue]) {
    guard values.count == 3, let value = values[0].variantContent, case .objectPath(let field) = values[1],
      case .uint64(let revision) = values[2]
    else { return nil }
    self.value = value
    origin = Origin(field: field, revision: revision)
  }
}
