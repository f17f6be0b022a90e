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
  /// The process that owns an application's name on the bus, 0 for none, and nil if the bus has not answered yet.
  private var owners: [String: UInt32?] = [:]
  /// The answers of a bus before this one mean nothing.
  private var session = 0
  private var hasLogged = false

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
    // A program that comes back is another process.
    let named = Set(applications.values)
    owners = owners.filter { named.contains($0.key) }
    guard !named.isEmpty else { return found }
    let chains = Array(chains)
    learn(Set(chains.joined()), named)
    let counts = Dictionary(applications.map { ($0.value.lowercased(), 1) }) { $0 + $1 }
    for (id, application) in applications {
      guard let owner = owners[application] ?? nil else { continue }
      let name = application.lowercased()
      let fitting = owner == 0 ? Set(chains.compactMap { nearest($0, name) }) : [owner]
      if counts[name] == 1, fitting.count == 1 { found[id] = fitting.first } else if !fitting.isEmpty { tellOnce() }
    }
    return found
  }

  /// Whether the bus has yet to tell the process of a window.
  func isAwaited(_ window: Window) -> Bool {
    guard window.process == nil, let application = window.application else { return false }
    return owners[application] == .some(nil)
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

  private func learn(_ members: Set<UInt32>, _ applications: Set<String>) {
    names = names.filter { members.contains($0.key) }
    for process in members where names[process] == nil {
      let all = processes.names(of: process, withCompanions: false).compactMap {
        $0.split(separator: "/").last?.lowercased()
      }
      names[process] = Set(all.filter { !Processes.isInterpreter($0) })
    }
    for application in applications where owners.index(forKey: application) == nil { ask(application) }
  }

  private func ask(_ application: String) {
    guard let name = try? BusName(application), !name.isUnique, let connection = link.daemon?.connection else {
      owners[application] = .some(0)
      return
    }
    owners.updateValue(nil, forKey: application)
    let session = session
    connection.askProcess(of: name, timeout: .seconds(25)) { [weak self] result in
      guard let self, session == self.session, owners.index(forKey: application) != nil else { return }
      owners[application] = .some((try? result.get()) ?? 0)
      onChange?()
    }
  }
}
