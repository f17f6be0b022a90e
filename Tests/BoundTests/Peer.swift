import DBusTypes
import Foundation
import Synchronization
import TestSupport

@testable import DBus

/// A connection to the bus on a thread of its own: a client, an owner of objects, or both, as the test says.
final class Peer: Sendable {
  /// A signal that the peer was sent.
  struct Signal: Sendable, Hashable {
    let path: String
    let interface: String
    let member: String
    let arguments: [DBusValue]

    init(_ message: Message) {
      path = message.path?.text ?? ""
      interface = message.interface?.text ?? ""
      member = message.member?.text ?? ""
      arguments = (try? message.arguments()) ?? []
    }
  }

  /// What arrived at the peer, in its order.
  enum Event: Sendable {
    case signal(Signal)
    case reply(Int)
    case problem(String)
  }

  /// A call that was begun, and its outcome once it is there.
  final class Pending: Sendable {
    let number: Int
    private let outcome = Observed<Result<[DBusValue], RemoteError>?>(nil)

    init(_ number: Int) { self.number = number }

    func end(_ result: Result<[DBusValue], RemoteError>) { outcome.update { $0 = result } }

    /// Waits for the reply.
    /// - Throws: `RemoteError` if it is an error; `DeadlinePassed`.
    func values() async throws -> [DBusValue] { try await outcome.wait(for: "reply \(number)") { $0 }.get() }

    /// Waits for the reply, which is an error or not.
    func refusal() async throws -> String? {
      let result = try await outcome.wait(for: "reply \(number)") { $0 }
      if case .failure(let error) = result { return error.shortName }
      return nil
    }
  }

  /// The peer's unique name.
  let name: String
  let events: Observed<[Event]>
  private let jobs: JobSource
  private let lastNumber = Observed(0)

  init(on bus: PrivateBus) async throws {
    let address = bus.address
    let jobs = JobSource()
    let events = Observed<[Event]>([])
    let ready = Observed<Result<String, any Error>?>(nil)
    Thread.detachNewThread {
      do {
        let thread = try PeerThread(address: address) { event in events.update { $0.append(event) } }
        jobs.attach(to: thread)
        let name = thread.connection?.uniqueName?.text ?? ""
        ready.update { $0 = .success(name) }
        thread.loop.run()
        thread.leave()
      } catch {
        ready.update { $0 = .failure(error) }
      }
    }
    name = try await ready.wait(for: "connection") { $0 }.get()
    self.jobs = jobs
    self.events = events
  }

  deinit { jobs.add { $0.loop.stop() } }

  /// Has the peer's thread do something.
  func perform(_ job: @escaping JobSource.Job) { jobs.add(job) }

  /// Closes the connection, as a crash of the process does.
  func leave() { perform { $0.leave() } }

  /// Begins a call, of the daemon where no destination is given.
  func begin(
    to destination: String = Daemon.name, _ path: String, _ interface: String, _ member: String,
    _ arguments: [DBusValue] = []
  ) -> Pending {
    let number = lastNumber.update {
      $0 += 1
      return $0
    }
    let pending = Pending(number)
    perform { [events] thread in
      do {
        guard let connection = thread.connection else { throw DBusError(.failed, "the peer has left") }
        let message = try OutgoingMessage.methodCall(
          to: BusName(destination), path: ObjectPath(path), interface: InterfaceName(interface),
          member: MemberName(member), arguments)
        try connection.call(message, timeout: .seconds(100)) { result in
          events.update { $0.append(.reply(number)) }
          pending.end(
            Result { try result.get().success().arguments() }.mapError {
              let error = $0 as? DBus.DBusError
              return RemoteError(name: error?.name.text ?? "local", message: error?.message ?? "\($0)")
            })
        }
      } catch {
        pending.end(.failure(RemoteError(name: "local", message: "\(error)")))
      }
    }
    return pending
  }

  /// Calls a method, of the daemon where no destination is given, and waits for the reply.
  /// - Throws: `RemoteError`, `DeadlinePassed`.
  @discardableResult
  func call(
    to destination: String = Daemon.name, _ path: String, _ interface: String, _ member: String,
    _ arguments: [DBusValue] = []
  ) async throws -> [DBusValue] {
    try await begin(to: destination, path, interface, member, arguments).values()
  }

  /// Calls a method and wants no reply.
  func callWithoutReply(_ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue] = []) {
    perform { thread in
      guard
        var message = try? OutgoingMessage.methodCall(
          to: BusName(Daemon.name), path: ObjectPath(path), interface: InterfaceName(interface),
          member: MemberName(member), arguments)
      else { return }
      message.disableReply()
      _ = try? thread.connection?.send(message)
    }
  }

  /// Waits until the bus, and the daemon, have handled what the peer has sent so far.
  func settle() async throws { try await call("/", "org.freedesktop.DBus.Introspectable", "Introspect") }

  /// Has the peer note the daemon's signals from now on.
  func subscribe() async throws {
    let rule = MatchRule(sender: try BusName(Daemon.name)).description
    try await call(
      to: "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch", [.string(rule)])
  }

  /// The signals noted so far.
  var signals: [Signal] { Self.signals(events.now) }

  /// Waits until `match` finds something in the signals noted so far.
  func signals<Found: Sendable>(
    _ what: String, _ match: @escaping @Sendable ([Signal]) -> Found?
  ) async throws -> Found {
    try await events.wait(for: what) { match(Self.signals($0)) }
  }

  /// The numbers of the calls that were replied to, in the order of the replies.
  var replies: [Int] {
    events.now.compactMap { if case .reply(let number) = $0 { number } else { nil } }
  }

  private static func signals(_ events: [Event]) -> [Signal] {
    events.compactMap { if case .signal(let signal) = $0 { signal } else { nil } }
  }
}
