internal import BridgeSupport
internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import FocusContract
internal import ProgramSupport

/// Which connections have scenes in which windows: follows the daemon's fields, and asks the bus whose they are.
final class Residents {
  private let link: Link
  private let processes: Processes
  private let fields: FieldFollower
  private var owners = FieldOwners()
  /// The processes of all connections, if some have fields for other processes than their own: with the option `service`
  /// the connection of that process counts, which the daemon does not show.
  private var others = ConnectionProcesses()
  /// The processes of each connection with their parents, as they were when it appeared: a shell in between may end.
  private var parents: [BusName: [UInt32: (chain: [UInt32], isInFlatpak: Bool)]] = [:]
  /// Whether connections whose word for their processes matters are in sandboxes.
  private var sandboxed: [BusName: Bool] = [:]
  /// What bridges say of programs' windows.
  let windows: ProgramWindows

  /// Whether all that were there at the beginning are known.
  private(set) var isSettled = false

  /// Called when the windows that connections belong to may be others.
  var onChange: (() -> Void)?

  init(_ link: Link, _ processes: Processes) {
    self.link = link
    self.processes = processes
    fields = FieldFollower(link)
    windows = ProgramWindows(link)
    fields.onChange = { [weak self] path, before, _ in
      guard let self, owners.changed(path, from: before, in: fields.fields), fields.hasRead else { return }
      changed()
    }
    fields.onProcess = { [weak self] in self?.told() }
    windows.onChange = { [weak self] in self?.told() }
  }

  /// Forgets everything: the daemon, or the bus, is gone.
  func end() {
    fields.end()
    windows.end()
    isSettled = false
    owners = FieldOwners()
    others = ConnectionProcesses()
    parents = [:]
    sandboxed = [:]
  }

  /// Reads the fields of a daemon that has come, and calls `handler` when they are known, with those of this connection.
  func begin(_ handler: @escaping (_ own: [ObjectPath]) -> Void) {
    end()
    fields.begin { [weak self] in
      guard let self else { return }
      changed()
      let own = link.daemon?.connection.uniqueName?.text
      handler(fields.fields.filter { $0.value.owner == own }.keys.sorted { $0.text < $1.text })
    }
  }

  /// Takes over what a signal says of a field.
  func received(_ signal: DaemonSignal) { fields.received(signal) }

  /// Takes over what another program's signal may say of a connection's window.
  func received(_ signal: Message) { windows.received(signal) }

  // MARK: Processes

  /// The connections with scenes, but for this one, each with the processes that these belong to.
  private var scenes: [BusName: Set<UInt32>] {
    var scenes = owners.processes
    if let own = link.daemon?.connection.uniqueName { scenes[own] = nil }
    return scenes
  }

  private func changed() {
    let current = scenes
    fields.forgetProcesses { current[$0] != nil }
    windows.forget { current[$0] != nil }
    parents = parents.filter { current[$0.key] != nil || others[$0.key] != nil }
    sandboxed = sandboxed.filter { current[$0.key] != nil }
    for connection in current.keys { _ = fields.process(of: connection) }
    told()
  }

  private func told() {
    for bridge in bridges { windows.ask(bridge.connection) }
    if !fields.isAsking, !windows.isAsking { isSettled = true }
    seekOthers()
    onChange?()
  }

  /// The connections with scenes of other processes than their own.
  private var bridges: [(connection: BusName, own: UInt32, processes: Set<UInt32>)] {
    scenes.compactMap { connection, processes in
      guard let own = fields.process(of: connection), processes.contains(where: { $0 != own }) else { return nil }
      return (connection, own, processes)
    }
  }

  /// The processes that connections have fields for and that are not their own.
  private var claims: Set<UInt32> {
    var claims: Set<UInt32> = []
    for bridge in bridges where !isSandboxed(bridge.connection, bridge.own) {
      claims.formUnion(bridge.processes.subtracting([bridge.own]))
    }
    return claims
  }

  /// Looks for the connections of processes that others have fields for.
  private func seekOthers() {
    guard !claims.isEmpty, let connection = link.daemon?.connection else { return }
    others.read(from: connection) { [weak self] in self?.onChange?() }
  }

  /// The connections with scenes, with what decides which windows these are in; nil until all their processes are known.
  ///
  /// A field's own word for its process counts, unless its connection is in a sandbox, where processes have other numbers.
  func all() -> [BusName: Resident]? {
    guard fields.hasRead, !fields.isAsking else { return nil }
    var residents: [BusName: Resident] = [:]
    for (connection, claims) in scenes {
      let process = fields.process(of: connection) ?? 0
      let isIgnored = claims.contains { $0 != process } && isSandboxed(connection, process)
      let lineages = (isIgnored ? [process] : claims.sorted()).map { lineage(of: $0, for: connection) }
      let (title, isAwaited) = (windows[connection]?.title, windows.isAwaited(connection))
      residents[connection] = Resident(
        lineages, title: title, isAwaited: isAwaited,
        isTrusted: (title != nil || isAwaited) && !isSandboxed(connection, process))
    }
    let claims = claims
    for (connection, process) in others.known where claims.contains(process) && residents[connection] == nil {
      guard connection != link.daemon?.connection.uniqueName else { continue }
      residents[connection] = Resident([lineage(of: process, for: connection)])
    }
    return residents
  }

  private func isSandboxed(_ connection: BusName, _ process: UInt32) -> Bool {
    if let known = sandboxed[connection] { return known }
    let isSandboxed = processes.isSandboxed(process)
    sandboxed[connection] = isSandboxed
    return isSandboxed
  }

  private func lineage(of process: UInt32, for connection: BusName) -> Lineage {
    let known = parents[connection]?[process]
    // More of a Flatpak's may be started at any time.
    let companions = known?.isInFlatpak == false ? [] : processes.companions(of: process)
    let chain = known?.chain ?? processes.chain(of: process)
    parents[connection, default: [:]][process] = (chain, known?.isInFlatpak ?? !companions.isEmpty)
    return Lineage(chain, companions: companions)
  }
}
