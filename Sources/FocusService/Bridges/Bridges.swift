internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// The connections that own names below `org.focusd.Bridge1.`, and so may speak for programs that never heard of focusd.
final class Bridges {
  /// What the bus tells of every such name.
  static let rule = MatchRule.nameOwnerChanges(below: "org.focusd.Bridge1")

  private var owners: [BusName: BusName] = [:]
  /// How many bridges' names each connection owns.
  private var counts: [BusName: Int] = [:]
  /// The bridges' names that were on the bus at the start and whose owners are unknown.
  private var unknown: Set<BusName> = []

  /// Whether `name` is a bridge's.
  static func isName(_ name: BusName) -> Bool { name.text.hasPrefix("org.focusd.Bridge1.") }

  /// Begins with the names that are on the bus.
  func begin(among names: Set<BusName>, windowBridge: BusName?) {
    unknown = names.filter { Bridges.isName($0) }
    setOwner(of: Focus1.windowBridge, windowBridge)
  }

  /// Whether `connection` owns a bridge's name; nil if the bus must be asked for that.
  func isBridge(_ connection: BusName) -> Bool? {
    counts[connection] != nil ? true : unknown.isEmpty ? false : nil
  }

  /// Some names whose owners are not known.
  func unknown(atMost count: Int) -> [BusName] { Array(unknown.prefix(count)) }

  /// Takes note of who owns `name` now.
  func setOwner(of name: BusName, _ owner: BusName?) {
    unknown.remove(name)
    if let former = owners[name] { counts[former] = counts[former].flatMap { $0 > 1 ? $0 - 1 : nil } }
    if let owner { counts[owner, default: 0] += 1 }
    owners[name] = owner
  }
}

extension FocusService {
  /// How many names' owners the bus is asked for at once: others wait no longer than for one call.
  private static let questionsAtOnce = 64

  /// Calls `body` when it is known whether `client` owns a bridge's name: who owns those that were there at the start is
  /// asked for only then.
  func findBridge(_ client: BusName, _ body: @escaping (_ isBridge: Bool) -> Void) {
    if let isBridge = bridges.isBridge(client) { return body(isBridge) }
    let names = bridges.unknown(atMost: FocusService.questionsAtOnce)
    var left = names.count
    for name in names {
      connection.askOwner(of: name) { [weak self] result in
        guard let self else { return }
        bridges.setOwner(of: name, try? result.get())
        left -= 1
        if left == 0 { findBridge(client, body) }
      }
    }
  }
}

/// `Field.Adopt`: the bus is asked first which of the names are on it.
extension FocusService {
  /// Begins an adoption, which is replied to when the bus has said which of `names` are on it.
  /// - Throws: `ModelError`: `accessDenied`, `invalid`; `DBusError`: `limitsExceeded`, `invalidArgs` for what is no unique
  ///   name.
  func adopt(_ names: [String], into window: FieldID, by client: BusName, _ reply: PendingReply) throws {
    guard names.count <= Limits.adoptedConnections else {
      throw DBusError(
        .limitsExceeded,
        "'owners' lists \(names.count) names, but a window adopts at most \(Limits.adoptedConnections)")
    }
    try model.checkAdoption(into: window, by: client)
    var connections: Set<BusName> = []
    for name in names {
      guard let connection = try? BusName(name), connection.isUnique else {
        throw DBusError(.invalidArgs, "'owners' lists '\(name.excerpt)', which is not a unique name such as ':1.42'")
      }
      connections.insert(connection)
    }
    try ownerCalls.enter(client)
    connection.askNames { [weak self] names in
      guard let self else { return }
      ownerCalls.leave(client)
      deliver(
        .answered(reply, changes: true) { service in
          try service.model.adopt(connections.intersection(names.get()), into: window, by: client)
          return .empty
        })
    }
  }
}

/// The processes of the connections that have fields: the bus is asked for each once, and nothing waits for its answer.
extension FocusService {
  /// Asks for the process that the field `id` belongs to, unless its registrant has said so or it is known.
  func findProcess(of id: FieldID) {
    guard let field = model.fields[id], field.claimedProcess == nil, let holder = field.connection,
      model.process(of: field) == 0, !askedProcesses.contains(holder)
    else { return }
    askProcess(of: holder)
  }

  /// Asks for the process of `holder`, which is published with its fields; a recovery under way waits for the answer.
  func askProcess(of holder: BusName) {
    askedProcesses.insert(holder)
    connection.askProcess(of: holder, timeout: .seconds(25)) { [weak self] result in
      guard let self else { return }
      // Who has left meanwhile has no process any more.
      if askedProcesses.contains(holder), let process = try? result.get() {
        model.found(process, of: holder, isShown: persistence.recovery == nil)
      }
      recoveryMayEnd(after: holder)
    }
  }

  /// Forgets the process of `connection`, which has left the bus.
  func forgetProcess(of connection: BusName) {
    guard askedProcesses.remove(connection) != nil else { return }
    model.found(nil, of: connection)
  }
}
