public import DBusTypes
internal import FocusContract

/// What everyone is shown of one name: a key, a command, or both.
public struct ShownMember: Hashable, Sendable {
  /// The key's value; nil: it has none, or it can only be written.
  public internal(set) var value: MarshalledValue?
  /// Whether it is a key that can only be written.
  public internal(set) var isWriteOnly = false
  /// Whether the command is enabled; nil: it is not a command.
  public internal(set) var isEnabled: Bool?

  /// Whether it is a key.
  public var isKey: Bool { value != nil || isWriteOnly }

  static let none = ShownMember()

  /// How many of a key and a command it is.
  fileprivate var count: Int { (isKey ? 1 : 0) + (isEnabled == nil ? 0 : 1) }

  mutating func show(_ binding: FieldBinding) {
    if binding.isWriteOnly { isWriteOnly = true } else { value = binding.value }
  }
}

/// What is shown of one name, before and after.
struct ShownDifference {
  let key: Key
  let before: ShownMember
  let after: ShownMember

  /// 1 if the name is shown only after, -1 if only before, else 0.
  var growth: Int { (after.count == 0 ? 0 : 1) - (before.count == 0 ? 0 : 1) }
}

extension Field {
  /// What everyone is shown of the name `key` of the field.
  func shown(_ key: Key) -> ShownMember {
    var member = ShownMember(isEnabled: object?.commands[key]?.isEnabled)
    if !isSensitive, let binding = bindings[key] { member.show(binding) }
    return member
  }

  /// The interfaces of which everyone is shown something, in order.
  var shownInterfaces: [InterfaceName] {
    isSensitive ? Set(commands.keys.map(\.interface)).sorted() : Array(interfaceCounts.interfaces)
  }

  /// How many keys and commands of `interface` everyone is shown.
  private func count(shownOf interface: InterfaceName) -> Int {
    isSensitive ? commands.keys.count { $0.interface == interface } : interfaceCounts[interface]
  }

  /// Adds to `changes` what must be told of the field, of whose names those in `told` were told otherwise.
  func tell(since told: [Key: ShownMember], _ changes: inout [Change]) {
    let differences = told.compactMap { key, before in
      let after = shown(key)
      return before == after ? nil : ShownDifference(key: key, before: before, after: after)
    }
    Change.tell(of: .field(id), differences.byInterface, &changes) { interface, differences in
      let count = count(shownOf: interface)
      return (before: count != differences.reduce(0) { $0 + $1.after.count - $1.before.count }, after: count != 0)
    }
  }
}

/// What is shown of the names of each interface, before and after.
typealias DifferencesByInterface = [(interface: InterfaceName, names: [ShownDifference])]

extension [ShownDifference] {
  /// By interface, in order of interfaces, then of members: to sort all of them as one would compare interfaces each time.
  var byInterface: DifferencesByInterface {
    guard count > 1 else { return first.map { [(interface: $0.key.interface, names: self)] } ?? [] }
    return Dictionary(grouping: self, by: \.key.interface).sorted { $0.key < $1.key }.map { interface, names in
      (interface: interface, names: names.sorted { $0.key.member < $1.key.member })
    }
  }
}

extension Change {
  /// Adds to `changes` what must be said of `place`, which shows these names otherwise: interfaces that appear, values by
  /// interface, interfaces that disappear, keys, commands; `shows` says of an interface whether anything of it was shown, and
  /// whether anything is, given how its names differ.
  static func tell(
    of place: Place, _ differences: DifferencesByInterface, _ changes: inout [Change],
    shows: (InterfaceName, [ShownDifference]) -> (before: Bool, after: Bool)
  ) {
    var (added, removed, values): ([InterfaceName], [InterfaceName], [Change]) = ([], [], [])
    for (interface, own) in differences {
      if own.contains(where: { $0.growth != 0 }) {
        let shown = shows(interface, own)
        if !shown.before, shown.after { added.append(interface) }
        if shown.before, !shown.after { removed.append(interface) }
      }
      var (changed, invalidated): ([NamedValue], [MemberName]) = ([], [])
      for each in own where each.before.value != each.after.value {
        if let value = each.after.value {
          changed.append(NamedValue(name: each.key.member, value: value))
        } else {
          invalidated.append(each.key.member)
        }
      }
      guard !changed.isEmpty || !invalidated.isEmpty else { continue }
      values.append(.valuesChanged(place, interface, changed: changed, invalidated: invalidated))
    }
    let keysChanged = differences.contains {
      $0.names.contains { $0.before.isKey != $0.after.isKey || $0.before.isWriteOnly != $0.after.isWriteOnly }
    }
    let commandsChanged = differences.contains { $0.names.contains { $0.before.isEnabled != $0.after.isEnabled } }
    if !added.isEmpty { changes.append(.interfacesAdded(place, added)) }
    changes += values
    if !removed.isEmpty { changes.append(.interfacesRemoved(place, removed)) }
    if keysChanged || commandsChanged {
      changes.append(.membersChanged(place, keys: keysChanged, commands: commandsChanged))
    }
  }
}
