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
    var counts: [InterfaceName: (before: Int, after: Int)] = [:]
    for difference in differences {
      let interface = difference.key.interface
      let now = count(shownOf: interface)
      counts[interface, default: (now, now)].before += difference.before.count - difference.after.count
    }
    return Change.telling(
      .field(id), differences, hadInterface: { counts[$0]?.before != 0 }, hasInterface: { counts[$0]?.after != 0 })
  }
}

extension Change {
  /// What must be said of `place`, which shows these names otherwise: interfaces that appear, values by interface,
  /// interfaces that disappear, keys, commands.
  static func telling(
    _ place: Place, _ differences: [ShownDifference], hadInterface: (InterfaceName) -> Bool,
    hasInterface: (InterfaceName) -> Bool
  ) -> [Change] {
    guard !differences.isEmpty else { return [] }
    let byInterface = Dictionary(grouping: differences, by: \.key.interface).sorted { $0.key < $1.key }
    let added = byInterface.map(\.key).filter { !hadInterface($0) && hasInterface($0) }
    let removed = byInterface.map(\.key).filter { hadInterface($0) && !hasInterface($0) }
    var changes: [Change] = added.isEmpty ? [] : [.interfacesAdded(place, added)]
    for (interface, differences) in byInterface {
      let differing = differences.filter { $0.before.value != $0.after.value }
      guard !differing.isEmpty else { continue }
      let values = differing.count == 1 ? differing : differing.sorted { $0.key.member < $1.key.member }
      changes.append(
        .valuesChanged(
          place, interface,
          changed: values.compactMap { each in each.after.value.map { NamedValue(name: each.key.member, value: $0) } },
          invalidated: values.compactMap { $0.after.value == nil ? $0.key.member : nil }))
    }
    if !removed.isEmpty { changes.append(.interfacesRemoved(place, removed)) }
    let keysChanged = differences.contains {
      $0.before.isKey != $0.after.isKey || $0.before.isWriteOnly != $0.after.isWriteOnly
    }
    let commandsChanged = differences.contains { $0.before.isEnabled != $0.after.isEnabled }
    if keysChanged || commandsChanged {
      changes.append(.membersChanged(place, keys: keysChanged, commands: commandsChanged))
    }
    return changes
  }
}
