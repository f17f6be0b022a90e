internal import DBus
internal import DBusTypes
internal import FocusModel

/// What a property of one of the daemon's objects is read from.
struct PropertyContext {
  let model: FocusModel
  let target: Target
  /// Who is shown the value; nil: everyone.
  let client: BusName?
  /// The field, looked up once for all its properties; nil for other objects.
  let field: Field?

  init(_ model: FocusModel, _ target: Target, _ client: BusName?) {
    self.model = model
    self.target = target
    self.client = client
    field = if case .field(let id) = target { model.fields[id] } else { nil }
  }
}

/// An interface that the daemon itself serves: its description, and what each member does.
final class ServedInterface: Sendable {
  struct Method: Sendable {
    let description: InterfaceDescription.Method
    /// Whether a call may change what is saved.
    let changes: Bool
    /// What only the field's owner may do with this method, as a verb; nil if others may too, or the handler asks.
    let ownersAction: String?
    /// Returns the results, or nil if the call's reply is given later.
    let handler: @Sendable (FocusService, Call) throws -> MessageBody?
    private let signature: String

    init(
      _ name: String, in input: [InterfaceDescription.Argument] = [],
      out output: [InterfaceDescription.Argument] = [], changes: Bool = false, ownersAction: String? = nil,
      _ handler: @escaping @Sendable (FocusService, Call) throws -> MessageBody?
    ) {
      self.description = .init(MemberName(known: name), in: input, out: output)
      self.signature = input.map(\.type.description).joined()
      self.changes = changes
      self.ownersAction = ownersAction
      self.handler = handler
    }

    /// Checks that a call carries what the method takes.
    /// - Throws: `DBusError.invalidArgs`.
    func check(signature given: String) throws(DBusError) {
      guard given != signature else { return }
      let takes = description.input.map { "\($0.name) '\($0.type)'" }.joined(separator: ", ")
      throw DBusError(
        .invalidArgs,
        "\(description.name) takes \(takes.isEmpty ? "no arguments" : takes), but '\(given)' was given")
    }

    /// Decodes the arguments of a call that carries what the method takes.
    /// - Throws: `DBusError` if the bytes are not of the method's types, which libdbus has checked.
    func arguments(in bytes: UnsafeRawBufferPointer) throws(DBusError) -> [CallArgument] {
      var reader = BodyReader(bytes)
      var arguments: [CallArgument] = []
      do throws(WireError) {
        for argument in description.input { arguments.append(try CallArgument(argument.type, &reader)) }
      } catch {
        throw DBusError(.invalidArgs, "\(error)")
      }
      return arguments
    }
  }

  struct Property: Sendable {
    let description: InterfaceDescription.Property
    let get: @Sendable (PropertyContext) -> DBusValue?

    init(
      _ name: String, _ type: DBusType, isConstant: Bool = false,
      _ get: @escaping @Sendable (PropertyContext) -> DBusValue?
    ) {
      self.description = .init(MemberName(known: name), type, emits: isConstant ? .constant : .always)
      self.get = get
    }
  }

  let name: InterfaceName
  let description: InterfaceDescription
  let properties: [Property]
  private let methods: [String: Method]

  init(
    _ name: InterfaceName, methods: [Method] = [], signals: [InterfaceDescription.Signal] = [],
    properties: [Property] = []
  ) {
    self.name = name
    self.properties = properties
    self.methods = Dictionary(uniqueKeysWithValues: methods.map { ($0.description.name.text, $0) })
    self.description = InterfaceDescription(
      name, methods: methods.map(\.description), signals: signals, properties: properties.map(\.description))
  }

  func method(_ name: MemberName) -> Method? { methods[name.text] }

  /// The interface's properties as `client` sees them; nil: as everyone does.
  func values(_ model: FocusModel, _ target: Target, _ client: BusName?) -> [MessageBody.Property] {
    let context = PropertyContext(model, target, client)
    return properties.compactMap { property in
      property.get(context).map { (property.description.name.text, MarshalledValue($0)) }
    }
  }

  /// Writes the interface's properties as `client` sees them; nil: as everyone does.
  func write(_ model: FocusModel, _ target: Target, _ client: BusName?, to writer: inout WireWriter) {
    let context = PropertyContext(model, target, client)
    writer.array(alignment: 8) { array in
      for property in properties {
        guard let value = property.get(context) else { continue }
        array.align(8)
        array.append(property.description.name.text)
        array.append(.variant(value))
      }
    }
  }

  /// The property `name` as `client` sees it.
  /// - Throws: `DBusError.unknownProperty`.
  func value(
    _ name: String, _ model: FocusModel, _ target: Target, _ client: BusName?
  ) throws(DBusError) -> DBusValue {
    guard let property = try property(name).get(PropertyContext(model, target, client)) else {
      throw unknownProperty(name)
    }
    return property
  }

  /// The property `name`.
  /// - Throws: `DBusError.unknownProperty`.
  @discardableResult
  func property(_ name: String) throws(DBusError) -> Property {
    guard let property = properties.first(where: { $0.description.name.text.hasSameBytes(as: name) }) else {
      throw unknownProperty(name)
    }
    return property
  }

  private func unknownProperty(_ name: String) -> DBusError {
    DBusError(.unknownProperty, "the interface \(self.name) has no property '\(name.excerpt)'")
  }
}

extension Target {
  private static let ofManager: [ServedInterface] = [.manager, .objectManager, .properties, .introspectable, .peer]
  private static let ofField: [ServedInterface] = [.field, .bindings, .properties, .introspectable, .peer]
  private static let ofFocused: [ServedInterface] = [.bindings, .properties, .introspectable, .peer]
  private static let ofNode: [ServedInterface] = [.introspectable, .peer]

  /// The interfaces that the object has whatever fields there are.
  var interfaces: [ServedInterface] {
    switch self {
    case .manager: Target.ofManager
    case .field: Target.ofField
    case .focused: Target.ofFocused
    case .node, .fields: Target.ofNode
    }
  }

  func interface(_ name: String) -> ServedInterface? { interfaces.first { $0.name.text == name } }
}
