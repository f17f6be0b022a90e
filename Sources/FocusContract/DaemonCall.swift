package import DBusTypes

/// A call of the daemon: which method, with which arguments, and how its reply reads.
package struct DaemonCall<Reply>: Sendable {
  package let path: ObjectPath
  package let interface: InterfaceName
  package let member: MemberName
  package let arguments: [DBusValue]
  /// Reads the reply's values; nil if they are not the contract's.
  package let read: @Sendable ([DBusValue]) -> Reply?

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
package struct KeyReading: Sendable {
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
