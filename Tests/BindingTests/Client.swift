import DBus
import DBusTypes
import Foundation
import TestSupport
import Testing

/// Runs `body` on a thread of its own, so that clients that wait for replies keep no other test from running.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
  try await withTaskExecutorPreference(OwnThread()) { try body() }
}

/// Runs each job on a new thread; what is recorded there still belongs to the test whose task it is.
private final class OwnThread: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// A client of the daemon over the Swift library, which calls and waits.
final class Client {
  /// What `Read` and `Write` reply.
  struct Reading: Equatable {
    var value: DBusValue?
    var field: String
    var revision: UInt64
  }

  static let manager = "/org/focusd/Focus1"
  static let focused = manager + "/focused"

  static func path(_ id: String) -> String { manager + "/field/" + id }

  let connection: Connection

  init(on bus: PrivateBus) throws { connection = try Connection(to: .address(bus.address)) }

  init(address: String) throws { connection = try Connection(to: .address(address)) }

  @discardableResult
  func call(
    _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue] = []
  ) throws -> [DBusValue] {
    let message = try OutgoingMessage.methodCall(
      to: BusName(Daemon.name), path: ObjectPath(path), interface: InterfaceName(interface), member: MemberName(member),
      arguments)
    return try connection.call(message, timeout: .seconds(60)).arguments()
  }

  /// Registers a field and returns its path.
  @discardableResult
  func register(
    _ id: String, _ values: [(name: String, value: DBusValue)] = [], _ options: [(name: String, value: DBusValue)] = []
  ) throws -> String {
    let reply = try call(
      Self.manager, "org.focusd.Focus1.Manager", "Register", [.string(id), .properties(values), .properties(options)])
    guard case .objectPath(let path)? = reply.first else { throw UnexpectedReply(reply: reply) }
    return path.text
  }

  func field(_ id: String, _ member: String, _ arguments: [DBusValue] = []) throws {
    try call(Self.path(id), "org.focusd.Focus1.Field", member, arguments)
  }

  private func bindings(_ path: String, _ member: String, _ arguments: [DBusValue]) throws -> Reading {
    let reply = try call(path, "org.focusd.Focus1.Bindings", member, arguments)
    guard reply.count == 3, case .objectPath(let field) = reply[1], case .uint64(let revision) = reply[2] else {
      throw UnexpectedReply(reply: reply)
    }
    switch reply[0] {
    case .variant(let value): return Reading(value: value, field: field.text, revision: revision)
    case .array(let values): return Reading(value: values.first?.variantContent, field: field.text, revision: revision)
    default: throw UnexpectedReply(reply: reply)
    }
  }

  func read(_ key: String, at path: String = focused) throws -> Reading { try bindings(path, "Read", [.string(key)]) }

  @discardableResult
  func write(
    _ key: String, _ value: DBusValue, _ options: [(name: String, value: DBusValue)] = [], at path: String = focused
  ) throws -> Reading {
    try bindings(path, "Write", [.string(key), .variant(value), .properties(options)])
  }

  func get(_ interface: String, _ member: String, at path: String = focused) throws -> DBusValue? {
    try call(path, "org.freedesktop.DBus.Properties", "Get", [.string(interface), .string(member)]).first?
      .variantContent
  }

  func set(_ interface: String, _ member: String, _ value: DBusValue, at path: String = focused) throws {
    try call(
      path, "org.freedesktop.DBus.Properties", "Set", [.string(interface), .string(member), .variant(value)])
  }

  func getAll(_ interface: String, at path: String = focused) throws -> DBusValue? {
    try call(path, "org.freedesktop.DBus.Properties", "GetAll", [.string(interface)]).first
  }

  /// The ids of all fields.
  func fields() throws -> [String] {
    let prefix = Self.path("")
    guard
      case .dictionary(let objects)? = try call(
        Self.manager, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"
      ).first
    else { return [] }
    return objects.entries.compactMap { entry in
      guard let path = entry.key.basicText, path.hasPrefix(prefix) else { return nil }
      return String(path.dropFirst(prefix.count))
    }
  }
}

/// A reply of other types than the contract's.
struct UnexpectedReply: Error {
  let reply: [DBusValue]
}

/// The name of the error that `body` is refused with, without the contract's prefixes, or nil.
func refusal(_ body: () throws -> Void) -> String? {
  do {
    try body()
    return nil
  } catch let error as DBus.DBusError {
    return shortName(error.name.text)
  } catch {
    return "\(error)"
  }
}

/// An error's name without the contract's prefixes.
func shortName(_ name: String) -> String {
  for prefix in ["org.focusd.Focus1.Error.", "org.freedesktop.DBus.Error."] where name.hasPrefix(prefix) {
    return String(name.dropFirst(prefix.count))
  }
  return name
}

/// The daemon as it was built with the tests, at its most talkative, on a bus of the test's own.
struct Daemon: Sendable {
  static let name = "org.focusd.Focus1"

  let bus: PrivateBus
  let process: ManagedProcess

  /// Runs `body` with a daemon, which must be alive afterwards.
  static func with<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: (Daemon) async throws -> Result
  ) async throws -> Result {
    try await PrivateBus.with { bus in
      let process = try await bus.start([Products.focusd, "--verbose"])
      let daemon = Daemon(bus: bus, process: process)
      _ = try await process.progress.wait(for: "daemon") { progress in
        progress.exit != nil || progress.errors.contains { $0.contains("serving as") } ? true : nil
      }
      let result = try await body(daemon)
      try await daemon.end()
      return result
    }
  }

  /// Ends the daemon as a logout does.
  private func end() async throws {
    process.terminate()
    let exit = try await process.finish()
    guard exit == .status(0) else { throw DaemonDied(exit: exit, said: Array(process.progress.now.errors.suffix(5))) }
  }

  /// What the daemon has in memory that is its own, in bytes.
  func memory() throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(process.processID)/smaps_rollup", encoding: .utf8)
    let pages = status.split(separator: "\n").filter {
      $0.hasPrefix("Private_Dirty:") || $0.hasPrefix("Private_Clean:")
    }
    return pages.reduce(0) { $0 + (Int($1.split(separator: " ")[1]) ?? 0) * 1024 }
  }
}

/// Checks that the memory did not grow by `limit` bytes each time that it was measured; a load that comes in bursts may
/// need more once, and what leaks needs more each time.
func expectNoGrowth(_ memory: [Int], _ limit: Int, at location: SourceLocation = #_sourceLocation) {
  guard !isSanitized else { return }
  let growth = zip(memory.dropFirst(), memory).map { $0 - $1 }
  #expect((growth.min() ?? 0) < limit, "\(memory)", sourceLocation: location)
}

/// A daemon that did not end when it was asked to, but some other way.
struct DaemonDied: Error {
  let exit: ManagedProcess.Exit
  let said: [String]
}
