import DBus
import DBusTypes
import DaemonClient
import EventLoop
import FocusContract

/// Who may write the keys of fields, which only their introspection tells.
extension FieldInfo {
  private static let window = 64

  /// `fields` with the keys that others may write; a field that is gone meanwhile has none.
  /// - Throws: `CommandError` if the daemon is gone.
  static func withAccess(_ fields: [FieldInfo], _ daemon: DaemonConnection) throws(CommandError) -> [FieldInfo] {
    var result = fields
    let loop = EventLoop()
    daemon.connection.attach(to: loop)
    defer { daemon.connection.detach() }
    var next = fields.startIndex
    var underWay = 0
    var failure: DBusError?
    while failure == nil, next < fields.endIndex || underWay > 0 {
      while next < fields.endIndex, underWay < window {
        let index = next
        next += 1
        guard !fields[index].values.isEmpty || !fields[index].writeOnly.isEmpty else { continue }
        underWay += 1
        daemon.call(.introspection(of: fields[index].path)) { reply in
          underWay -= 1
          switch reply {
          case .success(let interfaces): result[index].writable = writable(interfaces)
          case .failure(let error): if error.name != .unknownObject { failure = error }
          }
        }
      }
      if underWay > 0 { loop.turn() }
    }
    if let failure { throw CommandError(failure) }
    return result
  }

  private static func writable(_ interfaces: [InterfaceDescription]) -> [String] {
    interfaces.names { $0.properties.filter { $0.access != .read }.map(\.name) }.naturallySorted()
  }
}
