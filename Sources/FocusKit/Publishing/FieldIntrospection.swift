internal import DBus
internal import DBusTypes
internal import FocusContract

extension ExportedField {
  /// The children of `path` that lie on the way to `objects`, or nil where none does.
  static func children(of path: ObjectPath, among objects: [ObjectPath]) -> [String]? {
    let prefix = path.elements
    let names = objects.compactMap { object -> String? in
      let elements = object.elements
      guard elements.count > prefix.count, elements.starts(with: prefix) else { return nil }
      return String(elements[prefix.count])
    }
    return names.isEmpty ? nil : Set(names).sorted()
  }

  /// Whether the object has anything that others could use; a field without that needs no object.
  var showsAnything: Bool { !properties.isEmpty || !commands.isEmpty || focus != nil }

  /// What the object shows of itself.
  var introspection: String {
    let interfaces = Set(properties.keys.map(\.interface)).union(commands.keys.map(\.interface)).sorted()
    var descriptions = interfaces.map { interface in
      InterfaceDescription(
        interface,
        methods: commands.filter { $0.key.interface == interface }.sorted { $0.key.member < $1.key.member }.map {
          key, command in
          .init(key.member, in: command.input.map { .init("", $0) }, out: command.output.map { .init("", $0) })
        },
        properties: properties.filter { $0.key.interface == interface }.sorted { $0.key.member < $1.key.member }.map {
          key, property in
          .init(key.member, property.type, property.set == nil ? .read : .readWrite)
        })
    }
    if focus != nil {
      descriptions.append(
        InterfaceDescription(
          Focus1.responder,
          methods: [.init(MemberName(known: "RequestFocus"), in: [.init("field", .objectPath)])]))
    }
    return IntrospectionDocument.xml(interfaces: descriptions, children: [])
  }
}
