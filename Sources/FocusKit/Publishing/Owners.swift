internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import Dispatch
internal import EventLoop
internal import Synchronization

/// Asks the program's own code for values, on its threads, so that the client's never waits for it.
///
/// What belongs to the main actor runs there, all else on one queue of the client's. An owner that does not answer in time
/// is reported, and whoever asked gets an error; a write or command that has not begun by then never begins.
final class Owners {
  typealias Post = @Sendable (@escaping @Sendable () -> Void) -> Void
  typealias Handler<Value> = (Result<Value, DBusError>) -> Void

  /// Less than the daemon's own patience, 5 s.
  private static let patience = Duration.seconds(4)
  /// The most writes and commands of a field that wait for an owner which does not answer.
  private static let mostWaiting = 1024

  private let loop: EventLoop
  private let letters: Worker.Letters
  private let reporter: ErrorReporter
  private let own: Lane
  private let main = Lane { MainThread.post($0) }
  /// The sources of values that an owner which did not answer owes.
  private var owing: Set<ObjectIdentifier> = []
  /// Where commands begin that run on any thread: each may block its own, and has one even if tasks use all others.
  private let commands = Lane(isSerial: false) {
    DispatchQueue(label: "org.focusd.FocusKit.command").async(execute: $0)
  }

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

  /// Reads the value of `key` from `source` with `body`; an answer that comes too late is handed to `late`.
  ///
  /// An owner that is known not to answer holds nobody up, and is asked once however often others read.
  func read<Value: Sendable>(
    _ key: String, _ isolation: Isolation, of source: ObjectIdentifier, _ body: @escaping @Sendable () throws -> Value,
    late: @escaping (Value) -> Void, _ handler: @escaping Handler<Value>
  ) {
    let take = { (result: Result<Value, DBusError>) in if case .success(let value) = result { late(value) } }
    guard lane(isolation).isStuck.load(ordering: .acquiring) else {
      return ask(key, isolation, handler, body, late: take)
    }
    handler(.failure(Self.error(key, isolation)))
    guard owing.insert(source).inserted else { return }
    ask(
      key, isolation, nil, body,
      late: { [weak self] result in
        self?.owing.remove(source)
        take(result)
      })
  }

  /// Has `body` make a write of `key` when its turn in `queue` comes, unless it has not begun in time.
  func write<Value: Sendable>(
    _ key: String, _ isolation: Isolation, _ queue: FieldQueue, _ body: @escaping @Sendable () throws -> Value,
    _ handler: @escaping Handler<Value>
  ) {
    if let error = Self.refusal(key, isolation, lane(isolation), queue) { return handler(.failure(error)) }
    ask(key, isolation, handler, in: queue, body) { _ in }
  }

  /// Begins `command`, of the key `key`, when its turn in `queue` comes, unless that is too late; then it may take any time.
  func run(
    _ key: String, _ command: PublishedCommand, _ arguments: [DBusValue], _ queue: FieldQueue,
    _ completion: @escaping (Result<[DBusValue], any Error>) -> Void
  ) {
    let lane = if case .main = command.isolation { main } else { commands }
    if let error = Self.refusal(key, command.isolation, lane, queue) { return completion(.failure(error)) }
    let question = Question<Void>(nil, lane, queue) { _ in }
    question.timer = loop.schedule(after: Self.patience) { [reporter] in
      guard question.decide() else { return }
      let error = Self.error(key, command.isolation)
      question.expire(error)
      completion(.failure(error))
      reporter.report(FocusError(error))
    }
    let (completion, letters, own) = (Completion(call: completion), letters, own)
    queue.add(lane) {
      question.isPosted = true
      lane.post {
        if question.decide() {
          command.start(arguments) { result in
            Settling(letters) { _ in completion.call(result) }.begin(lane, own)
          }
        }
        letters.post { question.answer(nil, $0.link.loop) }
      }
    }
  }

  // Only letters, which the worker's own thread handles, call it.
  private struct Completion: @unchecked Sendable {
    let call: (Result<[DBusValue], any Error>) -> Void
  }

  /// Asks with `body`; without a `handler` nobody waits for the answer.
  ///
  /// Without a `queue` the answer may come late.
  private func ask<Value: Sendable>(
    _ key: String, _ isolation: Isolation, _ handler: Handler<Value>?, in queue: FieldQueue? = nil,
    _ body: @escaping @Sendable () throws -> Value, late: @escaping Handler<Value>
  ) {
    let (lane, letters, own) = (lane(isolation), letters, own)
    let question = Question(handler, lane, queue, late)
    if handler != nil {
      question.timer = loop.schedule(after: Self.patience) { [reporter] in
        if queue != nil { _ = question.decide() }
        // Its answer is on its way.
        if question.hasEnded.load(ordering: .acquiring) { return }
        let error = Self.error(key, isolation)
        question.expire(error)
        reporter.report(FocusError(error))
      }
    }
    let begin = {
      question.isPosted = true
      lane.post {
        let result: Result<Value, DBusError>?
        if question.decide() {
          result = Result { () throws(DBusError) in
            do { return try body() } catch { throw FocusError(any: error).onBus }
          }
        } else {
          result = nil
        }
        if result != nil { question.hasEnded.store(true, ordering: .releasing) }
        let answer = { @Sendable (worker: Worker) in question.answer(result, worker.link.loop) }
        if queue == nil { letters.post(answer) } else { Settling(letters, answer).begin(lane, own) }
      }
    }
    if let queue { queue.add(lane, begin) } else { begin() }
  }

  /// Why a write or command is not even queued: else these would take ever more memory.
  private static func refusal(_ key: String, _ isolation: Isolation, _ lane: Lane, _ queue: FieldQueue) -> DBusError? {
    guard queue.count >= mostWaiting, queue.isStuck || lane.isStuck.load(ordering: .acquiring) else { return nil }
    return error(key, isolation)
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

/// Where closures run, one after another if it is serial.
final class Lane: Sendable {
  let post: Owners.Post
  let isSerial: Bool
  /// Whether a job took too long, and none has ended since.
  let isStuck = Atomic(false)

  init(isSerial: Bool = true, _ post: @escaping Owners.Post) {
    self.isSerial = isSerial
    self.post = post
  }

  /// Has `job` run after what was posted until now, if that is known to end.
  func afterAll(_ job: @escaping @Sendable () -> Void) {
    if isSerial, !isStuck.load(ordering: .acquiring) { post(job) } else { job() }
  }
}

/// The end of a write or command: what it changed is told before its reply, as changes are told on the same ways, unless these
/// are held up by something else.
private final class Settling: @unchecked Sendable {
  // Sendable for letters, which carry it to the client's thread.
  private static let patience = Duration.milliseconds(500)

  private let letters: Worker.Letters
  private var handler: (@Sendable (Worker) -> Void)?
  private var timer: TimerID?

  /// Has `handler` called once on the client's thread.
  init(_ letters: Worker.Letters, _ handler: @escaping @Sendable (Worker) -> Void) {
    (self.letters, self.handler) = (letters, handler)
  }

  /// Waits until what was posted to `lane` and `own` until now has run, but not for long.
  func begin(_ lane: Lane, _ own: Lane) {
    letters.post { worker in
      self.timer = worker.link.loop.schedule(after: Self.patience) { [weak worker] in worker.map(self.end) }
    }
    lane.afterAll { own.afterAll { self.letters.post { self.end($0) } } }
  }

  private func end(_ worker: Worker) {
    if let timer { worker.link.loop.cancel(timer) }
    let handler = handler
    self.handler = nil
    handler?(worker)
  }
}

/// The writes and commands of one field, which begin in the order in which they came; only the client's thread uses it.
///
/// A write is over when its setter has returned, a command when it has returned or waits for something.
final class FieldQueue: @unchecked Sendable {
  // Sendable for letters, which carry it back to the client's thread.
  private var waiting: [(lane: Lane, begin: () -> Void)] = []
  private var lane: Lane?
  private var underWay = 0

  /// How many have not ended.
  var count: Int { waiting.count + underWay }
  /// Whether what is under way took too long.
  var isStuck: Bool { lane?.isStuck.load(ordering: .acquiring) == true }

  /// Calls `begin`, which posts a job to `lane`, when all before it are over, or will be on the same thread.
  func add(_ lane: Lane, _ begin: @escaping () -> Void) {
    waiting.append((lane, begin))
    proceed()
  }

  /// One that was begun is over.
  func end() {
    underWay -= 1
    proceed()
  }

  private func proceed() {
    while let next = waiting.first, underWay == 0 || (next.lane === lane && next.lane.isSerial) {
      waiting.removeFirst()
      lane = next.lane
      underWay += 1
      next.begin()
    }
  }
}

/// A question that was not answered yet; only the client's thread uses it, others carry it there and decide.
private final class Question<Value: Sendable>: @unchecked Sendable {
  private var handler: Owners.Handler<Value>?
  private let lane: Lane
  private let queue: FieldQueue?
  private let late: Owners.Handler<Value>
  private let isDecided = Atomic(false)
  /// Whether its job has run.
  let hasEnded = Atomic(false)
  var timer: TimerID?
  var isPosted = false

  init(_ handler: Owners.Handler<Value>?, _ lane: Lane, _ queue: FieldQueue?, _ late: @escaping Owners.Handler<Value>) {
    (self.handler, self.lane, self.queue, self.late) = (handler, lane, queue, late)
  }

  /// Whether its job begins now, or is too late for that.
  /// - Returns: whether it was not decided before.
  func decide() -> Bool { !isDecided.exchange(true, ordering: .acquiringAndReleasing) }

  func expire(_ error: DBusError) {
    if isPosted { lane.isStuck.store(true, ordering: .releasing) }
    handler?(.failure(error))
    handler = nil
  }

  /// Takes the answer, nil if the question came too late.
  func answer(_ result: Result<Value, DBusError>?, _ loop: EventLoop) {
    lane.isStuck.store(false, ordering: .releasing)
    if let timer { loop.cancel(timer) }
    if let result { (handler ?? late)(result) }
    handler = nil
    queue?.end()
  }
}
