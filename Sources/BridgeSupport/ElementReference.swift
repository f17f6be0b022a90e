package import DBusTypes

/// Names one accessible object: the connection that shows it, and its path there.
package struct ElementReference: Hashable, Sendable, CustomStringConvertible {
  package let application: BusName
  package let path: ObjectPath

  /// The registry's root, whose children are those of the programs.
  package static let registry = ElementReference(AccessibilityNames.registry, AccessibilityNames.root)

  package init(_ application: BusName, _ path: ObjectPath) {
    self.application = application
    self.path = path
  }

  /// Reads `(so)`; nil for the null reference, and for what is not a reference.
  ///
  /// Programs name connections by their unique names; the bus would be asked about any other name for good.
  package init?(_ value: DBusValue?) {
    guard case .structure(let members)? = value, members.count == 2, case .string(let name) = members[0],
      case .objectPath(let path) = members[1], path.text != "/org/a11y/atspi/null", let name = try? BusName(name),
      name.isUnique
    else { return nil }
    self.init(name, path)
  }

  package var description: String { "\(application)\(path)" }
}
