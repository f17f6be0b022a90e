public import DBusTypes
public import FocusContract

/// How many names there are.
public struct NameCounts {
  /// All of them.
  public private(set) var all = 0
  /// Those of each interface that has some.
  public private(set) var byInterface: [InterfaceName: Int] = [:]

  mutating func add(_ more: Int, of interface: InterfaceName) {
    guard more != 0 else { return }
    all += more
    let count = byInterface[interface, default: 0] + more
    byInterface[interface] = count == 0 ? nil : count
  }
}

extension FocusModel {
  /// What everyone has been shown of focus.
  struct Published {
    var focus = Focus()
    /// The scenes of the focus path.
    var scenes: [FieldID] = []
    /// The session-scoped fields that supply what nothing nearer has, by interface.
    var suppliers: [InterfaceName: FieldID] = [:]
    /// What `focused` shows.
    private(set) var members: [InterfaceName: [Key: ShownMember]] = [:]
    private(set) var keys = NameCounts()
    private(set) var commands = NameCounts()

    subscript(key: Key) -> ShownMember { members[key.interface]?[key] ?? .none }

    /// Shows names of `interface` otherwise.
    mutating func show(_ names: [ShownDifference], of interface: InterfaceName) {
      var shown = members.removeValue(forKey: interface) ?? [:]
      if shown.isEmpty { shown.reserveCapacity(names.count) }
      var (moreKeys, moreCommands) = (0, 0)
      for each in names {
        moreKeys += (each.after.isKey ? 1 : 0) - (each.before.isKey ? 1 : 0)
        moreCommands += (each.after.isEnabled == nil ? 0 : 1) - (each.before.isEnabled == nil ? 0 : 1)
        shown[each.key] = each.after == .none ? nil : each.after
      }
      keys.add(moreKeys, of: interface)
      commands.add(moreCommands, of: interface)
      if !shown.isEmpty { members[interface] = shown }
    }
  }

  /// What everyone has been shown at `focused`, by interface.
  public var shownAtFocused: [InterfaceName: [Key: ShownMember]] { published.members }

  /// How many keys everyone has been shown at `focused`.
  public var keysShownAtFocused: NameCounts { published.keys }

  /// How many commands everyone has been shown at `focused`.
  public var commandsShownAtFocused: NameCounts { published.commands }

  /// The names of the fields and scenes that focus has left or come to since it was published.
  func namesMoved(_ scenes: [FieldID]) -> Set<Key> {
    var names: Set<Key> = []
    let (old, new) = (published.focus.path, focus.path)
    if old != new {
      let common = zip(old.reversed(), new.reversed()).prefix { $0 == $1 }.count
      let moved = (old.dropLast(common) + new.dropLast(common)).compactMap { fields[$0]?.names }
      // To grow step by step would take as long again.
      names.reserveCapacity(moved.reduce(0) { $0 + $1.count })
      for each in moved { names.formUnion(each) }
    }
    guard scenes != published.scenes else { return names }
    for scene in Set(scenes).symmetricDifference(published.scenes) {
      names.reserveCapacity(names.count + table.names.counts[scene, default: 0])
      for interface in table.names.interfaces.names(in: scene) {
        let place = SceneInterface(scene: scene, interface: interface)
        names.formUnion(table.names.keys.names(in: place))
        names.formUnion(table.names.commands.names(in: place))
      }
    }
    return names
  }

  /// The session-scoped fields that supply an interface from now on, if these names, and the suppliers of these interfaces,
  /// may differ; with the names that go and come with that.
  func newSuppliers(
    of names: Set<Key>, _ interfaces: Set<InterfaceName>, _ nearby: Nearby
  ) -> [InterfaceName: (now: FieldID?, names: [Key])] {
    guard !table.session.isEmpty || !published.suppliers.isEmpty else { return [:] }
    var suppliers: [InterfaceName: (now: FieldID?, names: [Key])] = [:]
    for interface in names.reduce(into: interfaces, { $0.insert($1.interface) }) {
      let supplier = nearby.supplier(of: interface)
      guard published.suppliers[interface] != supplier else { continue }
      let coming = supplier.flatMap { fields[$0] }?.names.filter { $0.interface == interface } ?? []
      suppliers[interface] = (supplier, coming + Array((published.members[interface] ?? [:]).keys))
    }
    return suppliers
  }

  /// Which of `names` everyone must be shown otherwise at `focused`, by interface, in order.
  func differences(of names: Set<Key>, _ nearby: consuming Nearby) -> DifferencesByInterface {
    resolutions += names.count
    nearby.expect(names.count)
    return names.compactMap { key in
      let (before, after) = (published[key], shownMember(key, nearby))
      return before == after ? nil : ShownDifference(key: key, before: before, after: after)
    }.byInterface
  }

  /// What everyone must be shown of `key` at `focused`.
  private func shownMember(_ key: Key, _ nearby: Nearby) -> ShownMember {
    var member = ShownMember()
    if let id = nearby.holder(ofCommand: key) { member.isEnabled = fields[id]?.object?.commands[key]?.isEnabled }
    guard let place = nearby.holder(of: key).flatMap(fields.index), !fields.values[place].isSensitive else {
      return member
    }
    if let binding = fields.values[place].bindings[key] { member.show(binding) }
    return member
  }
}
