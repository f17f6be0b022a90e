internal import DBus
package import DBusTypes
internal import EventLoop
package import TestSupport

/// An owner of a field whose object lies, in the way that the test says, on a thread of its own.
///
/// Without a lie it is an honest one.
package final class Liar: Sendable {
  /// A way to lie.
  package enum Lie: Hashable, Sendable, CustomStringConvertible {
    /// It declares properties of one type and tells others.
    case otherTypes
    /// It tells properties, and changes of such, that it does not declare, some of them with impossible names.
    case strayProperties
    /// What it tells of one interface has 60 MiB, in one value or in many.
    case hugeProperties(values: Int)
    /// One change of which it tells has 60 MiB, in one value or in many.
    case hugeChanges(values: Int)
    /// Its introspection data is this.
    case description(String)
    /// It answers nothing until it is told to.
    case answersLate
    /// It answers everything two times.
    case answersTwice
    /// It leaves when this method is called.
    case leaves(at: String)
    /// It leaves as soon as it has answered a call of this method.
    case leavesAfter(String)

    package var description: String {
      switch self {
      case .otherTypes: "other types than declared"
      case .strayProperties: "properties that are not there"
      case .hugeProperties(let count): "60 MiB of properties, in \(count) values"
      case .hugeChanges(let count): "60 MiB of changes, in \(count) values"
      case .description(let text): "the introspection data '\(text.prefix(16))'…, \(text.utf8.count) bytes"
      case .answersLate: "late answers"
      case .answersTwice: "two answers to each call"
      case .leaves(let member): "leaves when \(member) is called"
      case .leavesAfter(let member): "leaves after it has answered \(member)"
      }
    }

    /// Every way, but for what an owner can say of itself that is not introspection data.
    package static var all: [Lie] {
      [
        .otherTypes, .strayProperties, .hugeProperties(values: 1), .hugeProperties(values: 60), .hugeChanges(values: 1),
        .hugeChanges(values: 60), .answersLate, .answersTwice,
      ]
        + [
          "", "<node>", "no XML", "<node><interface name='1'/></node>",
          "<!DOCTYPE a [<!ENTITY b 'c'>]><node>&b;</node>",
        ]
        .map { .description($0) }
        + [
          .description(String(repeating: "<node>", count: 100_000)),
          .description(String(repeating: " ", count: 60 << 20)),
        ]
        + ["Introspect", "GetAll", "Get", "Set", "Do"].flatMap { [.leaves(at: $0), .leavesAfter($0)] }
    }
  }

  /// The property that it has whatever it says, and which is 1 where it is honest.
  package static let key = "demo.Liar.Number"
  package static let path = "/liar"

  typealias Job = @Sendable (LiarThread) -> Void

  /// The name of its connection.
  package let name: String
  /// The methods that it was called by, so far.
  package let calls: Observed<[String]>
  private let jobs: Mailbox<Job>
  private let hasEnded: Observed<Bool>

  package init(on bus: PrivateBus, telling lie: Lie?) async throws {
    let (started, ended) = (Observed<Result<String, any Error>?>(nil), Observed(false))
    let (jobs, calls) = (Mailbox<Job>(), Observed<[String]>([]))
    let address = bus.address
    Task {
      try? await onThread {
        do {
          let thread = try LiarThread(address: address, lie, calls)
          jobs.deliver(on: thread.loop) { [weak thread] job in if let thread { job(thread) } }
          let name = thread.name
          started.update { $0 = .success(name) }
          thread.loop.run()
          thread.leave()
        } catch {
          started.update { $0 = .failure(error) }
        }
      }
      ended.update { $0 = true }
    }
    name = try await started.wait(for: "connection") { $0 }.get()
    (self.jobs, self.calls, hasEnded) = (jobs, calls, ended)
  }

  deinit { jobs.post { $0.loop.stop() } }

  /// How a registration has ended: well, with an error of this name, or not before it had left.
  package enum Outcome: Hashable, Sendable {
    case registered
    case refused(String)
    case left
  }

  /// Begins to register its object as the field `id`.
  package func beginRegister(
    _ id: String, _ options: [(name: String, value: DBusValue)] = []
  ) -> Observed<Outcome?> {
    let outcome = Observed<Outcome?>(nil)
    jobs.post { $0.register(id, options, outcome) }
    return outcome
  }

  /// Registers its object as the field `id`.
  /// - Throws: `DeadlinePassed`.
  /// - Returns: how that has ended.
  package func register(_ id: String, _ options: [(name: String, value: DBusValue)] = []) async throws -> Outcome {
    try await beginRegister(id, options).wait(for: "registration of the liar") { $0 }
  }

  /// Tells the changes of properties that its lie is about, if it is about any.
  package func tellChanges() { jobs.post { $0.tellChanges() } }

  /// Answers what has been asked, and everything from now on.
  package func answer() { jobs.post { $0.answerHeld() } }

  /// Closes its connection and waits until it is closed.
  /// - Throws: `DeadlinePassed`.
  package func leave() async throws {
    jobs.post { thread in
      thread.leave()
      thread.loop.stop()
    }
    _ = try await hasEnded.wait(for: "end of the liar") { $0 ? true : nil }
  }
}
