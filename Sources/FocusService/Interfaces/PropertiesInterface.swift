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

  @Sendable private static func get(_ service: FocusService, _ call: inout Call) throws -> MessageBody? {
    let interface = try call.arguments.text()
    let member = try call.arguments.text()
    if let served = call.target.interfaces[interface] {
      return try MessageBody([.variant(try served.value(member, service.model, call.target, call.client))])
    }
    let (path, place) = try binding(interface, member, call)
    return try service.read(.one(path), asProperty: true, at: place, for: call)
  }

  @Sendable private static func set(_ service: FocusService, _ call: inout Call) throws -> MessageBody? {
    let interface = try call.arguments.text()
    let member = try call.arguments.text()
    let value = try call.arguments.variant()
    if let served = call.target.interfaces[interface] {
      _ = try served.property(member)
      throw DBusError(.propertyReadOnly, "\(interface).\(member) is read-only")
    }
    let (path, place) = try binding(interface, member, call)
    return try service.write(value, to: path, at: place, for: call, isShown: false)
  }

  /// The binding that a property's interface and name stand for.
  /// - Throws: `DBusError.unknownInterface` if the object has no bindings of that interface.
  private static func binding(_ interface: String, _ member: String, _ call: Call) throws -> (BindingPath, Place) {
    guard let place = call.target.place, !Key.isReserved(interface) else {
      throw unknownInterface(interface, call)
    }
    return (BindingPath(try Key(interface: interface, member: member)), place)
  }

  private static func unknownInterface(_ name: String, _ call: Call) -> DBusError {
    call.target.interfaces.unknownInterface(name, at: "this object")
  }

  @Sendable private static func getAll(_ service: FocusService, _ call: inout Call) throws -> MessageBody? {
    let interface = try call.arguments.text()
    if let served = call.target.interfaces[interface] {
      return try .properties(served.values(service.model, call.target, call.client))
    }
    guard let place = call.target.place else {
      guard interface.isEmpty else { throw unknownInterface(interface, call) }
      return try .properties(ownValues(service.model, call.target, call.client))
    }
    guard !Key.isReserved(interface) else { throw unknownInterface(interface, call) }
    let wanted = interface.isEmpty ? nil : try InterfaceName(interface)
    return try service.read(.all(wanted), asProperty: true, at: place, for: call)
  }

  private static func ownValues(_ model: FocusModel, _ target: Target, _ client: BusName) -> [MessageBody.Property] {
    target.interfaces.all.flatMap { $0.values(model, target, client) }
  }

  /// What `GetAll` answers of bindings that hold `readings`; for every interface of a field, its own properties as well.
  static func results(_ readings: [Key: Reading], of read: PendingRead, _ model: FocusModel) throws -> MessageBody {
    let bindings = properties(readings)
    guard case .all(nil) = read.wanted, read.place != .focused else { return try .properties(bindings) }
    let own = ownValues(model, .place(read.place), read.client)
    let names = Set(own.map(\.name))
    return try .properties(own + bindings.filter { !names.contains($0.name) })
  }

  /// The readings by their members; if two interfaces have a member of one name, the first interface's counts.
  private static func properties(_ readings: [Key: Reading]) -> [MessageBody.Property] {
    var seen: Set<MemberName> = []
    return readings.sorted { $0.key < $1.key }.compactMap { key, reading in
      seen.insert(key.member).inserted ? (key.member.text, reading.value) : nil
    }
  }
}
