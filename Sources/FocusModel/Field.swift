public import DBusTypes
public import FocusContract

/// Where a field's keys resolve.
public enum Scope: String, Hashable, Sendable {
  /// While the field is on the focus path: SwiftUI's `focusedValue`.
  case field
  /// Also while the field's scene is on the focus path: SwiftUI's `focusedSceneValue`.
  case scene
  /// As `scene`, and wherever nothing nearer has the key's interface.
  case session
}

/// One key of one field: its value, and who may write it; what is stored of these outlives the daemon.
public struct FieldBinding: Hashable, Sendable {
  /// The current value; for a bound binding, the last that the owner sent.
  public internal(set) var value: MarshalledValue
  /// The number of the binding's last change.
  public internal(set) var revision: UInt64
  /// Whether only the owner may write it; the object refuses everyone if it is bound.
  public internal(set) var isReadOnly: Bool
  /// Whether the owner's object holds the value, and not the daemon.
  public internal(set) var isBound = false
  /// Whether the owner's object takes values and shows none: then the value here is empty, and nobody is shown it.
  public internal(set) var isWriteOnly = false
  /// What the value and the key's name take up.
  var extent: Extent
}

extension FieldBinding {
  /// Creates a stored binding from what was saved of it, not measured yet.
  public init(value: MarshalledValue, revision: UInt64, isReadOnly: Bool) {
    self.init(value: value, revision: revision, isReadOnly: isReadOnly, extent: .zero)
  }

  /// The binding of a property of an object.
  init(_ value: MarshalledValue, revision: UInt64, extent: Extent, of property: BoundObject.Property) {
    self.init(value: value, revision: revision, isReadOnly: !property.isWritable, isBound: true, extent: extent)
  }

  /// The binding of the property `key`, which can only be written.
  static func writeOnly(_ key: Key) -> FieldBinding {
    FieldBinding(
      value: Reading.hiddenValue, revision: 0, isReadOnly: false, isBound: true, isWriteOnly: true,
      extent: Extent(nameOf: key))
  }
}

/// Something that can hold focus, registered by a client.
///
/// What it consists of is in memory of its own, which copies share until one of them changes: a field is copied often, and
/// tables are half empty.
public struct Field: Equatable, Sendable {
  /// Which object is behind a field, as that outlives the daemon.
  public struct SavedObject: Hashable, Sendable {
    /// Which object it is, and what of it is exposed.
    public let choice: ObjectChoice
    /// The commands that are disabled.
    public internal(set) var disabled: Set<Key>

    /// Creates a description of an object.
    public init(_ choice: ObjectChoice, disabled: Set<Key>) { (self.choice, self.disabled) = (choice, disabled) }
  }

  /// What a field consists of.
  struct Parts: Equatable, Sendable {
    let id: FieldID
    let label: String
    let scope: Scope
    let lingers: Bool
    let isSensitive: Bool
    var isAdopted = false
    var owner: BusName?
    var parent: FieldID?
    var children: Set<FieldID> = []
    var bindings: [Key: FieldBinding] = [:]
    @Boxed var object: BoundObject?
    @Boxed var extras: Extras?
    let registration: UInt64
    var lastFocused: UInt64 = 0
    @Boxed var activity: Activity?
    var interfaceCounts = InterfaceCounts()
  }

  /// What few fields have.
  struct Extras: Equatable, Sendable {
    var service: BusName?
    var claimedProcess: UInt32?
    var awaited: SavedObject?
    var window: Window?
  }

  /// It is changed only while one field has it.
  private final class Storage: @unchecked Sendable {
    // What is checked for the field that has it need not be checked again.
    @exclusivity(unchecked) var parts: Parts

    init(_ parts: Parts) { self.parts = parts }
  }

  private var storage: Storage
  /// What is there to be changed.
  var parts: Parts {
    _read { yield storage.parts }
    _modify {
      if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.parts) }
      yield &storage.parts
    }
  }

  /// Whether both consist of the same.
  public static func == (left: Field, right: Field) -> Bool {
    left.storage === right.storage || left.parts == right.parts
  }

  /// The field's name.
  public var id: FieldID { parts.id }
  /// The field's name for people.
  public var label: String { parts.label }
  /// Where the field's keys resolve.
  public var scope: Scope { parts.scope }
  /// Whether the field outlives its owner.
  public var lingers: Bool { parts.lingers }
  /// Whether its values are shown to its owner alone.
  public var isSensitive: Bool { parts.isSensitive }
  /// Later registrations have higher numbers.
  public var registration: UInt64 { parts.registration }
  /// Whether the parent is the window that the field, a scene, is in.
  public var isAdopted: Bool { parts.isAdopted }
  /// The registrant, or nil once a lingering field has outlived it.
  public var owner: BusName? { parts.owner }
  /// The containing field, or nil for a scene.
  public var parent: FieldID? { parts.parent }
  /// The fields that this one contains.
  public var children: Set<FieldID> { parts.children }
  /// What the field publishes.
  public var bindings: [Key: FieldBinding] {
    _read { yield parts.bindings }
    _modify { yield &parts.bindings }
  }
  /// The owner's own object behind the field, or nil.
  public var object: BoundObject? { parts.object }
  /// When the field was focused last, or one below it whose place it has taken; 0: that is not remembered.
  public var lastFocused: UInt64 { parts.lastFocused }
  /// Whether a session-scoped field is active, and since when; nil for other scopes.
  public var activity: Activity? { parts.activity }
  /// What `FieldTable` counts when names come and go.
  var interfaceCounts: InterfaceCounts { parts.interfaceCounts }

  private mutating func change(_ body: (inout Extras) -> Void) {
    var all = parts.extras ?? Extras()
    body(&all)
    parts.extras = all == Extras() ? nil : all
  }

  /// The connection that has the field's object, or nil if that is the registrant's own, and without an object.
  public var service: BusName? { parts.extras?.service }
  /// The process that the registrant says the field belongs to, or nil.
  public var claimedProcess: UInt32? { parts.extras?.claimedProcess }
  /// What was saved of the object, until that is bound again after a restart.
  public internal(set) var awaited: SavedObject? {
    get { parts.extras?.awaited }
    set { change { $0.awaited = newValue } }
  }
  /// What the field is as a window; nil for every other field.
  public internal(set) var window: Window? {
    get { parts.extras?.window }
    set { change { $0.window = newValue } }
  }

  /// Creates a field without bindings, whose object was saved and is not bound again yet, if it has one.
  public init(
    id: FieldID, label: String, scope: Scope, lingers: Bool, isSensitive: Bool, owner: BusName?, parent: FieldID?,
    registration: UInt64, service: BusName? = nil, process: UInt32? = nil, object: SavedObject? = nil,
    window: Window? = nil, lastFocused: UInt64 = 0, activity: Activity? = nil
  ) {
    storage = Storage(
      Parts(
        id: id, label: label, scope: scope, lingers: lingers, isSensitive: isSensitive, owner: owner, parent: parent,
        registration: registration, lastFocused: lastFocused, activity: activity))
    change { $0 = Extras(service: service, claimedProcess: process, awaited: object, window: window) }
  }

  /// The parent as it is saved: in which window a scene is, follows from what the windows have adopted.
  public var savedParent: FieldID? { isAdopted ? nil : parent }

  /// The object behind the field, bound or not, as it is saved.
  public var savedObject: SavedObject? {
    object.map { SavedObject($0.choice, disabled: $0.disabled) } ?? awaited
  }

  /// The connection whose leaving ends the field, or its being owned: that of the object, else the registrant's.
  public var connection: BusName? { service ?? owner }

  /// Whether the object behind the field was saved, and is not bound again yet.
  public var isAwaitingObject: Bool { awaited != nil }

  /// Whether `client` has the owner's rights to the field; everyone has them if the field has no owner.
  public func isOwned(by client: BusName) -> Bool { owner == nil || owner == client }

  /// Whether `client`, or with nil everyone, is shown the field's values.
  public func isVisible(to client: BusName?) -> Bool { !isSensitive || client != nil && owner == client }

  /// The field's commands.
  public var commands: [Key: BoundObject.Command] { object?.commands ?? [:] }

  /// What the field takes up of its owner's allowance: its keys and values, its object's declaration, a label of its own.
  var extent: Extent {
    var extent = Extent(bytes: (object?.size ?? 0) + labelSize)
    for binding in bindings.values { extent += binding.extent }
    extent += activity?.condition?.extent ?? .zero
    return extent
  }

  private var labelSize: Int { label == id.text ? 0 : label.utf8.count }

  /// How many of a field's keys the field takes up, those of its object included whether they have values or not.
  var keyCount: Int { storedKeys.count + (object?.keyCount ?? 0) }

  /// The keys whose values the daemon holds.
  var storedKeys: [Key] { bindings.compactMap { $1.isBound ? nil : $0 } }

  /// The field's keys that are not nil, and its commands.
  var names: [Key] { Array(bindings.keys) + commands.keys }

  /// Counts anew how many names each interface has.
  mutating func countInterfaces() {
    parts.interfaceCounts = InterfaceCounts()
    for key in names { parts.interfaceCounts.add(1, to: key.interface) }
  }
}

/// How many keys and commands of each interface a field has.
struct InterfaceCounts: Hashable, Sendable {
  private struct Entry: Hashable {
    let interface: InterfaceName
    var count: Int
  }

  /// By their names: few fields have many, and most have one.
  private var entries: [Entry] = []

  var interfaces: some Sequence<InterfaceName> { entries.lazy.map(\.interface) }

  private func place(of interface: InterfaceName) -> Int {
    entries.partitioningIndex { $0.interface >= interface }
  }

  subscript(interface: InterfaceName) -> Int {
    let place = place(of: interface)
    return place < entries.count && entries[place].interface == interface ? entries[place].count : 0
  }

  /// - Returns: whether the interface came or went.
  @discardableResult
  mutating func add(_ more: Int, to interface: InterfaceName) -> Bool {
    let place = place(of: interface)
    guard place < entries.count, entries[place].interface == interface else {
      entries.insert(Entry(interface: interface, count: more), at: place)
      return true
    }
    entries[place].count += more
    guard entries[place].count == 0 else { return false }
    entries.remove(at: place)
    return true
  }
}
