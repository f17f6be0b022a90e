import DBusTypes
import FocusContract
import TestSupport
import Testing

@testable import FocusModel

extension Stage {
  /// Registers a field with an object: properties as `KEY:TYPE`, read-only ones as `KEY:TYPE!`, write-only ones as
  /// `KEY:TYPE?`, and commands.
  @discardableResult
  func register(
    _ id: String, properties: [String], _ values: [String: MarshalledValue] = [:], commands: [String] = [],
    interfaces: [String] = [], size: Int = 0, stored: [String: MarshalledValue] = [:], readOnly: [String] = [],
    parent: String? = nil, scope: Scope = .field, sensitive: Bool = false, lingers: Bool = false,
    owner: BusName? = nil
  ) throws -> FieldID {
    var options = FieldOptions()
    options.parent = try parent.map { try FieldID($0) }
    options.scope = scope
    options.isSensitive = sensitive
    options.lingers = lingers
    options.readOnly = Set(try readOnly.map { try Key($0) })
    options.object = try Self.object(properties, values, commands: commands, interfaces: interfaces, size: size)
    defer { _ = model.settle() }
    return try model.register(FieldID(id), keyed(stored), options, owner: owner ?? self.owner)
  }

  static func object(
    _ properties: [String], _ values: [String: MarshalledValue] = [:], commands: [String] = [],
    interfaces: [String] = [],
    size: Int = 0
  ) throws -> BoundObject {
    var declared: [Key: BoundObject.Property] = [:]
    for property in properties {
      let parts = property.split(separator: ":")
      declared[try Key(String(parts[0]))] = .init(
        type: try DBusType(String(parts[1].filter { $0 != "!" && $0 != "?" })), isReadable: !parts[1].hasSuffix("?"),
        isWritable: !parts[1].hasSuffix("!"))
    }
    return BoundObject(
      .init(path: try ObjectPath("/object")), properties: declared,
      commands: Dictionary(uniqueKeysWithValues: try commands.map { (try Key($0), .init()) }),
      interfaces: Set(try interfaces.map { try InterfaceName($0) }), values: try keyed(values), introspectionSize: size)
  }

  /// Has the owner of `id` tell new values, nil for none any more.
  func update(_ id: String, _ values: [String: MarshalledValue?]) throws {
    var keys: [Key: MarshalledValue?] = [:]
    for (name, value) in values { keys.updateValue(value, forKey: try Key(name)) }
    model.update(keys, of: try FieldID(id))
  }

  /// The field that a command goes to.
  func holder(_ command: String, at place: Place = .focused) throws -> String {
    try model.holder(ofCommand: Key(command), at: place).text
  }

  /// The field that an interface resolves to.
  func resolve(_ interface: String) throws -> String? { try model.resolve(InterfaceName(interface))?.text }

  func enable(_ id: String, _ commands: [String: Bool], by client: BusName? = nil) throws -> [Change] {
    var enabled: [Key: Bool] = [:]
    for (name, isEnabled) in commands { enabled[try Key(name)] = isEnabled }
    return try model.told(model.setEnabled(enabled, of: FieldID(id), by: client ?? owner))
  }
}
