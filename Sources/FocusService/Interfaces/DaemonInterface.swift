internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// What the properties of one of the daemon's objects are read from; bindings and commands are looked up once for all.
final class PropertyContext {
  let model: FocusModel
  let target: Target
  /// Who is shown the value; nil: everyone.
  let client: BusName?
  /// The field, looked up once for all its properties; nil for other objects.
  let field: Field?
  /// The interfaces of bindings that are asked for; nil: all.
  private let only: [InterfaceName]?

  init(_ model: FocusModel, _ target: Target, _ client: BusName?, only: [InterfaceName]? = nil) {
    (self.model, self.target, self.client, self.only) = (model, target, client, only)
    field = if case .place(.field(let id)) = target { model.fields[id] } else { nil }
  }

  /// The bindings that the client is shown, ordered by key, without a value for those that can only be written; nil if the
  /// object shows none.
  private(set) lazy var bindings: [(key: Key, value: MarshalledValue?)]? = {
    func shown(_ key: Key, _ binding: FieldBinding) -> (key: Key, value: MarshalledValue?) {
      (key, binding.isWriteOnly ? nil : binding.value)
    }
    if let field {
      guard field.isVisible(to: client) else { return [] }
      var bindings = field.bindings.map(shown)
      bindings.sort { $0.key < $1.key }
      return bindings
    }
    if client == nil, target.place == .focused {
      return shownAtFocused(model.keysShownAtFocused) { $1.isKey ? ($0, $1.value) : nil }
    }
    guard let place = target.place, let bindings = try? model.bindings(at: place) else { return nil }
    return bindings.filter { model.fields[$0.value.field]?.isVisible(to: client) == true }
      .map { shown($0.key, $0.value.binding) }.sorted { $0.key < $1.key }
  }()

  /// What everyone has been shown at `focused` of the names that `counts` counts, ordered by key.
  private func shownAtFocused<Shown>(_ counts: NameCounts, _ shown: (Key, ShownMember) -> Shown?) -> [Shown] {
    (only ?? Array(counts.byInterface.keys)).sorted().flatMap { interface in
      (model.shownAtFocused[interface] ?? [:]).sorted { $0.key.member < $1.key.member }.compactMap {
        shown($0.key, $0.value)
      }
    }
  }

  /// The commands of the object, ordered by key, and whether each is enabled; nil if the object shows none.
  private(set) lazy var commands: [(key: Key, isEnabled: Bool)]? = {
    if client == nil, target.place == .focused {
      return shownAtFocused(model.commandsShownAtFocused) { key, it in it.isEnabled.map { (key, $0) } }
    }
    if let field, field.object == nil { return [] }
    guard let place = target.place, let commands = try? model.commands(at: place) else { return nil }
    return commands.map { ($0.key, $0.value.isEnabled) }.sorted { $0.key < $1.key }
  }()
}

/// What carries out one of the daemon's own methods.
struct DaemonMethod: Sendable {
  /// Returns the results, or nil if the call's reply is given later.
  typealias Run = @Sendable (FocusService, inout Call) throws -> MessageBody?

  /// Whether a call may change what is saved; the reply of any other shows values.
  let changes: Bool
  /// What only the field's owner may do with this method, as a verb; nil if others may too, or the handler asks.
  let ownersAction: String?
  let run: Run
}

/// Reads one of the daemon's own properties; nil: the object has no such value.
typealias DaemonProperty = @Sendable (PropertyContext) -> DBusValue?

/// An interface that the daemon itself serves.
typealias DaemonInterface = ServedInterface<DaemonMethod, DaemonProperty>

/// The interfaces that the daemon itself serves, each in a file of its own.
enum DaemonInterfaces {
  static func method(
    _ name: String, in input: [InterfaceDescription.Argument] = [],
    out output: [InterfaceDescription.Argument] = [], changes: Bool = false, ownersAction: String? = nil,
    _ run: @escaping DaemonMethod.Run
  ) -> ServedMethod<DaemonMethod> {
    method(.init(MemberName(known: name), in: input, out: output), changes: changes, ownersAction: ownersAction, run)
  }

  static func method(
    _ description: InterfaceDescription.Method, changes: Bool = false, ownersAction: String? = nil,
    _ run: @escaping DaemonMethod.Run
  ) -> ServedMethod<DaemonMethod> {
    ServedMethod(description, DaemonMethod(changes: changes, ownersAction: ownersAction, run: run))
  }

  static func property(
    _ name: String, _ type: DBusType, emits: InterfaceDescription.Property.Emits = .always,
    _ get: @escaping DaemonProperty
  ) -> ServedProperty<DaemonProperty> {
    ServedProperty(.init(MemberName(known: name), type, emits: emits), get)
  }
}

extension DaemonInterface {
  /// The interface's properties as `client` sees them; nil: as everyone does.
  func values(_ model: FocusModel, _ target: Target, _ client: BusName?) -> [MessageBody.Property] {
    let context = PropertyContext(model, target, client)
    return properties.compactMap { property in
      property.handler(context).map { (property.description.name.text, MarshalledValue($0)) }
    }
  }

  /// Writes the interface's properties as the client of `context` sees them.
  func write(_ context: PropertyContext, to writer: inout WireWriter) {
    writer.array(alignment: 8) { array in
      for property in properties {
        guard let value = property.handler(context) else { continue }
        property.append(value, to: &array)
      }
    }
  }

  /// The property `name` as `client` sees it.
  /// - Throws: `DBusError.unknownProperty`.
  func value(
    _ name: String, _ model: FocusModel, _ target: Target, _ client: BusName?
  ) throws(DBusError) -> DBusValue {
    guard let property = try property(name).handler(PropertyContext(model, target, client)) else {
      throw unknownProperty(name)
    }
    return property
  }
}

extension Target {
  private typealias Tables = ServedInterfaces<DaemonMethod, DaemonProperty>

  private static let ofAll = [DaemonInterfaces.introspectable, DaemonInterfaces.peer]
  private static let ofBindings = [DaemonInterfaces.bindings, DaemonInterfaces.properties] + ofAll
  private static let ofManager = Tables(
    [DaemonInterfaces.manager, DaemonInterfaces.objectManager, DaemonInterfaces.properties] + ofAll)
  private static let ofField = Tables([DaemonInterfaces.field] + ofBindings)
  private static let ofFocused = Tables(ofBindings)
  private static let ofNode = Tables([DaemonInterfaces.properties] + ofAll)

  /// The interfaces that the object has whatever fields there are.
  var interfaces: ServedInterfaces<DaemonMethod, DaemonProperty> {
    switch self {
    case .manager: Target.ofManager
    case .place(.field): Target.ofField
    case .place(.focused): Target.ofFocused
    case .node, .fields: Target.ofNode
    }
  }
}
