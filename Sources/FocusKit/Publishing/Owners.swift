internal import DBus
internal import Dispatch
internal import EventLoop
internal import FocusClient
internal import Synchronization

/// Asks the program's own code for values, on its threads, so that the client's never waits for it.
///
/// What belongs to the main actor runs there, all else on one queue of the client's. An owner that does not answer in time
/// is reported, and whoever asked gets an error; a write that has not begun by then is never made.
final class Owners {
  typealias Post = @Sendable (@escaping @Sendable () -> Void) -> Void
  typealias Handler<Value> = (Result<Value, DBusError>) -> Void

  /// Less than the daemon's own patience, 5 s.
  private static let patience = Duration.seconds(4)

  private let loop: EventLoop
  private let letters: Worker.Letters
  private let reporter: ErrorReporter
  private let own: Lane
  private let main = Lane { MainThread.post($0) }

  init(_ loop: EventLoop, _ letters: Worker.Letters, _ reporter: ErrorReporter) {
    (self.loop, self.letters, self.reporter) = (loop, letters, reporter)
    let queue = DispatchQueue(label: "org.focusd.FocusKit.owners")
    own = Lane { queue.async(execute: $0) }
  }

  /// What posts jobs to where closures of `isolation` run.
  func post(_ isolation: Isolation) -> Post { lane(isolation).post }

  private func lane(_ isolation: Isolation) -> Lane {
    if case .main = isolation { main } else { own }
  }

  /// Reads the value of `key` with `body`; an answer that comes too late is handed to `late`.
  ///
  /// An owner that is known not to answer holds nobody up.
  func read<Value: Sendable>(
    _ key: String, _ isolation: Isolation, _ body: @escaping @Sendable () throws -> Value,
    late: @escaping (Value) -> Void, _ handler: @escaping Handler<Value>
  ) {
    let isStuck = lane(isolation).isStuck
    if isStuck { handler(.failure(Self.error(key, isolation))) }
    ask(key, isolation, isStuck ? nil : handler, mayComeLate: true, body) { late($0) }
  }

  /// Has `body` make a write of `key`, unless it has not begun in time.
  func write<Value: Sendable>(
    _ key: String, _ isolation: Isolation, _ body: @escaping @Sendable () throws -> Value,
    _ handler: @escaping Handler<Value>
  ) { ask(key, isolation, handler, mayComeLate: false, body) { _ in } }

  /// Asks with `body`; without a `handler` nobody waits for the answer.
  private func ask<Value: Sendable>(
    _ key: String, _ isolation: Isolation, _ handler: Handler<Value>?, mayComeLate: Bool,
    _ body: @escaping @Sendable () throws -> Value, late: @escaping (Value) -> Void
  ) {
    let (question, lane, letters) = (Question(handler, lane(isolation), late), lane(isolation), letters)
    let start = question.start
    if handler != nil {
      question.timer = loop.schedule(after: Self.patience) { [reporter] in
        if !mayComeLate { _ = start.decide() }
        let error = Self.error(key, isolation)
        question.expire(error)
        reporter.report(FocusError(error))
      }
    }
    lane.post {
      let result: Result<Value, DBusError>?
      if start.decide() {
        result = Result { () throws(DBusError) in
          do { return try body() } catch { throw FocusError(any: error).onBus }
        }
      } else {
        result = nil
      }
      letters.post { question.answer(result, $0.link.loop) }
    }
  }

  private static func error(_ key: String, _ isolation: Isolation) -> DBusError {
    guard case .main = isolation else {
      return DBusError(.timeout, "the owner of '\(key)' does not answer: its closures take longer than \(patience)")
    }
    return DBusError(
      .timeout,
      "the owner of '\(key)' does not answer: the main actor is busy, or the main thread runs a loop that "
        + "'FocusClient.useMainLoop' does not know")
  }
}

/// Where closures run one after another.
private final class Lane {
  let post: Owners.Post
  /// Whether a job took too long, and none has ended since.
  var isStuck = false

  init(_ post: @escaping Owners.Post) { self.post = post }
}

/// Whether a job has begun, or is too late for that.
private final class Start: Sendable {
  private let isDecided = Atomic(false)

  /// - Returns: whether it was not decided before.
  func decide() -> Bool { !isDecided.exchange(true, ordering: .acquiringAndReleasing) }
}

/// A question that was not answered yet; only the client's thread uses it, others carry it there.
private final class Question<Value: Sendable>: @unchecked Sendable {
  private var handler: Owners.Handler<Value>?
  private let lane: Lane
  private let late: (Value) -> Void
  let start = Start()
  var timer: TimerID?

  init(_ handler: Owners.Handler<Value>?, _ lane: Lane, _ late: @escaping (Value) -> Void) {
    (self.handler, self.lane, self.late) = (handler, lane, late)
  }

  func expire(_ error: DBusError) {
    lane.isStuck = true
    handler?(.failure(error))
    handler = nil
  }

  /// Takes the answer, nil if the question came too late.
  func answer(_ result: Result<Value, DBusError>?, _ loop: EventLoop) {
    lane.isStuck = false
    if let timer { loop.cancel(timer) }
    if let handler, let result {
      handler(result)
    } else if case .success(let value)? = result {
      late(value)
    }
    handler = nil
  }
}
