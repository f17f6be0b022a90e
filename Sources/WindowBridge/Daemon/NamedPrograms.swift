internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import ProgramSupport

/// The processes of windows; if a window manager does not tell them, by the names of programs.
final class NamedPrograms {
  private let link: Link
  private let processes: Processes
  private let log: Log
  /// What the programs are called that connections belong to.
  private var names: [UInt32: Set<String>] = [:]
  private var owners: [String: NameOwner] = [:]
  /// The answers of a bus before this one mean nothing.
  private var session = 0
  private var hasLogged = false

  /// Who owns an application's name on the bus.
  private struct NameOwner {
    /// The windows of the application that were there last.
    var windows: Set<WindowID> = []
    /// The process, 0 for none, and nil if the bus has not answered yet.
    var process: UInt32?
  }

  /// Called when the processes of windows may be others.
  var onChange: (() -> Void)?

  init(_ link: Link, _ processes: Processes, _ log: Log) {
    self.link = link
    self.processes = processes
    self.log = log
  }

  /// Forgets everything: the daemon, or the bus, is gone.
  func end() {
    session += 1
    (names, owners) = ([:], [:])
  }

  /// Finds the process of each window; `chains` are processes that have fields, each followed by its Flatpak's and its parents.
  ///
  /// Without the window manager's word it is the one that owns the application's name on the bus, or that is called so:
  /// only if no other window is of that application, and no other process is called so.
  /// - Returns: those that are known.
  func processes(of windows: [WindowID: Window], among chains: some Sequence<[UInt32]>) -> [WindowID: UInt32] {
    var found = windows.compactMapValues(\.process)
    var applications: [WindowID: String] = [:]
    for (id, window) in windows where window.process == nil { applications[id] = window.application }
    var named: [String: Set<WindowID>] = [:]
    for (id, application) in applications { named[application, default: []].insert(id) }
    // A program that comes back is another process, also if it is back before anyone has looked.
    owners = owners.filter { named[$0.key]?.isDisjoint(with: $0.value.windows) == false }
    guard !named.isEmpty else { return found }
    let chains = Array(chains)
    learn(Set(chains.joined()), named)
    let counts = Dictionary(applications.map { ($0.value.lowercased(), 1) }) { $0 + $1 }
    for (id, application) in applications {
      guard let owner = owners[application]?.process else { continue }
      let name = application.lowercased()
      let fitting = owner == 0 ? Set(chains.compactMap { nearest($0, name) }) : [owner]
      if counts[name] == 1, fitting.count == 1 { found[id] = fitting.first } else if !fitting.isEmpty { tellOnce() }
    }
    return found
  }

  /// Whether the bus has yet to tell the process of a window.
  func isAwaited(_ window: Window) -> Bool {
    guard window.process == nil, let application = window.application else { return false }
    return owners[application].map { $0.process == nil } ?? false
  }

  private func nearest(_ chain: [UInt32], _ name: String) -> UInt32? {
    chain.first { names[$0]?.contains(name) == true }
  }

  private func tellOnce() {
    guard !hasLogged else { return }
    hasLogged = true
    log.info(
      "this desktop does not tell the processes of windows, and several windows or programs fit each other by name: "
        + "the fields of such programs are in no window, unless their title tells it")
  }

  // MARK: Names

  private func learn(_ members: Set<UInt32>, _ applications: [String: Set<WindowID>]) {
    names = names.filter { members.contains($0.key) }
    for process in members where names[process] == nil {
      let all = processes.names(of: process, withCompanions: false).compactMap {
        $0.split(separator: "/").last?.lowercased()
      }
      names[process] = Set(all.filter { !Processes.isInterpreter($0) })
    }
    for (application, windows) in applications {
      if owners[application] == nil { ask(application) }
      owners[application]?.windows = windows
    }
  }

  private func ask(_ application: String) {
    guard let name = try? BusName(application), !name.isUnique, let connection = link.daemon?.connection else {
      owners[application] = NameOwner(process: 0)
      return
    }
    owners[application] = NameOwner()
    let session = session
    connection.askProcess(of: name, timeout: .seconds(25)) { [weak self] result in
      guard let self, session == self.session, owners[application] != nil else { return }
      owners[application]?.process = (try? result.get()) ?? 0
      onChange?()
    }
  }
}
