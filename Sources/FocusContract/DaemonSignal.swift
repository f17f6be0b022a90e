package import DBusTypes

/// A signal of the daemon, or of the bus about the daemon.
package enum DaemonSignal {
  /// Another connection holds the daemon's name; nil: no connection does.
  case daemon(before: BusName?, now: BusName?)
  /// Properties have new values; nil stands for one that has no value any more.
  case properties(path: ObjectPath, interface: String, [(name: String, value: DBusValue?)])
  /// A field came, with what it is; nil: it went.
  case field(path: ObjectPath, FieldOrigin?)

  /// Reads a signal of the daemon.
  /// - Returns: nil if it is not one of the contract's.
  package init?(_ interface: InterfaceName?, _ member: MemberName?, _ path: ObjectPath?, _ arguments: [DBusValue]) {
    switch (interface, member?.text) {
    case (.properties, "PropertiesChanged"):
      guard let path, arguments.count == 3, case .string(let interface) = arguments[0],
        case .dictionary(let changed) = arguments[1], case .array(let invalidated) = arguments[2]
      else { return nil }
      let values = changed.entries.map { (name: $0.key.basicText ?? "", value: $0.value.variantContent) }
      let gone = invalidated.map { (name: $0.basicText ?? "", value: DBusValue?.none) }
      self = .properties(path: path, interface: interface, values + gone)
    case (.objectManager, "InterfacesAdded"):
      // A field that has another interface of its own is the field that it was.
      guard case .objectPath(let path)? = arguments.first, let origin = FieldOrigin(arguments.last) else { return nil }
      self = .field(path: path, origin)
    case (.objectManager, "InterfacesRemoved"):
      guard case .objectPath(let path)? = arguments.first, case .array(let interfaces)? = arguments.last,
        interfaces.contains(where: { $0.basicText == Focus1.field.text })
      else { return nil }
      self = .field(path: path, nil)
    default: return nil
    }
  }
}

extension DaemonSignal {
  /// The field that has focus now, `/` for none; nil if the signal does not tell it.
  package var focusedField: ObjectPath? {
    guard case .properties(Focus1.root, Focus1.manager.text, let changes) = self,
      case .objectPath(let field)?? = changes.first(where: { $0.name == "FocusedField" })?.value
    else { return nil }
    return field
  }
}

/// Whose a field is, and where.
package struct FieldOrigin: Hashable, Sendable {
  /// The connection that registered it; empty: it has no owner.
  package private(set) var owner = ""
  /// The process that it belongs to, as its owner says; 0: unknown.
  package private(set) var process: UInt32 = 0
  /// The containing field; nil: it is a scene.
  package private(set) var parent: ObjectPath?
  /// Whether it outlives who registered it.
  package private(set) var lingers = false

  /// Reads the interfaces of an object with their properties; nil if it is not a field.
  package init?(_ interfaces: DBusValue?) {
    guard case .dictionary(let interfaces)? = interfaces,
      case .dictionary(let properties)? = interfaces[.string(Focus1.field.text)]
    else { return nil }
    update(properties.entries.map { (name: $0.key.basicText ?? "", value: $0.value.variantContent) })
  }

  /// Takes over what properties of the interface `Field` are now.
  package mutating func update(_ properties: [(name: String, value: DBusValue?)]) {
    for (name, value) in properties {
      switch (name, value) {
      case ("Owner", .string(let text)?): owner = text
      case ("Process", .uint32(let number)?): process = number
      case ("Linger", .boolean(let isOn)?): lingers = isOn
      case ("Parent", .objectPath(let path)?): parent = path == .root ? nil : path
      default: break
      }
    }
  }
}
