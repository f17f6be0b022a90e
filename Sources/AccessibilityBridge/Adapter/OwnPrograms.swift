internal import BridgeSupport
internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import FocusContract
internal import ProgramSupport

/// The programs that register fields of their own: the bridge stays out of them.
final class OwnPrograms {
  /// How much of a program is its own.
  enum Part {
    case none
    /// A terminal in it runs a program that registers fields: all but the terminals is the bridge's.
    case terminals
    case whole
  }

  /// The process of who registered fields and its parents; those after the first `own` have a terminal in which these run.
  private struct Chain {
    var processes: [UInt32]
    var own: Int
  }

  /// The names of bridges, whose fields are other programs'.
  private static let bridges = "org.focusd.Bridge1"
  static let rules: [MatchRule] = [
    .fields,
    .nameOwnerChanges(below: bridges),
  ]

  private let link: Link
  private let fields: FieldFollower
  private var bridgeOwners: [String: String] = [:]
  /// The processes, each with its parents, until something changes.
  private var known: [Chain]?
  /// Those of the daemon that has gone, until the fields of the next are known.
  private var former: [Chain]?
  /// Called when there may be others.
  var onChange: (() -> Void)?

  init(_ link: Link) {
    self.link = link
    fields = FieldFollower(link)
    fields.onChange = { [weak self] _, before, now in
      guard let self, before.flatMap(owner) != nil || now.flatMap(owner) != nil else { return }
      changed()
    }
    fields.onProcess = { [weak self] in self?.changed() }
  }

  /// Whether the process, or another for it, has registered fields; what a program starts is the program's, but not what a
  /// program of `others` between them starts, nor what somebody starts in a terminal that the program shows.
  func part(of process: UInt32, among others: Set<UInt32>) -> Part {
    var part = Part.none
    for chain in chains {
      let index = chain.processes.firstIndex { $0 == process || others.contains($0) }
      guard let index, chain.processes[index] == process else { continue }
      if index < chain.own { return .whole }
      part = .terminals
    }
    return part
  }

  private var chains: [Chain] {
    let chains = known ?? findChains()
    known = chains
    if fields.hasRead, !fields.isAsking { former = nil }
    return former ?? chains
  }

  private func findChains() -> [Chain] {
    let bridges = Set(bridgeOwners.values)
    let all = fields.fields.values.filter { !bridges.contains($0.owner) }
    let owners = Set(fields.fields.values.map(\.owner))
    fields.forgetProcesses { $0 == link.daemon?.connection.uniqueName || owners.contains($0.text) }
    return Set(all.flatMap { processes(of: $0) }).map { process in
      let parents = Processes().chain(of: process).filter { $0 > 1 }
      let terminal = Processes().terminal(of: process) ?? 0
      let own = terminal == 0 ? parents.count : parents.prefix { Processes().terminal(of: $0) == terminal }.count
      // A Flatpak may be on the session bus by itself, and on the other by a proxy.
      let companions = Processes().companions(of: process)
      return Chain(
        processes: parents.prefix(1) + companions + parents.dropFirst(), own: own + companions.count)
    }
  }

  /// Whether the window bridge runs: then the keys of windows are its own.
  var hasWindows: Bool { bridgeOwners[Focus1.windowBridge.text] != nil }

  /// The owner's process, and the one that it speaks for, unless it is in a sandbox and so may not.
  private func processes(of field: FieldOrigin) -> [UInt32] {
    guard let owner = owner(of: field) else { return [] }
    return owner == field.process || Processes().isSandboxed(owner) ? [owner] : [owner, field.process]
  }

  /// The process of who registered a field, if it is known and not this one; of a field that lingers, none: it need not show it.
  ///
  /// The daemon may still tell of the fields of a connection of this process that was closed with its window.
  private func owner(of field: FieldOrigin) -> UInt32? {
    guard !field.lingers, let name = try? BusName(field.owner), let this = link.daemon?.connection.uniqueName,
      let own = fields.process(of: this), own > 0, let owner = fields.process(of: name), owner > 0, owner != own
    else { return nil }
    return owner
  }

  /// The daemon is there: reads its fields.
  func begin() {
    link.daemon?.connection.askNames { [weak self] result in
      for name in (try? result.get()) ?? [] where name.text.hasPrefix(Self.bridges + ".") {
        self?.link.daemon?.connection.askOwner(of: name) { owner in
          if let owner = try? owner.get() { self?.ownerChanged(name, to: owner) }
        }
      }
    }
    fields.begin { [weak self] in self?.changed() }
  }

  /// The daemon is gone, with all fields.
  func end() {
    former = chains
    fields.end()
    changed()
  }

  func received(_ signal: DaemonSignal) { fields.received(signal) }

  /// Another connection owns `name`, or none does, if that is a bridge's.
  func ownerChanged(_ name: BusName, to owner: BusName?) {
    guard name.text.hasPrefix(Self.bridges + ".") else { return }
    bridgeOwners[name.text] = owner?.text
    changed()
  }

  private func changed() {
    known = nil
    onChange?()
  }
}
