internal import BridgeSupport
internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import EventLoop

/// The windows that connections of bridges say their fields are in.
final class ProgramWindows {
  private static let patience = Duration.seconds(1)
  /// How often who does not answer in time is asked again, each time after twice as long.
  private static let mostAttempts = 6

  private let link: Link
  /// Nil: the connection tells of no window.
  private var windows: [BusName: ProgramWindow?] = [:]
  private var asked: Set<BusName> = []
  /// The answers of a bus before this one mean nothing.
  private var session = 0
  /// Called when a title is known, or another.
  var onChange: (() -> Void)?
  /// Called when the window of a connection becomes active, or is when it is told first.
  var onActive: ((BusName) -> Void)?

  init(_ link: Link) { self.link = link }

  /// Forgets everything: the daemon, or the bus, is gone.
  func end() {
    session += 1
    (windows, asked) = ([:], [])
  }

  /// Whether some connection has yet to answer.
  var isAsking: Bool { !asked.isEmpty }

  /// Whether `connection` has yet to answer.
  func isAwaited(_ connection: BusName) -> Bool { asked.contains(connection) }

  subscript(connection: BusName) -> ProgramWindow? { windows[connection] ?? nil }

  /// Asks `connection`, once; again if it does not answer in time.
  func ask(_ connection: BusName) {
    guard windows.index(forKey: connection) == nil, asked.insert(connection).inserted else { return }
    ask(connection, attempt: 0)
  }

  private func ask(_ connection: BusName, attempt: Int) {
    guard let question = ProgramWindowInterface.question(to: connection) else {
      asked.remove(connection)
      return
    }
    let session = session
    do throws(DBusError) {
      try link.daemon?.connection.call(question, timeout: Self.patience) { [weak self] result in
        guard let self, session == self.session, isAwaited(connection) || windows[connection] != nil else { return }
        answered(connection, result, attempt)
      }
    } catch {
      asked.remove(connection)
    }
  }

  private func answered(_ connection: BusName, _ result: Result<Message, DBusError>, _ attempt: Int) {
    let wasAwaited = asked.remove(connection) != nil
    let window = (try? result.get()).flatMap { ProgramWindowInterface.window(in: $0) }
    if wasAwaited || window != nil {
      windows[connection] = .some(window)
      onChange?()
    }
    if window?.isActive == true { onActive?(connection) }
    guard result.isLate, attempt < Self.mostAttempts else { return }
    link.loop.schedule(after: Self.patience * (1 << attempt)) { [weak self, session] in
      guard let self, session == self.session, windows[connection] != nil else { return }
      ask(connection, attempt: attempt + 1)
    }
  }

  /// Takes over what a signal tells of a connection that was asked: what it says before its answer is no newer.
  func received(_ signal: Message) {
    guard let sender = signal.sender, let answer = windows[sender] else { return }
    // One that did not know its window may know it now.
    var new = answer ?? ProgramWindow()
    guard ProgramWindowInterface.update(&new, changedBy: signal), new != answer else { return }
    windows[sender] = new
    if new.title != answer?.title { onChange?() }
    if new.isActive, answer?.isActive != true { onActive?(sender) }
  }

  /// Forgets the connections that do not matter any more.
  func forget(except isWanted: (BusName) -> Bool) {
    windows = windows.filter { isWanted($0.key) }
    asked = asked.filter(isWanted)
  }
}
