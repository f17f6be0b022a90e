internal import DBus
internal import DBusTypes
internal import EventLoop

/// The requests that the extension has not answered.
final class BrowserCalls {
  typealias Completion = (Result<Void, DBusError>) -> Void

  /// How long a page may take.
  static let patience = Duration.seconds(3)
  /// The most that wait: the daemon has as many calls of one program under way.
  private static let most = 256

  private let loop: EventLoop
  private let pipe: BrowserPipe
  private var waiting: [UInt64: (request: BrowserRequest, timer: TimerID, done: Completion)] = [:]
  private var last: UInt64 = 0

  init(_ pipe: BrowserPipe, on loop: EventLoop) { (self.pipe, self.loop) = (pipe, loop) }

  /// Sends a request, and calls `done` once with what it came to.
  func send(_ request: BrowserRequest, _ done: @escaping Completion) {
    last += 1
    let call = last
    guard let message = request.message(call: call) else {
      return done(.failure(DBusError(.invalidArgs, "a page takes finite numbers only")))
    }
    guard message.count <= BrowserRequest.longestMessage else {
      return done(
        .failure(
          DBusError(
            .limitsExceeded,
            "a browser takes a request of \(BrowserRequest.longestMessage) bytes at most, and this has \(message.count)"
          )))
    }
    guard waiting.count < Self.most, pipe.send(message) else {
      return done(.failure(DBusError(.limitsExceeded, "the browser has too many requests to answer")))
    }
    let timer = loop.schedule(after: Self.patience) { [weak self] in
      let message =
        request.isOfTab
        ? "the browser did not do so within \(Self.patience): its page may have it ask the user"
        : "the page did not answer within \(Self.patience)"
      self?.answer(call, .failure(DBusError(.timeout, message)))
    }
    waiting[call] = (request, timer, done)
  }

  /// Completes the request `call`; an answer that nobody waits for is dropped.
  func answer(_ call: UInt64, _ result: Result<Void, DBusError>) {
    guard let (_, timer, done) = waiting.removeValue(forKey: call) else { return }
    loop.cancel(timer)
    done(result)
  }

  /// Completes all requests, since the browser has ended: it may have done so because its last tab was closed.
  func browserLeft() {
    for (call, (request, _, _)) in waiting.sorted(by: { $0.key < $1.key }) {
      answer(call, request.closesTab ? .success(()) : .failure(.browserGone))
    }
  }
}

extension Refusal {
  /// What the writer is told.
  var error: DBusError {
    switch self {
    case .gone: DBusError(.unknownObject, "the element is not shown any more")
    case .unfocused:
      DBusError(.failed, "the element does not have focus in its page: call RequestFocus first")
    case .elsewhere:
      DBusError(.failed, "the page does not have focus, but the address bar, say, or a frame that is not shared")
    case .readOnly: DBusError(.propertyReadOnly, "the element is read-only or disabled in its page")
    case .refused: DBusError(.failed, "the page did not do what was asked")
    case .unshared: DBusError(.accessDenied, "the user does not share this page: see the extension's button")
    }
  }
}
