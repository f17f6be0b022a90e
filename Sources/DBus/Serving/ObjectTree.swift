public import DBusTypes

/// The paths above a process's objects: nodes that have nothing but children.
///
/// Each must answer `Introspect`, or what goes through a tree of objects never finds them.
public enum ObjectTree {
  /// The names of the children of `path` on the way to `objects`; nil if none of them lies below it.
  public static func children(of path: ObjectPath, among objects: some Sequence<ObjectPath>) -> [String]? {
    let prefix = path.elements
    let names = objects.compactMap { object -> String? in
      let elements = object.elements
      guard elements.count > prefix.count, elements.starts(with: prefix) else { return nil }
      return String(elements[prefix.count])
    }
    return names.isEmpty ? nil : Set(names).sorted()
  }
}
