internal import DBus
internal import DBusTypes
package import EventLoop

/// GNOME Shell, by the extension that comes with the bridge.
package final class GNOMESource: WindowSource {
  /// How long the shell may take: it answers nobody while it starts.
  private static let patience = Duration.seconds(25)
  /// More than all windows take: the memory that a message takes is a multiple of its size.
  private static let messageLength = 4 << 20
  private static let owner = MatchRule.nameOwnerChanges(of: GNOMEState.busName)

  private let bus: String
  private let loop: EventLoop
  private var connection: Connection?
  /// The connection of the shell: only its signals count.
  private var shell: BusName?
  private var state = GNOMEState()
  /// The programs whose process the bus was asked for.
  private var asked: Set<BusName> = []
  /// How many of them it has not told yet.
  private var awaited = 0
  /// What the bridge knows.
  private var told = Desktop()
  private var willTell = false

  package var onChange: ((Desktop) -> Void)?
  package var onEnd: ((String) -> Void)?

  /// Follows the shell whose extension is on the bus at an address.
  package init(bus: String, on loop: EventLoop) {
    self.bus = bus
    self.loop = loop
  }

  /// Whether the extension is on the bus at an address.
  package static func isPresent(on bus: String) -> Bool {
    guard let connection = try? Connection(to: .address(bus), timeout: .seconds(5)) else { return false }
    return (try? connection.owner(of: GNOMEState.busName)) != nil
  }

  package func start() throws {
    let connection = try Connection(to: .address(bus), timeout: .seconds(5))
    connection.limitMessages(to: Self.messageLength)
    guard let shell = try connection.owner(of: GNOMEState.busName, adding: [Self.owner]) else {
      throw DBusError(.nameHasNoOwner, "GNOME's extension is not on the bus: enable it, and log in again")
    }
    state = GNOMEState(shell: (try? connection.processID(of: shell)) ?? 0)
    (asked, awaited) = ([], 0)
    self.shell = shell
    self.connection = connection
    connection.onMessage = { [weak self] in self?.received($0) }
    connection.onDisconnect = { [weak self, weak loop] in
      loop?.schedule(after: .zero) { self?.end("the connection to GNOME's extension is gone, or it sends too much") }
    }
    connection.attach(to: loop)
    // What happens before the answer is in it, and what happens later is told after it.
    try call("Follow", on: connection) { [weak self] in self?.answered($0) }
  }

  package func stop() {
    connection?.detach()
    connection = nil
    willTell = false
  }

  private func end(_ reason: String) {
    guard connection != nil else { return }
    stop()
    onEnd?(reason)
  }

  // MARK: What the extension tells

  private func answered(_ result: Result<[DBusValue], DBusError>) {
    do {
      switch result {
      case .success(let values): try state.followed(values)
      case .failure(let error) where Self.silences.contains(error.name):
        return end("GNOME's extension does not answer: \(error.message)")
      case .failure: throw GNOMEState.Mismatch()
      }
      askForProcesses()
      tell()
    } catch {
      end("\(error)")
    }
  }

  /// The errors that say nothing of the extension's version.
  private static let silences = [
    ErrorName.noReply, .timeout, .disconnected, .serviceUnknown, .nameHasNoOwner,
  ]

  private func received(_ message: Message) {
    guard message.kind == .signal, let arguments = try? message.arguments() else { return }
    if message.sender == .bus {
      guard message.nameOwnerChange?.name == GNOMEState.busName else { return }
      // Not from within the connection's own dispatching.
      loop.schedule(after: .zero) { [weak self] in self?.end("GNOME Shell or its extension has ended") }
    } else if message.sender == shell, message.interface == GNOMEState.interface, let member = message.member {
      let front = state.desktop.front
      state.signal(member.text, arguments)
      if member.text == "Window" { askForProcesses() }
      // One by one: which window was in front before a launcher matters.
      if state.desktop.front != front { tell() } else { tellSoon() }
    }
  }

  private func askForProcesses() {
    let unknown = state.unknownPrograms
    for program in unknown.subtracting(asked) {
      guard let connection else { return }
      awaited += 1
      connection.askProcess(of: program, timeout: Self.patience) { [weak self, weak connection] result in
        guard let self, let connection, connection === self.connection else { return }
        awaited -= 1
        if let process = try? result.get() { state.know(process, of: program) }
        tellSoon()
      }
    }
    asked = unknown
  }

  /// Tells what has changed, once the processes are known: without them, windows of one application are taken for each other.
  private func tell() {
    willTell = false
    guard awaited == 0, state.desktop != told else { return }
    told = state.desktop
    onChange?(told)
  }

  /// Tells what has arrived by then at once.
  private func tellSoon() {
    guard !willTell else { return }
    willTell = true
    loop.schedule(after: .zero) { [weak self] in if self?.willTell == true { self?.tell() } }
  }

  // MARK: What the extension is asked for

  private func call(
    _ member: String, _ arguments: [DBusValue] = [], on connection: Connection,
    _ handler: @escaping (Result<[DBusValue], DBusError>) -> Void
  ) throws(DBusError) {
    let message = try OutgoingMessage.methodCall(
      to: shell, path: GNOMEState.path, interface: GNOMEState.interface, member: MemberName(known: member), arguments)
    try connection.call(message, timeout: Self.patience) { result in
      handler(Result { () throws(DBusError) in try result.get().success().arguments() })
    }
  }

  private func ask(_ member: String, _ arguments: [DBusValue], _ completion: @escaping (String?) -> Void) {
    guard let connection else { return completion("the window manager is gone") }
    do throws(DBusError) {
      try call(member, arguments, on: connection) { result in
        guard case .failure(let error) = result else { return completion(nil) }
        completion(WindowText.cut(error.message, limit: WindowText.titleLength))
      }
    } catch {
      completion(error.message)
    }
  }

  package func raise(_ window: WindowID, _ completion: @escaping (String?) -> Void) {
    ask("Activate", [.uint64(window.number)], completion)
  }

  package func perform(_ action: WindowAction, on window: WindowID, _ completion: @escaping (String?) -> Void) {
    ask("Perform", [.uint64(window.number), .string(action.rawValue)], completion)
  }
}
