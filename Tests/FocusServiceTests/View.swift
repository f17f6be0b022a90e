import BusSupport
import DBusTypes

/// What someone knows of the service's objects, who has asked once and follows its signals since.
struct View {
  private var objects: [String: [String: [String: DBusValue]]] = [:]

  /// A view of nothing.
  init() {}

  /// The view of who has been sent the replies to `calls`.
  init(_ replies: [Sent]) {
    for reply in replies {
      switch reply.member {
      case "GetManagedObjects": objects.merge(Self.entries(reply.arguments.first).mapValues(Self.interfaces)) { $1 }
      case "GetAll": objects[Focus1.manager] = [Focus1.managerInterface: Self.entries(reply.arguments.first)]
      default: break
      }
    }
  }

  /// What has to be asked for a view.
  static let calls: [DaemonCall] = [.managedObjects, .getAll(Focus1.managerInterface, at: Focus1.manager)]

  /// Takes in a signal.
  mutating func see(_ signal: Sent) {
    let arguments = signal.arguments
    switch (signal.member, arguments.count) {
    case ("InterfacesAdded", 2):
      objects[arguments[0].basicText ?? "", default: [:]].merge(Self.interfaces(arguments[1])) { $1 }
    case ("InterfacesRemoved", 2):
      guard let path = arguments[0].basicText, case .array(let interfaces) = arguments[1] else { return }
      for interface in interfaces { objects[path]?[interface.basicText ?? ""] = nil }
      if objects[path]?.isEmpty == true { objects[path] = nil }
    case ("PropertiesChanged", 3):
      guard let interface = arguments[0].basicText, case .array(let invalidated) = arguments[2] else { return }
      objects[signal.path]?[interface, default: [:]].merge(Self.entries(arguments[1])) { $1 }
      for name in invalidated { objects[signal.path]?[interface]?[name.basicText ?? ""] = nil }
    default: break
    }
  }

  /// A line for each interface, and one for each property.
  var lines: Set<String> {
    var lines: Set<String> = []
    for (path, interfaces) in objects {
      for (interface, properties) in interfaces {
        lines.insert("\(path) \(interface)")
        for (name, value) in properties { lines.insert("\(path) \(interface).\(name)=\(Sent.text(value))") }
      }
    }
    return lines
  }

  private static func interfaces(_ value: DBusValue) -> [String: [String: DBusValue]] {
    entries(value).mapValues { entries($0) }
  }

  private static func entries(_ value: DBusValue?) -> [String: DBusValue] {
    guard case .dictionary(let dictionary)? = value else { return [:] }
    var entries: [String: DBusValue] = [:]
    for entry in dictionary.entries { entries[entry.key.basicText ?? ""] = entry.value.variantContent ?? entry.value }
    return entries
  }
}
