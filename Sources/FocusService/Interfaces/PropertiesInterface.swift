internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// `org.freedesktop.DBus.Properties`: the daemon's own properties, and bindings as if they were properties.
extension DaemonInterfaces {
  static let properties = DaemonInterface(
    .properties,
    methods: [method(.get, get), method(.set, changes: true, set), method(.getAll, getAll)],
    signals: [.propertiesChanged])

  @Sendable private static func get(_ service: FocusService, _ call: Call) throws -> MessageBody? {
    let interface = try call.string(0)
    let member = try call.string(1)
    if let served = call.target.interfaces[interface] {
      return try MessageBody([.variant(try served.value(member, service.model, call.target, call.client))])
    }
    let (path, place) = try binding(interface, member, call)
    return try service.read(path, at: place, for: call, passesOn: true) { try .variant($0.value) }
  }

  @Sendable private static func set(_ service: FocusService, _ call: Call) throws -> MessageBody? {
    let interface = try call.string(0)
    let member = try call.string(1)
    let value = try call.variant(2)
    if let served = call.target.interfaces[interface] {
      _ = try served.property(member)
      throw DBusError(.propertyReadOnly, "\(interface).\(member) is read-only")
    }
    let (path, place) = try binding(interface, member, call)
    return try service.write(value, to: path, at: place, for: call) { _ in .empty }
  }

  /// The binding that a property's interface and name stand for.
  /// - Throws: `DBusError.unknownInterface` if the object has no bindings of that interface.
  private static func binding(_ interface: String, _ member: String, _ call: Call) throws -> (BindingPath, Place) {
    guard let place = call.target.place, !Key.isReserved(interface) else {
      throw unknownInterface(interface)
    }
    return (BindingPath(try Key(interface: interface, member: member)), place)
  }

  private static func unknownInterface(_ name: String) -> DBusError {
    DBusError(.unknownInterface, "this object has no interface '\(name.excerpt)'")
  }

  @Sendable private static func getAll(_ service: FocusService, _ call: Call) throws -> MessageBody? {
    let interface = try call.string(0)
    if let served = call.target.interfaces[interface] {
      return try .properties(served.values(service.model, call.target, call.client))
    }
    guard let place = call.target.place else {
      guard interface.isEmpty else { throw unknownInterface(interface) }
      return try .properties(ownValues(service, call.target, call.client))
    }
    if interface.isEmpty {
      return try service.readAll(at: place, for: call.reply, by: call.client) {
        try .properties(try everything(service, call.target, call.client, place))
      }
    }
    guard !Key.isReserved(interface) else { throw unknownInterface(interface) }
    let name = try InterfaceName(interface)
    return try service.readAll(at: place, of: name, for: call.reply, by: call.client) {
      let readings = try service.model.readAll(at: place, by: call.client).filter { $0.key.interface == name }
      return try .properties(properties(readings))
    }
  }

  private static func ownValues(_ service: FocusService, _ target: Target, _ client: BusName) -> [MessageBody.Property]
  {
    target.interfaces.all.flatMap { $0.values(service.model, target, client) }
  }

  /// What `GetAll("")` answers: the focused values; for a field its own properties as well.
  private static func everything(
    _ service: FocusService, _ target: Target, _ client: BusName, _ place: Place
  ) throws -> [MessageBody.Property] {
    let bindings = properties(try service.model.readAll(at: place, by: client))
    guard place != .focused else { return bindings }
    let own = ownValues(service, target, client)
    let names = Set(own.map(\.name))
    return own + bindings.filter { !names.contains($0.name) }
  }

  /// The readings by their members; if two interfaces have a member of one name, the first interface's counts.
  private static func properties(_ readings: [Key: Reading]) -> [MessageBody.Property] {
    var seen: Set<MemberName> = []
    return readings.sorted { $0.key < $1.key }.compactMap { key, reading in
      seen.insert(key.member).inserted ? (key.member.text, reading.value) : nil
    }
  }
}
