internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import FocusContract

extension WindowKey {
  static func command(_ action: WindowAction) -> Key { Key(shared: "Window", action.rawValue) }

  static let all = [title, application, process, workspace]
}

extension Window {
  /// The values that its field publishes.
  var values: [Key: DBusValue] {
    var values: [Key: DBusValue] = [WindowKey.title: .string(title)]
    if let application { values[WindowKey.application] = .string(application) }
    if let process { values[WindowKey.process] = .uint32(process) }
    if let workspace { values[WindowKey.workspace] = .string(workspace) }
    return values
  }
}

/// What a window's field asks of the bridge.
protocol WindowFieldDelegate: AnyObject {
  /// The window as it is now, or nil.
  func window(_ id: WindowID) -> Window?
  func perform(_ action: WindowAction, on id: WindowID, _ completion: @escaping (Result<Void, DBusError>) -> Void)
  func bringToFront(_ id: WindowID, _ completion: @escaping (Result<Void, DBusError>) -> Void)
}

/// One window as a field, and what the daemon was told of it.
final class WindowField {
  let id: WindowID
  /// The field's number with the publisher, and its group's.
  let number: UInt64
  /// What was published last.
  var published: Window
  /// Where the daemon has it, or nil.
  var path: ObjectPath?
  /// Whether the daemon does not take it.
  var isRefused = false
  /// The process that the window is of by name or title, if it is not told; nil if that is not sure.
  var program: UInt32?
  /// The connections that the daemon was told of, nil before that.
  var adopted: [BusName]?

  init(_ id: WindowID, number: UInt64, _ window: Window) {
    self.id = id
    self.number = number
    published = window
  }

  /// The field as it is registered; without its own id if another program's field has that.
  func description(_ delegate: any WindowFieldDelegate, isNamed: Bool) -> FieldDescription {
    let object = ObjectPath(known: "/org/focusd/windows/w\(number)")
    var field = FieldDescription(number: number, group: number, objectPath: object)
    field.id = isNamed ? id.description : ""
    field.label = published.application
    field.isCoalesced = true
    for key in WindowKey.all {
      field.properties[key] = FieldProperty(
        type: Vocabulary.type(of: key) ?? .string, tellsChanges: true,
        read: { [weak delegate, id] () throws(DBusError) in
          if let value = delegate?.window(id)?.values[key] { return value }
          throw DBusError(.unknownProperty, "the window manager does not tell the \(key.member.text) of this window")
        }, write: nil)
    }
    for action in published.actions {
      field.commands[WindowKey.command(action)] = FieldCommand(input: [], output: []) { [weak delegate, id] _, done in
        guard let delegate else { return done(.failure(DBusError(.failed, "the bridge is ending"))) }
        delegate.perform(action, on: id) { done($0.map { [] }) }
      }
    }
    field.requests = .passedOn { [weak delegate, id] done in
      guard let delegate else { return done(.failure(DBusError(.failed, "the bridge is ending"))) }
      delegate.bringToFront(id, done)
    }
    return field
  }
}
