import DBus
import DBusTypes
import DaemonClient
import FocusContract

/// A field as the daemon's `GetManagedObjects` shows it.
struct FieldInfo {
  let path: ObjectPath
  /// Its place in the order of their registrations.
  var position = 0
  var label = ""
  /// The unique name of its owner, or empty.
  var owner = ""
  /// The unique name of the connection whose object it is, or empty: with `service`, not its owner.
  var connection = ""
  /// `/` for a scene.
  var parent = ObjectPath.root
  var scope = ""
  var isFocused = false
  /// Whether it is a session field that is active.
  var isActive = false
  /// The process that it belongs to; 0 if unknown.
  var process: UInt32 = 0
  /// The unique names whose scenes are in this window.
  var adopted: [String] = []
  var lingers = false
  var isSensitive = false
  /// Its published values, ordered by key.
  var values: [(key: String, value: DBusValue)] = []
  /// The keys that can only be written, in order.
  var writeOnly: [String] = []
  /// The keys that others may write, in order; empty unless it was asked for.
  var writable: [String] = []
  /// Its commands, ordered by key.
  var commands: [(key: String, isEnabled: Bool)] = []

  var id: String { FieldID.id(path) }

  /// The unique name of the program that it is of.
  var program: String { connection.isEmpty ? owner : connection }

  /// All fields, ordered by id.
  static func all(_ daemon: DaemonConnection) throws(CommandError) -> [FieldInfo] {
    fields(of: .dictionary(try daemon.ask(.managedObjects())))
  }

  /// The session's fields among `fields`, in the order in which they supply what nothing nearer has.
  static func session(of fields: [FieldInfo], _ daemon: DaemonConnection) throws(CommandError) -> [FieldInfo] {
    let known = Dictionary(fields.lazy.filter { $0.scope == "session" }.map { ($0.path, $0) }) { first, _ in first }
    guard !known.isEmpty else { return [] }
    return try daemon.ask(.sessionFields()).compactMap { known[$0] }
  }

  /// The fields among `objects`, a reply to `GetManagedObjects`.
  static func fields(of objects: DBusValue) -> [FieldInfo] {
    var fields = entries(objects).compactMap { path, interfaces in FieldInfo(path, entries(interfaces)) }
    for index in fields.indices { fields[index].position = index }
    return fields.sorted { NaturalOrder.precedes($0.id, $1.id) }
  }

  private static func entries(_ value: DBusValue) -> [(key: String, value: DBusValue)] {
    guard case .dictionary(let dictionary) = value else { return [] }
    return dictionary.entries.compactMap { entry in entry.key.basicText.map { ($0, entry.value) } }
  }

  /// Reads one object's interfaces; nil if it is not a field.
  private init?(_ path: String, _ interfaces: [(key: String, value: DBusValue)]) {
    guard interfaces.contains(where: { $0.key == Focus1.field.text }), let path = try? ObjectPath(path),
      FieldID(path) != nil
    else { return nil }
    self.path = path
    var keys: [String] = []
    for (interface, properties) in interfaces {
      for (name, variant) in FieldInfo.entries(properties) {
        guard let value = variant.variantContent else { continue }
        if interface == Focus1.field.text {
          read(name, value)
        } else if interface == Focus1.bindings.text, name == "Commands" {
          commands = FieldInfo.entries(value).map { ($0.key, $0.value == .boolean(true)) }
        } else if interface == Focus1.bindings.text, name == "Keys" {
          keys = FieldInfo.texts(value)
        } else if !Key.isReserved(interface) {
          values.append(("\(interface).\(name)", value))
        }
      }
    }
    values.sort { NaturalOrder.precedes($0.key, $1.key) }
    commands.sort { NaturalOrder.precedes($0.key, $1.key) }
    writeOnly = Set(keys).subtracting(values.map(\.key)).naturallySorted()
  }

  private static func texts(_ value: DBusValue) -> [String] {
    guard case .array(let elements) = value else { return [] }
    return elements.compactMap(\.basicText)
  }

  private mutating func read(_ property: String, _ value: DBusValue) {
    switch (property, value) {
    case ("Label", .string(let text)): label = text
    case ("Owner", .string(let text)): owner = text
    case ("Connection", .string(let text)): connection = text
    case ("Scope", .string(let text)): scope = text
    case ("Parent", .objectPath(let path)): parent = path
    case ("Focused", .boolean(let truth)): isFocused = truth
    case ("Active", .boolean(let truth)): isActive = truth
    case ("Process", .uint32(let number)): process = number
    case ("Adopted", _): adopted = FieldInfo.texts(value)
    case ("Linger", .boolean(let truth)): lingers = truth
    case ("Sensitive", .boolean(let truth)): isSensitive = truth
    default: break
    }
  }

  /// The parts of a `--format` for fields.
  static let names = Template.Names(parts: [
    "id", "label", "parent", "scope", "focused", "active", "owner", "process", "linger", "sensitive", "json",
  ])

  /// The part of a format, or nil if the field has none.
  func part(_ part: FormatPart) -> FormatValue? {
    guard case .name(let name) = part else { return nil }
    return switch name {
    case "id": .text(id)
    case "label": .string(label)
    case "parent": parent == .root ? nil : .text(FieldID.id(parent))
    case "scope": .text(scope)
    case "focused": .text(String(isFocused))
    case "active": .text(String(isActive))
    case "process": process == 0 ? nil : .value(.uint32(process))
    case "owner": owner.isEmpty ? nil : .text(owner)
    case "linger": .text(String(lingers))
    case "sensitive": .text(String(isSensitive))
    default: .text(json)
    }
  }

  /// The field as one JSON document.
  var json: String {
    func optional(_ text: String) -> String { text.isEmpty ? "null" : JSONWriter.string(text) }
    return JSONWriter.object([
      ("id", JSONWriter.string(id)),
      ("path", JSONWriter.string(path.text)),
      ("label", JSONWriter.string(label)),
      ("parent", optional(parent == .root ? "" : FieldID.id(parent))),
      ("scope", JSONWriter.string(scope)),
      ("focused", String(isFocused)),
      ("active", String(isActive)),
      ("owner", optional(owner)),
      ("process", process == 0 ? "null" : String(process)),
      ("linger", String(lingers)),
      ("sensitive", String(isSensitive)),
      ("adopted", JSONWriter.data(.strings(adopted))),
      ("values", JSONWriter.object(values.map { ($0.key, JSONWriter.document($0.value)) })),
      ("writable", JSONWriter.data(.strings(writable))),
      ("writeOnly", JSONWriter.data(.strings(writeOnly))),
      ("commands", JSONWriter.object(commands.map { ($0.key, String($0.isEnabled)) })),
    ])
  }
}
