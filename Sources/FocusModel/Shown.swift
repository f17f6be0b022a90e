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

  /// Whether it is shown only before, or only after.
  var comesOrGoes: Bool { (before == .none) != (after == .none) }
}

extension Field {
  /// What everyone is shown of the name `key` of the field.
  func shown(_ key: Key) -> ShownMember {
    var member = ShownMember(isEnabled: object?.commands[key]?.isEnabled)
    if !isSensitive, let binding = bindings[key] { member.show(binding) }
    return member
  }

  /// What everyone is shown of the field.
  var shown: [Key: ShownMember] {
    var shown: [Key: ShownMember] = [:]
    for (key, command) in object?.commands ?? [:] { shown[key, default: .none].isEnabled = command.isEnabled }
    guard !isSensitive else { return shown }
    for (key, binding) in bindings { shown[key, default: .none].show(binding) }
    return shown
  }

  /// How many keys and commands of `interface` everyone is shown.
  private func count(shownOf interface: InterfaceName) -> Int {
    guard isSensitive else { return interfaceCounts[interface] }
    return (object?.commands ?? [:]).keys.count { $0.interface == interface }
  }

  /// What must be told of the field, of whose names those in `told` were told otherwise.
  func changes(since told: [Key: ShownMember]) -> [Change] {
    let differences = told.compactMap { key, before in
      let after = shown(key)
      return before == after ? nil : ShownDifference(key: key, before: before, after: after)
    }
    return Change.telling(.field(id), differences) { interface, differences in
      let count = count(shownOf: interface)
      return (before: count != differences.reduce(0) { $0 + $1.after.count - $1.before.count }, after: count != 0)
    }
  }
}

extension Change {
  /// What must be said of `place`, which shows these names otherwise: interfaces that appear, values by interface,
  /// interfaces that disappear, keys, commands; `shows` says of an interface whether anything of it was shown, and whether
  /// anything is, given how its names differ.
  static func telling(
    _ place: Place, _ differences: [ShownDifference],
    shows: (InterfaceName, ArraySlice<ShownDifference>) -> (before: Bool, after: Bool)
  ) -> [Change] {
    guard !differences.isEmpty else { return [] }
    var rest = differences.sorted { $0.key < $1.key }[...]
    var (added, removed, values): ([InterfaceName], [InterfaceName], [Change]) = ([], [], [])
    while let interface = rest.first?.key.interface {
      let own = rest.prefix { $0.key.interface == interface }
      rest = rest.dropFirst(own.count)
      if own.contains(where: \.comesOrGoes) {
        let shown = shows(interface, own)
        if !shown.before, shown.after { added.append(interface) }
        if shown.before, !shown.after { removed.append(interface) }
      }
      let differing = own.filter { $0.before.value != $0.after.value }
      guard !differing.isEmpty else { continue }
      values.append(
        .valuesChanged(
          place, interface,
          changed: differing.compactMap { each in each.after.value.map { .init(name: each.key.member, value: $0) } },
          invalidated: differing.compactMap { $0.after.value == nil ? $0.key.member : nil }))
    }
    let keysChanged = differences.contains {
      $0.before.isKey != $0.after.isKey || $0.before.isWriteOnly != $0.after.isWriteOnly
    }
    let commandsChanged = differences.contains { $0.before.isEnabled != $0.after.isEnabled }
    return (added.isEmpty ? [] : [.interfacesAdded(place, added)]) + values
      + (removed.isEmpty ? [] : [.interfacesRemoved(place, removed)])
      + (keysChanged || commandsChanged ? [.membersChanged(place, keys: keysChanged, commands: commandsChanged)] : [])
  }
}
