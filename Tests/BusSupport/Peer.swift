internal import DBus
package import DBusTypes
import EventLoop
internal import Foundation
package import TestSupport

/// A connection to the bus on a thread of its own: a client, an owner of names and objects, or all of it, as the test says.
package final class Peer: Sendable {
  /// A signal that the peer was sent.
  package struct Signal: Sendable, Hashable {
    package let path: String
    package let interface: String
    package let member: String
    package let arguments: [DBusValue]

    init(_ message: Message) {
      path = message.path?.text ?? ""
      interface = message.interface?.text ?? ""
      member = message.member?.text ?? ""
      arguments = (try? message.arguments()) ?? []
    }
  }

  /// What arrived at the peer, in its order.
  package enum Event: Sendable {
    case signal(Signal)
    case reply(Int)
    case problem(String)
  }

  package typealias Outcome = Result<[DBusValue], RemoteError>
  package typealias Job = @Sendable (PeerThread) -> Void

  /// A call that was begun, and its outcome once it is there.
  package final class Pending: Sendable {
    package let number: Int
    private let result = Observed<Outcome?>(nil)

    fileprivate init(_ number: Int) { self.number = number }

    fileprivate func end(_ outcome: Outcome) { result.update { $0 = outcome } }

    /// Waits for the reply, which is an error or not.
    /// - Throws: `DeadlinePassed`.
    package func outcome() async throws -> Outcome {
      try await result.wait(for: "reply \(number)", within: .seconds(700)) { $0 }
    }

    /// Waits for the reply.
    /// - Throws: `RemoteError` if it is an error; `DeadlinePassed`.
    @discardableResult
    package func values() async throws -> [DBusValue] { try await outcome().get() }

    /// Waits for the reply.
    /// - Throws: `DeadlinePassed`; `RemoteError` if there is no reply.
    /// - Returns: the short name of the error, or nil.
    package func refusal() async throws -> String? { try await remoteError()?.shortName }

    /// Waits for the reply.
    /// - Throws: as `refusal` does.
    /// - Returns: the error, or nil.
    package func remoteError() async throws -> RemoteError? {
      guard case .failure(let error) = try await outcome() else { return nil }
      guard error.isRemote else { throw error }
      return error
    }
  }

  /// The peer's unique name.
  package let name: String
  package let events: Observed<[Event]>
  private let jobs: Mailbox<Job>
  private let hasEnded: Observed<Bool>
  private let lastNumber = Locked(0)
  /// Not the thread's own: what is called next may already need the next handler.
  private let handlers: PeerThread.Handlers

  /// - Throws: `DBusError` if there is no bus; `DeadlinePassed`.
  package convenience init(on bus: PrivateBus) async throws { try await self.init(to: bus.address) }

  /// - Throws: `DBusError` if there is no bus; `DeadlinePassed`.
  package init(to address: String) async throws {
    let (jobs, events) = (Mailbox<Job>(), Observed<[Event]>([]))
    let handlers = PeerThread.Handlers([:])
    let (ready, ended) = (Observed<Result<String, any Error>?>(nil), Observed(false))
    Thread.detachNewThread {
      do {
        let thread = try PeerThread(address: address, handlers: handlers) { event in
          events.update { $0.append(event) }
        }
        jobs.deliver(on: thread.loop) { [weak thread] job in if let thread { job(thread) } }
        let name = thread.name
        ready.update { $0 = .success(name) }
        thread.loop.run()
        thread.leave()
        jobs.close()
      } catch {
        ready.update { $0 = .failure(error) }
      }
      ended.update { $0 = true }
    }
    name = try await ready.wait(for: "connection") { $0 }.get()
    (self.jobs, self.events, self.handlers, hasEnded) = (jobs, events, handlers, ended)
  }

  deinit { jobs.post { $0.loop.stop() } }

  /// Has the peer's thread do something.
  package func perform(_ job: @escaping Job) { jobs.post(job) }

  /// Closes the connection, as a crash of the process does, and waits until it is closed.
  /// - Throws: `DeadlinePassed`.
  package func leave() async throws {
    perform { thread in
      thread.leave()
      thread.loop.stop()
    }
    _ = try await hasEnded.wait(for: "end of the peer") { $0 ? true : nil }
  }

  // MARK: Calls

  /// Begins a call.
  @discardableResult
  package func begin(_ call: DaemonCall, patience: Duration = .seconds(100)) -> Pending {
    let pending = Pending(
      lastNumber.withLock {
        $0 += 1
        return $0
      })
    perform { [events] thread in
      thread.call(call, patience: patience) { outcome in
        events.update { $0.append(.reply(pending.number)) }
        pending.end(outcome)
      }
    }
    return pending
  }

  /// Calls a method, and waits for the reply.
  /// - Throws: `RemoteError`, `DeadlinePassed`.
  @discardableResult
  package func call(_ call: DaemonCall) async throws -> [DBusValue] { try await begin(call).values() }

  /// Calls a method of the daemon, and waits for the reply.
  /// - Throws: `RemoteError`, `DeadlinePassed`.
  @discardableResult
  package func call(
    _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue] = []
  ) async throws -> [DBusValue] {
    try await call(DaemonCall(path, interface, member, arguments))
  }

  /// Calls a method of the bus itself.
  /// - Throws: `RemoteError`, `DeadlinePassed`.
  @discardableResult
  package func askBus(
    _ member: String, _ arguments: [DBusValue] = [], of interface: String = "org.freedesktop.DBus"
  ) async throws -> [DBusValue] {
    try await call(.bus(member, arguments, of: interface))
  }

  /// Calls methods, and has no reply sent.
  package func send(_ calls: DaemonCall...) {
    perform { thread in
      for var call in calls {
        call.wantsReply = false
        thread.send(call)
      }
    }
  }

  /// Makes `count` calls with at most `window` of them under way.
  /// - Throws: `DeadlinePassed`.
  /// - Returns: how many were answered in which way: nil for success, else the error's short name.
  package func calls(
    _ count: Int, window: Int = 64, whenAnswered: @escaping @Sendable () -> Void = {},
    _ call: @escaping @Sendable (Int) -> DaemonCall
  ) async throws -> [String?: Int] {
    let answers = Observed<[String?: Int]?>(nil)
    perform { thread in
      let series = CallSeries(count, call) { outcome in
        whenAnswered()
        if let outcome { answers.update { $0 = outcome } }
      }
      for _ in 0..<min(window, count) { series.next(thread) }
    }
    return try await answers.wait(for: "answers", within: .seconds(700)) { $0 }
  }

  // MARK: What it is on the bus

  /// Has the bus give the peer `name`.
  /// - Throws: `RemoteError`, also if another has it; `DeadlinePassed`.
  package func own(_ name: String) async throws {
    guard try await askBus("RequestName", [.string(name), .uint32(4)]) == [.uint32(1)] else {
      throw RemoteError(name: "taken", message: "the name \(name) is taken")
    }
  }

  /// Has the peer note the daemon's signals from now on.
  /// - Throws: `RemoteError`, `DeadlinePassed`.
  package func subscribe() async throws {
    try await askBus("AddMatch", [.string("type='signal',sender='\(Focus1.name)'")])
  }

  /// Waits until the bus, and the daemon, have handled what the peer has sent so far.
  /// - Throws: `RemoteError`, `DeadlinePassed`.
  package func settle() async throws { try await call(.introspect("/")) }

  /// Waits until all that it has sent is written, read or not.
  /// - Throws: `DeadlinePassed`.
  package func flush() async throws {
    let isDone = Observed(false)
    perform { thread in
      thread.flush()
      isDone.update { $0 = true }
    }
    _ = try await isDone.wait(for: "end of the output") { $0 ? true : nil }
  }

  /// Waits until a connection owns the name.
  /// - Throws: `RemoteError`, `DeadlinePassed`.
  package func waitForOwner(of name: String) async throws {
    try await eventually("\(name) is owned") { try await askBus("NameHasOwner", [.string(name)]) == [.boolean(true)] }
  }

  /// Waits until the bus has told everyone that the connection `name`, or the owner of the name, has left.
  /// - Throws: `RemoteError`, `DeadlinePassed`.
  package func waitForDeparture(of name: String) async throws {
    try await eventually("\(name) has left") { try await askBus("NameHasOwner", [.string(name)]) == [.boolean(false)] }
  }

  /// Has `handler` answer whatever is called at `path`, at every path for nil.
  package func answer(at path: String? = nil, _ handler: @escaping PeerThread.Handler) {
    handlers.withLock { $0[path] = handler }
  }

  // MARK: What has arrived

  /// The signals noted so far.
  package var signals: [Signal] { Self.signals(events.now) }

  /// Waits until `match` finds something in the signals noted so far.
  /// - Throws: `DeadlinePassed`.
  @discardableResult
  package func signals<Found: Sendable>(
    _ what: String, _ match: @escaping @Sendable ([Signal]) -> Found?
  ) async throws -> Found {
    try await events.wait(for: what) { match(Self.signals($0)) }
  }

  /// The numbers of the calls that were replied to, in the order of the replies.
  package var replies: [Int] {
    events.now.compactMap { if case .reply(let number) = $0 { number } else { nil } }
  }

  private static func signals(_ events: [Event]) -> [Signal] {
    events.compactMap { if case .signal(let signal) = $0 { signal } else { nil } }
  }
}

/// Calls that are made one after another, on a peer's thread.
private final class CallSeries {
  private let count: Int
  private let call: (Int) -> DaemonCall
  /// Called with nil for each answer, and with all of them for the last.
  private let whenAnswered: ([String?: Int]?) -> Void
  private var begun = 0
  private var answers: [String?: Int] = [:]
  private var answered = 0

  init(_ count: Int, _ call: @escaping (Int) -> DaemonCall, _ whenAnswered: @escaping ([String?: Int]?) -> Void) {
    (self.count, self.call, self.whenAnswered) = (count, call, whenAnswered)
  }

  func next(_ thread: PeerThread) {
    guard begun < count else { return }
    begun += 1
    thread.call(call(begun - 1), patience: .seconds(600)) { [weak thread] outcome in
      var error: String?
      if case .failure(let failure) = outcome { error = failure.shortName }
      self.answers[error, default: 0] += 1
      self.answered += 1
      if let thread { self.next(thread) }
      self.whenAnswered(self.answered == self.count ? self.answers : nil)
    }
  }
}
