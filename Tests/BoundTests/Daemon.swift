import Foundation
import TestSupport
import Testing

/// The daemon as it was built with the tests, on a bus of the test's own.
struct Daemon: Sendable {
  static let name = "org.focusd.Focus1"

  let bus: PrivateBus
  let process: ManagedProcess

  /// Runs `body` with a daemon, which must live until it is asked to end.
  static func with<Result>(
    matchRules: Int = 1_000_000_000, isolation: isolated (any Actor)? = #isolation,
    _ body: (Daemon) async throws -> Result
  ) async throws -> Result {
    try await PrivateBus.with(matchRules: matchRules) { bus in
      let process = try await bus.start([Products.focusd, "--verbose"])
      try await process.progress.wait(for: "daemon") { progress in
        progress.exit != nil || progress.errors.contains { $0.contains("serving as") } ? () : nil
      }
      let result = try await body(Daemon(bus: bus, process: process))
      process.terminate()
      let exit = try await process.finish()
      #expect(exit == .status(0), "the daemon ended otherwise: \(process.progress.now.errors.suffix(5))")
      return result
    }
  }

  /// A client, or an owner, that the test plays itself.
  func peer() async throws -> Peer { try await Peer(on: bus) }

  /// How many descriptors the daemon has open.
  func descriptors() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.processID)/fd").count
  }

  /// What the daemon has in memory that is its own, in bytes.
  func memory() throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(process.processID)/smaps_rollup", encoding: .utf8)
    return status.split(separator: "\n").filter { $0.hasPrefix("Private_") }
      .reduce(0) { $0 + (Int($1.split(separator: " ")[1]) ?? 0) * 1024 }
  }

  /// Starts a script of the tests' resources with the bus's address as its first argument, and waits for its first line.
  func script(_ name: String, _ arguments: String...) async throws -> ManagedProcess {
    let process = try await bus.start(["/usr/bin/python3", "-Bu", resource(name), bus.address] + arguments)
    try await process.line("first line")
    return process
  }
}

/// The path of one of the tests' resources.
func resource(_ name: String) throws -> String {
  try #require(Bundle.module.path(forResource: name, ofType: nil, inDirectory: "Resources"))
}

/// The short name of the error that `body` is refused with, or nil.
func refusal<Result>(
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
) async throws -> String? {
  do {
    _ = try await body()
    return nil
  } catch let error as RemoteError {
    return error.shortName
  }
}

/// Asks again and again, over the bus each time, until `condition` holds.
/// - Throws: where it does not within a minute, and what `condition` throws.
func eventually(
  isolation: isolated (any Actor)? = #isolation, _ what: String, _ condition: () async throws -> Bool
) async throws {
  let deadline = SuspendingClock.now + .seconds(60)
  while try await !condition() {
    try #require(SuspendingClock.now < deadline, "not within a minute: \(what)")
  }
}

extension RemoteError {
  /// The name without the prefixes of the contract's errors.
  var shortName: String {
    for prefix in ["org.focusd.Focus1.Error.", "org.freedesktop.DBus.Error."] where name.hasPrefix(prefix) {
      return String(name.dropFirst(prefix.count))
    }
    return name
  }
}
