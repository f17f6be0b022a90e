internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// `org.freedesktop.DBus.ObjectManager`: every field, and `focused`, in one reply.
extension DaemonInterfaces {
  static let objectManager = DaemonInterface(
    .objectManager,
    methods: [
      method(
        "GetManagedObjects",
        out: [.init("objects", .dictionary(key: .objectPath, value: ObjectSnapshot.type))]
      ) { service, call in
        let model = service.model
        let size = try SnapshotSize(client: call.client).check(model)
        // In the order of their registrations, which decides which field of a scene comes first.
        let fields = model.fields.values.sorted { $0.registration < $1.registration }
        let places = [.focused] + fields.map { Place.field($0.id) }
        // To grow step by step would touch the memory many times.
        var writer = WireWriter(capacity: 65_536 + size)
        writer.array(alignment: 8) { array in
          for place in places {
            array.align(8)
            array.append(Target.path(of: place).text)
            ObjectSnapshot.write(place, model, client: call.client, to: &array)
          }
        }
        return try MessageBody("a{oa{sa{sv}}}", writer)
      }
    ],
    signals: [
      .init(
        MemberName(known: "InterfacesAdded"),
        [.init("object_path", .objectPath), .init("interfaces_and_properties", ObjectSnapshot.type)]),
      .init(
        MemberName(known: "InterfacesRemoved"),
        [.init("object_path", .objectPath), .init("interfaces", .array(.string))]),
    ])
}

/// An object's interfaces with their properties, as `ObjectManager` shows them.
enum ObjectSnapshot {
  static let type = DBusType.dictionary(key: .string, value: .properties)

  /// Writes the interfaces of the object at `place` as `client` sees them, nil: as everyone does; `only` some of them, or all.
  static func write(
    _ place: Place, _ model: FocusModel, client: BusName?, only: [InterfaceName]? = nil, to writer: inout WireWriter
  ) {
    let context = PropertyContext(model, .place(place), client, only: only)
    writer.array(alignment: 8) { array in
      if only == nil {
        for interface in context.target.interfaces.all where !interface.properties.isEmpty {
          array.align(8)
          array.append(interface.name.text)
          interface.write(context, to: &array)
        }
      }
      // Both are ordered by interface.
      var (bindings, commands) = (context.bindings?[...] ?? [], context.commands?[...] ?? [])
      while let interface = [bindings.first?.key, commands.first?.key].lazy.compactMap({ $0?.interface }).min() {
        let own = bindings.prefix { $0.key.interface == interface }
        bindings = bindings.dropFirst(own.count)
        commands = commands.drop { $0.key.interface == interface }
        if let only, !only.contains(interface) { continue }
        array.align(8)
        array.append(interface.text)
        array.append(properties: own.lazy.compactMap { key, value in value.map { (key.member.text, $0) } })
      }
    }
  }
}

/// The least that a snapshot of fields takes, exact for fields with nothing in them: one that no message carries is refused
/// before it is made.
struct SnapshotSize {
  private let client: BusName?
  /// What a field takes at least.
  let least: Int
  /// What is the same for each field.
  private let constant: Int

  /// The size of what `client` is shown; nil: everyone.
  init(client: BusName?) {
    self.client = client
    let (model, id) = (FocusModel(), FieldID(known: "f"))
    var options = FieldOptions()
    options.label = ""
    _ = try? model.register(id, [:], options, owner: BusName(known: ""))
    var writer = WireWriter(capacity: 1024)
    writer.append(id.path.text)
    ObjectSnapshot.write(.field(id), model, client: client, to: &writer)
    least = writer.count.aligned(to: 8)
    constant = least - (model.fields[id].map(SnapshotSize.texts) ?? 0)
  }

  /// Checks that a message may carry all fields of `model`, and returns the least that they take.
  /// - Throws: `DBusError.limitsExceeded`.
  func check(_ model: FocusModel) throws(DBusError) -> Int {
    // So many fields are refused whatever they have: to look at each of them would take a while.
    try MessageBody.check(size: model.fields.count * least)
    var size = 0
    for field in model.fields.values {
      size += least(of: field)
      try MessageBody.check(size: size)
    }
    return size
  }

  /// The least that `field` takes, with what aligns the next one.
  func least(of field: Field) -> Int {
    var size = constant + SnapshotSize.texts(of: field)
    guard field.isVisible(to: client) else { return size }
    for (key, binding) in field.bindings {
      let (interface, member) = (key.interface.text.utf8.count, key.member.text.utf8.count)
      // Its entry in `Keys`, then the one in its interface.
      size += 4 + interface + 1 + member + 1
      if !binding.isWriteOnly { size += 4 + member + 1 + binding.value.size }
    }
    return size
  }

  /// What the path of `field` takes, with the length of what follows it, and its properties that are texts.
  private static func texts(of field: Field) -> Int {
    /// An entry of `a{sv}`: a name, the signature of a text, and the text.
    func entry(_ name: Int, _ length: Int) -> Int {
      ((4 + name + 1 + 3).aligned(to: 4) + 4 + length + 1).aligned(to: 8)
    }
    // To make a path would allocate memory for each field.
    func length(ofPath id: FieldID?) -> Int { id.map { Focus1.fields.text.utf8.count + 1 + $0.text.utf8.count } ?? 1 }
    return (4 + length(ofPath: field.id) + 1 + 4).aligned(to: 8) + entry("Id".utf8.count, field.id.text.utf8.count)
      + entry("Label".utf8.count, field.label.utf8.count) + entry("Owner".utf8.count, field.owner?.text.utf8.count ?? 0)
      + entry("Parent".utf8.count, length(ofPath: field.parent))
      + entry("Scope".utf8.count, field.scope.rawValue.utf8.count)
  }
}
