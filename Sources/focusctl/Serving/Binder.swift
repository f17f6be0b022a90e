import DBus
import DBusTypes
import DaemonClient
import EventLoop
import FocusContract
import Glibc
import ProgramSupport

/// Shows objects of other programs as fields, as a bridge, across restarts of the daemon, until the bus is gone.
final class Binder {
  private var plan: BindPlan
  private let link: Link
  private var names: [String: BoundName] = [:]
  /// The ids of their fields.
  private var ids: Set<String> = []
  private var end: CommandError?
  private var hasBegun = false
  /// What was said last, which is not said again.
  private var said: String?

  init(_ plan: BindPlan) {
    self.plan = plan
    self.plan.readSettings(report: Output.say)
    let rule: MatchRule =
      plan.isFamily ? .nameOwnerChanges(below: plan.name.text) : .nameOwnerChanges(of: plan.name)
    link = Link(on: EventLoop(), rules: [rule])
  }

  /// Binds until an error ends it.
  func run(_ daemon: DaemonConnection) throws(CommandError) {
    link.onEvent = { [weak self] in self?.handle($0) }
    if plan.hasSettings {
      do {
        let terminal = ControllingTerminal()
        _ = try SignalSource([SIGHUP], on: link.loop) { [weak self] _ in
          guard let self else { return }
          terminal.hungUp(on: link.loop, reload: readSettings) { [weak self] in
            self?.end = .refused("the terminal is closed")
          }
        }
      } catch {
        throw .refused("\(error)")
      }
    }
    do { try link.open(daemon) } catch { throw CommandError(error) }
    while end == nil { link.loop.turn() }
    link.stop()
    if let end { throw end }
  }

  private func handle(_ event: Link.Event) {
    switch event {
    case .arrived: arrived()
    case .left: for name in names.values { name.daemonLeft() }
    case .other(let message): received(message)
    case .refused(let error): end = end ?? CommandError(error)
    case .closed: end = end ?? CommandError(.noDaemon, "lost the connection to the bus")
    case .call(let message): link.refuse(message, of: "'\(Program.name) bind \(plan.id)'")
    case .signal: break
    }
  }

  private func arrived() {
    guard let connection = link.daemon?.connection else { return }
    guard !hasBegun else { return proceed() }
    hasBegun = true
    do throws(DBusError) {
      guard try connection.requestName(plan.bridge) else {
        end = .refused("another '\(Program.name) bind \(plan.id)' is running: the name '\(plan.bridge)' is taken")
        return
      }
    } catch {
      end = CommandError(error)
      return
    }
    if plan.startsOwners { startOwners(connection) }
    findNames(connection)
  }

  private func findNames(_ connection: Connection) {
    // Signals that come before the answer tell nothing newer than it.
    connection.askNames { [weak self] result in
      guard let self, case .success(let all) = result else { return }
      for name in all.map(\.text).naturallySorted() where plan.includes(name) { bound(name).isThere() }
    }
  }

  /// The user changed the settings: `systemctl reload`.
  private func readSettings() {
    plan.readSettings(report: Output.say)
    for (name, bound) in names where !plan.includes(name) { bound.ownerChanged(isPresent: false) }
    if hasBegun, let connection = link.daemon?.connection { findNames(connection) }
  }

  private func proceed() { for name in names.keys.naturallySorted() { names[name]?.proceed() } }

  private func bound(_ name: String) -> BoundName {
    if let bound = names[name] { return bound }
    let id = plan.id(for: name, besides: ids)
    let bound = BoundName(name, id: id, link, plan.registration(of: name)) { [weak self] in self?.ended($0, $1) }
    names[name] = bound
    ids.insert(id)
    return bound
  }

  private func received(_ message: Message) {
    guard let change = message.nameOwnerChange, plan.includes(change.name.text) else { return }
    let (name, isPresent) = (change.name.text, change.now != nil)
    guard isPresent || names[name] != nil else { return }
    bound(name).ownerChanged(isPresent: isPresent)
  }

  private func ended(_ name: BoundName, _ end: BoundName.End) {
    func message(_ error: DBusError) -> String { "cannot bind '\(name.name)' as '\(name.id)': \(error.message)" }
    switch end {
    case .finished:
      names[name.name] = nil
      ids.remove(name.id)
    case .noDaemon(let error): say(CommandError(error).message ?? "", isOnce: true)
    // One name alone need not wait for what others hold.
    case .delayed(let error) where [.limitsExceeded, Focus1.fieldExists].contains(error.name) && !plan.isFamily:
      self.end = .refused(message(error))
    case .delayed(let error): say(message(error) + "; it is tried again")
    case .refused(let error): if plan.isFamily { say(message(error)) } else { self.end = .refused(message(error)) }
    }
  }

  private func say(_ message: String, isOnce: Bool = false) {
    guard !isOnce || said != message else { return }
    said = message
    Output.say(message)
  }

  // MARK: Activation

  private func startOwners(_ connection: Connection) {
    guard plan.isFamily else { return start(plan.name.text, connection) }
    connection.askActivatableNames { [weak self, weak connection] result in
      guard let self, let connection, case .success(let names) = result else { return }
      for name in names.map(\.text).naturallySorted() where plan.includes(name) { start(name, connection) }
    }
  }

  private func start(_ name: String, _ connection: Connection) {
    connection.askToStart(name) { [weak self] result in
      guard let self, case .failure(let error) = result else { return }
      let message = "cannot start '\(name)': \(error.message)"
      if plan.isFamily { say(message) } else { end = end ?? .refused(message) }
    }
  }
}

/// The command that binds objects of other programs.
enum Binding {
  static func bind(_ call: Invocation) throws(CommandError) {
    let plan = try BindPlan(call.operands[0], call.options)
    let binder = Binder(plan)
    try binder.run(try call.connect())
    withExtendedLifetime(binder) {}
  }
}
