import DBus
import DBusTypes
import Glibc

/// Follows the values of one object of the daemon, across the daemon's restarts.
///
/// It subscribes before it reads. What signals say before the reply to `ReadAll` is at least as new as the reply, since
/// the daemon sends every change before the replies of the same turn: it replaces what the reply says.
final class Watcher {
  /// What is called with each set of changes that belong together.
  typealias Handler = ([WatchState.Change]) throws(CommandError) -> Void

  private typealias News = [(key: String, value: DBusValue?)]

  private let client: Client
  private let path: ObjectPath
  let loop = EventLoop()
  private var state: WatchState
  private let handler: Handler
  private var end: CommandError?
  private var reader: HangupSource?

  /// Which reading the next reply must belong to: an older one may still come.
  private var reading = 0
  /// What came while the reading is under way, with its senders; nil while none is.
  private var early: [(sender: BusName?, news: News)]?
  private var owner: BusName?

  init(_ client: Client, _ path: ObjectPath, _ requests: [KeyArgument], _ handler: @escaping Handler) {
    self.client = client
    self.path = path
    self.handler = handler
    state = WatchState(requests)
  }

  /// Calls the handler with the state now and with each change, until that throws or the bus is gone.
  /// - Throws: `CommandError`: what the handler threw, or status 3.
  func run() throws(CommandError) {
    do {
      try client.connection.addMatch(
        MatchRule(
          sender: Focus1.busName, path: path, interface: .properties, member: MemberName(known: "PropertiesChanged")))
      try client.connection.addMatch(
        MatchRule(
          sender: .bus, interface: .bus, member: MemberName(known: "NameOwnerChanged"),
          arguments: [0: Focus1.busName.text]))
      if path != Focus1.focused {
        try client.connection.addMatch(
          MatchRule(sender: Focus1.busName, path: Focus1.root, interface: .objectManager))
      }
    } catch {
      throw CommandError(error)
    }
    client.connection.onMessage = { [weak self] in self?.received($0) }
    client.connection.onDisconnect = { [weak self] in
      self?.stop(CommandError(.noDaemon, "the bus is gone"))
    }
    client.connection.attach(to: loop)
    read()
    while end == nil { loop.turn() }
    client.connection.detach()
    if let end { throw end }
  }

  /// Ends with status 0 when whoever reads standard output is gone.
  func endWithReader() {
    reader = HangupSource(STDOUT_FILENO, on: loop) { [weak self] in self?.stop(CommandError(.done)) }
  }

  /// Ends with `error` when `limit` has passed.
  func end(after limit: Duration, _ error: CommandError) {
    loop.schedule(after: limit) { [weak self] in self?.stop(error) }
  }

  /// Ends as `error` says.
  func stop(_ error: CommandError) { end = end ?? error }

  private func read() {
    reading += 1
    early = []
    let number = reading
    do {
      let message = try client.message(path, Focus1.bindings, "ReadAll")
      try client.connection.call(message, timeout: client.timeout) { [weak self] result in
        // The connection ends its calls also when it outlives the watcher.
        guard let self, number == reading, end == nil else { return }
        answered(result)
      }
    } catch {
      stop(CommandError(error))
    }
  }

  private func answered(_ result: Result<Message, DBusError>) {
    let early = early ?? []
    self.early = nil
    do {
      let reply = try result.get().success()
      owner = reply.sender
      let arguments = try reply.arguments()
      guard var values = Bindings.values(of: arguments) else { throw client.unexpected(arguments, to: "ReadAll") }
      for (sender, news) in early where sender == owner {
        for (key, value) in news { values[key] = value }
      }
      let isFirst = !state.hasBegun
      let changes = state.replace(with: values)
      // Later, a short key that could be several is nil: a status bar is to survive that.
      if isFirst { try state.requireUnambiguous() }
      show(changes)
    } catch let error as CommandError {
      stop(error)
    } catch let error as DBusError {
      let isLater = error.name == .unknownObject && state.hasBegun
      if error.meansNoDaemon || isLater {
        show(state.replace(with: [:]))
      } else {
        stop(client.explained(CommandError(error), error, path))
      }
    } catch {
      stop(.refused("\(error)"))
    }
  }

  private func show(_ changes: [WatchState.Change]) {
    guard !changes.isEmpty else { return }
    do { try handler(changes) } catch { stop(error) }
  }

  private func received(_ message: Message) {
    guard end == nil, message.kind == .signal, let arguments = try? message.arguments() else { return }
    switch (message.interface, message.member?.text) {
    case (.bus, "NameOwnerChanged") where message.sender == .bus:
      guard arguments.first == .string(Focus1.busName.text), case .string(let new)? = arguments.last else { return }
      ownerChanged(to: new)
    case (.properties, "PropertiesChanged") where message.path == path:
      let news = Watcher.news(arguments)
      guard !news.isEmpty else { return }
      if early != nil {
        early?.append((message.sender, news))
      } else if message.sender == owner {
        show(state.apply(news))
      }
    case (.objectManager, "InterfacesAdded") where arguments.first == .objectPath(path): read()
    case (.objectManager, "InterfacesRemoved") where arguments.first == .objectPath(path): read()
    default: break
    }
  }

  private func ownerChanged(to new: String) {
    owner = nil
    if !new.isEmpty {
      read()
    } else if early == nil {
      show(state.replace(with: [:]))
    }
  }

  /// What a `PropertiesChanged` with `arguments` says of keys.
  private static func news(_ arguments: [DBusValue]) -> News {
    guard arguments.count == 3, case .string(let interface) = arguments[0], !Focus1.isOwn(interface),
      case .dictionary(let changed) = arguments[1], case .array(let invalidated) = arguments[2]
    else { return [] }
    let values = changed.entries.map { ($0.key.basicText ?? "", $0.value.variantContent) }
    let gone = invalidated.map { ($0.basicText ?? "", DBusValue?.none) }
    return (values + gone).map { (key: "\(interface).\($0.0)", value: $0.1) }
  }
}
