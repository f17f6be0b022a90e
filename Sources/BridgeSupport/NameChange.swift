package import DBus
internal import DBusTypes

extension Message {
  /// What the bus's `NameOwnerChanged` tells; an empty text stands for no owner.
  package var nameChange: (name: String, before: String, now: String)? {
    guard member?.text == "NameOwnerChanged", let values = try? arguments(elementLimit: 16), values.count == 3,
      case .string(let name) = values[0], case .string(let before) = values[1], case .string(let now) = values[2]
    else { return nil }
    return (name, before, now)
  }
}
