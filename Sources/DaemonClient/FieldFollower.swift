internal import DBus
package import DBusTypes
package import FocusContract

/// Follows where the daemon's fields come from, and which processes are behind their owners, as the bus says.
package final class FieldFollower {
  private let link: Link
  /// The daemon's fields.
  package private(set) var fields: [ObjectPath: FieldOrigin] = [:]
  /// Whether the fields are known.
  package private(set) var hasRead = false
  /// The process of each connection that was asked for; 0 if the bus does not know it.
  private var processes: [BusName: UInt32] = [:]
  private var asked: Set<BusName> = []
  /// The answers of a bus, or a daemon, before this one mean nothing.
  private var session = 0
  /// Called when a field is added, changed or removed, with its old and its new origin; nil stands for no field.
  package var onChange: ((_ path: ObjectPath, _ before: FieldOrigin?, _ now: FieldOrigin?) -> Void)?
  /// Called when the process of a connection is known.
  package var onProcess: (() -> Void)?

  /// Creates a follower of the daemon behind `link`, which hands over its signals.
  package init(_ link: Link) { self.link = link }

  /// Forgets everything: the daemon, or the bus, is gone.
  package func end() {
    session += 1
    (fields, hasRead) = ([:], false)
    (processes, asked) = ([:], [])
  }

  /// Reads the fields of a daemon that has come, and calls `handler` after `onChange` for each of them.
  ///
  /// What signals say before the reply is no newer than it, and what they say later is newer.
  package func begin(_ handler: @escaping () -> Void) {
    end()
    let session = session
    link.call(.managedObjects(), patiently: true) { [weak self] result in
      guard let self, session == self.session, case .success(let objects) = result else { return }
      for path in fields.keys { set(path, nil) }
      for entry in objects.entries {
        guard case .objectPath(let path) = entry.key, let origin = FieldOrigin(entry.value) else { continue }
        set(path, origin)
      }
      hasRead = true
      handler()
    }
  }

  /// Takes over what a signal says of a field.
  package func received(_ signal: DaemonSignal) {
    switch signal {
    case .properties(let path, Focus1.field.text, let changes):
      guard var origin = fields[path] else { return }
      origin.update(changes)
      set(path, origin)
    case .field(let path, let origin): set(path, origin)
    default: break
    }
  }

  private func set(_ path: ObjectPath, _ origin: FieldOrigin?) {
    let before = fields[path]
    guard before != origin else { return }
    fields[path] = origin
    onChange?(path, before, origin)
  }

  /// Whether the bus is being asked for the process of a connection.
  package var isAsking: Bool { !asked.isEmpty }

  /// The process of `connection`, 0 if the bus does not know it; nil: it is asked, and `onProcess` tells when it is known.
  package func process(of connection: BusName) -> UInt32? {
    if let known = processes[connection] { return known }
    guard asked.insert(connection).inserted else { return nil }
    let session = session
    link.daemon?.connection.askProcess(of: connection, timeout: nil) { [weak self] result in
      guard let self, session == self.session, asked.remove(connection) != nil else { return }
      processes[connection] = (try? result.get()) ?? 0
      onProcess?()
    }
    return nil
  }

  /// Forgets the processes of connections that do not matter any more.
  package func forgetProcesses(except isWanted: (BusName) -> Bool) {
    processes = processes.filter { isWanted($0.key) }
    asked = asked.filter(isWanted)
  }
}
