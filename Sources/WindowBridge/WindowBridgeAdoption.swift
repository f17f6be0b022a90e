internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import EventLoop
internal import FocusContract
internal import ProgramSupport

/// Whose scenes are in which windows.
extension WindowBridge {
  func tellAdoptions() {
    guard isOwner, retryTimer == nil, let all = residents.all() else { return }
    let windows = fields.mapValues(\.published)
    let processes = programs.processes(
      of: windows, among: all.values.flatMap(\.lineages).map { Array($0.steps.joined()) })
    let possible = windows.reduce(into: [:]) { homes, entry in
      homes[entry.key] = Adoption.Home(process: processes[entry.key], title: entry.value.title)
    }
    var homes = adoption.homes(of: all, among: possible, limit: Limits.adoptedConnections)
    // The windows that a connection may speak for may be known only now.
    if learnFront() { homes = adoption.homes(of: all, among: possible, limit: Limits.adoptedConnections) }
    for field in fields.values.sorted(by: { $0.id < $1.id }) {
      let owners = homes[field.id] ?? []
      field.program = processes[field.id] ?? Self.onlyProcess(of: owners.compactMap { all[$0] })
      // The daemon may have come back with what a window has adopted whose process is told in a moment.
      guard let path = field.path, field.adopted != owners, !programs.isAwaited(field.published) else { continue }
      field.adopted = owners
      link.call(.field(path, "Adopt", [.strings(owners.map(\.text))])) { [weak self, weak field] result in
        guard let self, case .failure(let error) = result else { return }
        log.debug("\(path) adopts nothing: \(error.message)")
        guard error.name == Focus1.ioError else { return }
        field?.adopted = nil
        retryLater()
      }
    }
  }

  private static func onlyProcess(of residents: [Resident]) -> UInt32? {
    let processes = Set(residents.flatMap(\.lineages).compactMap { $0.steps.first?.first })
    return processes.count == 1 ? processes.first : nil
  }

  /// A program says that the window which a connection speaks for is active.
  func becameActive(_ connection: BusName) {
    witness.told(connection, at: .now)
    witnessLater()
  }

  /// Another window is in front, or none.
  func frontChanged() {
    witness.frontChanged(to: desktop.front, at: .now)
    witnessLater()
  }

  private func witnessLater() {
    if let witnessTimer { loop.cancel(witnessTimer) }
    witnessTimer = nil
    guard witness.connection != nil else { return }
    witnessTimer = loop.schedule(after: WindowWitness.calm) { [weak self] in
      guard let self else { return }
      witnessTimer = nil
      if learnFront() { tellAdoptions() }
    }
  }

  /// Takes over what a program said of the window in front, if nothing else was said for a while.
  /// - Returns: whether that is news.
  private func learnFront() -> Bool {
    guard witnessTimer == nil, let connection = witness.connection, let front = desktop.front else { return false }
    return adoption.learn(connection, in: front)
  }
}
