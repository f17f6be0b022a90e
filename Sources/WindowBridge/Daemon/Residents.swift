internal import DBus
internal import DBusTypes
internal import FocusClient
internal import FocusContract
internal import ProgramSupport

/// Which connections have scenes in which windows: follows the daemon's fields, and asks the bus whose they are.
final class Residents {
  private let link: Link
  private let processes: Processes
  private var owners = FieldOwners()
  /// Whether the fields are known.
  private var hasRead = false
  /// The process of each connection with scenes, as the bus says; 0 if it does not know.
  private var busProcesses: [BusName: UInt32] = [:]
  /// The connections whose processes the bus is asked for.
  private var asked: Set<BusName> = []
  /// The processes of all connections, if some have fields for other processes than their own: with the option `service`
  /// the connection of that process counts, which the daemon does not show.
  private var others = ConnectionProcesses()
  /// The parents of the processes of each connection, as they were when it appeared: a shell in between may end.
  private var parents: [BusName: [UInt32: [UInt32]]] = [:]
  /// Whether connections whose word for their processes matters are in sandboxes.
  private var sandboxed: [BusName: Bool] = [:]
  /// The answers of a bus, or a daemon, before this one mean nothing.
  private var session = 0

  /// Whether all that were there at the beginning are known.
  private(set) var isSettled = false

  /// Called when the windows that connections belong to may be others.
  var onChange: (() -> Void)?

  init(_ link: Link, _ processes: Processes) {
    self.link = link
    self.processes = processes
  }

  /// Forgets everything: the daemon, or the bus, is gone.
  func end() {
    session += 1
    (hasRead, isSettled) = (false, false)
    owners = FieldOwners()
    busProcesses = [:]
    asked = []
    others = ConnectionProcesses()
    parents = [:]
    sandboxed = [:]
  }

  /// Reads the fields of a daemon that has come, and calls `handler` when they are known, with those of this connection.
  ///
  /// What signals say before the reply is no newer than it, and what they say later is newer.
  func begin(_ handler: @escaping (_ own: [ObjectPath]) -> Void) {
    end()
    let session = session
    link.call(.managedObjects(), patiently: true) { [weak self] result in
      guard let self, session == self.session, case .success(let objects) = result else { return }
      owners = FieldOwners()
      hasRead = true
      for entry in objects.entries {
        guard case .objectPath(let path) = entry.key, let origin = FieldOrigin(entry.value) else { continue }
        _ = owners.add(path, origin)
      }
      changed()
      handler(link.daemon?.connection.uniqueName.map(owners.fields) ?? [])
    }
  }

  /// Takes over what a signal says of a field.
  func received(_ signal: DaemonSignal) {
    switch signal {
    case .properties(let path, Focus1.field.text, let changes):
      if owners.update(path, changes) { changed() }
    case .field(let path, let origin?):
      if owners.add(path, origin) { changed() }
    case .field(let path, nil):
      if owners.remove(path) { changed() }
    default: break
    }
  }

  // MARK: Processes

  /// The connections with scenes, but for this one, each with the processes that these belong to.
  private var scenes: [BusName: Set<UInt32>] {
    var scenes = owners.processes
    if let own = link.daemon?.connection.uniqueName { scenes[own] = nil }
    return scenes
  }

  private func changed() {
    guard hasRead else { return }
    let current = scenes
    busProcesses = busProcesses.filter { current[$0.key] != nil }
    parents = parents.filter { current[$0.key] != nil || others[$0.key] != nil }
    sandboxed = sandboxed.filter { current[$0.key] != nil }
    asked.formIntersection(current.keys)
    for connection in current.keys where busProcesses[connection] == nil { ask(connection) }
    told()
  }

  private func told() {
    if asked.isEmpty { isSettled = true }
    seekOthers()
    onChange?()
  }

  private func ask(_ connection: BusName) {
    guard asked.insert(connection).inserted else { return }
    let session = session
    link.daemon?.connection.askProcess(of: connection, timeout: .seconds(25)) { [weak self] result in
      guard let self, session == self.session, asked.remove(connection) != nil else { return }
      busProcesses[connection] = (try? result.get()) ?? 0
      told()
    }
  }

  /// The processes that connections have fields for and that are not their own.
  private var claims: Set<UInt32> {
    var claims: Set<UInt32> = []
    for (connection, processes) in scenes {
      guard let own = busProcesses[connection], processes.contains(where: { $0 != own }) else { continue }
      if !isSandboxed(connection, own) { claims.formUnion(processes.subtracting([own])) }
    }
    return claims
  }

  /// Looks for the connections of processes that others have fields for.
  private func seekOthers() {
    guard !claims.isEmpty, let connection = link.daemon?.connection else { return }
    others.read(from: connection) { [weak self] in self?.onChange?() }
  }

  /// For each connection the processes that its fields belong to, each with its parents; nil until all are known.
  ///
  /// A field's own word for its process counts, unless its connection is in a sandbox, where processes have other numbers.
  func chains() -> [BusName: [[UInt32]]]? {
    guard hasRead, asked.isEmpty else { return nil }
    var chains: [BusName: [[UInt32]]] = [:]
    for (connection, claims) in scenes {
      let process = busProcesses[connection] ?? 0
      let isIgnored = claims.contains { $0 != process } && isSandboxed(connection, process)
      chains[connection] = (isIgnored ? [process] : claims.sorted()).map { chain(of: $0, for: connection) }
    }
    let claims = claims
    for (connection, process) in others.known where claims.contains(process) && chains[connection] == nil {
      guard connection != link.daemon?.connection.uniqueName else { continue }
      chains[connection] = [chain(of: process, for: connection)]
    }
    return chains
  }

  private func isSandboxed(_ connection: BusName, _ process: UInt32) -> Bool {
    if let known = sandboxed[connection] { return known }
    let isSandboxed = processes.isSandboxed(process)
    sandboxed[connection] = isSandboxed
    return isSandboxed
  }

  private func chain(of process: UInt32, for connection: BusName) -> [UInt32] {
    if let chain = parents[connection]?[process] { return chain }
    let chain = processes.chain(of: process)
    parents[connection, default: [:]][process] = chain
    return chain
  }
}
