internal import Foundation
internal import Glibc

/// A message bus of one test's own, which starts no services, in a directory of its own.
package final class PrivateBus: Sendable {
  /// So few at a time that none of them is starved.
  private static let gate = Gate(places: isSanitized ? 3 : 6)
  /// Whether the test is among these already: with another bus it waits for no other test, which may wait for it.
  @TaskLocal private static var hasPlace = false

  /// What connects to the bus.
  package let address: String
  /// A directory that is removed with the bus; what the test starts has its home there.
  package let directory: String
  private let daemon: ManagedProcess

  private init(directory: String, matchRules: Int) async throws {
    self.directory = directory
    let configuration = directory + "/bus.conf"
    try Self.configuration(socket: directory + "/bus", matchRules: matchRules).write(
      toFile: configuration, atomically: false, encoding: .utf8)
    daemon = try await ManagedProcess.start(
      Self.isBroker
        ? try Self.broker(in: directory)
        : ["/usr/bin/dbus-daemon", "--nofork", "--nopidfile", "--print-address=1", "--config-file=" + configuration],
      environment: [:])
    // Without its unique number, as a session's address is: the next bus has another.
    address = String(try await daemon.line("address").prefix { $0 != "," })
  }

  /// Whether to use dbus-broker instead of dbus-daemon: `FOCUSD_TEST_BUS=dbus-broker`.
  package static let isBroker = ProcessInfo.processInfo.environment["FOCUSD_TEST_BUS"] == "dbus-broker"

  private static func broker(in directory: String) throws -> [String] {
    guard let script = Bundle.module.path(forResource: "dbus_broker", ofType: "py", inDirectory: "Resources") else {
      throw SpawnError(program: "dbus_broker.py", reason: "it is not among the test's resources")
    }
    return [
      "/usr/bin/unshare", "--mount", "/bin/sh", "-c",
      #"mount -t tmpfs none /run/systemd && exec /usr/bin/python3 "$0" "$1""#, script, directory,
    ]
  }

  /// The session bus's own configuration, but for the services that it would start.
  private static func configuration(socket: String, matchRules: Int) -> String {
    let unlimited = [
      "max_incoming_bytes", "max_outgoing_bytes", "max_message_size", "max_completed_connections",
      "max_incomplete_connections", "max_connections_per_user",
      "max_replies_per_connection", "max_names_per_connection",
    ].map { #"<limit name="\#($0)">1000000000</limit>"# }
    return """
      <busconfig>
        <type>session</type>
        <listen>unix:path=\(socket)</listen>
        <auth>EXTERNAL</auth>
        <policy context="default">
          <allow send_destination="*" eavesdrop="true"/>
          <allow eavesdrop="true"/>
          <allow own="*"/>
        </policy>
        \(unlimited.joined(separator: "\n  "))
        <limit name="max_match_rules_per_connection">\(matchRules)</limit>
      </busconfig>
      """
  }

  /// Runs `body` with a fresh bus, and takes the bus and its directory away afterwards.
  ///
  /// dbus-daemon takes `matchRules` match rules of each connection. The time counts as that of `file`.
  package static func with<Result>(
    matchRules: Int = 1_000_000_000, file: String = #fileID, isolation: isolated (any Actor)? = #isolation,
    _ body: (PrivateBus) async throws -> Result
  ) async throws -> Result {
    if hasPlace { return try await withOwn(matchRules, isolation: isolation, body) }
    await gate.enter()
    let start = SuspendingClock.now
    defer {
      gate.leave()
      TimesTaken.shared.add(SuspendingClock.now - start, of: file)
    }
    return try await $hasPlace.withValue(true) { try await withOwn(matchRules, isolation: isolation, body) }
  }

  private static func withOwn<Result>(
    _ matchRules: Int, isolation: isolated (any Actor)?, _ body: (PrivateBus) async throws -> Result
  ) async throws -> Result {
    var template = Array((NSTemporaryDirectory() + "/focusd-test.XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else {
      throw SpawnError(program: "mkdtemp", reason: String(cString: strerror(errno)))
    }
    let directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let bus = try await PrivateBus(directory: directory, matchRules: matchRules)
    do {
      let result = try await body(bus)
      try await bus.stop()
      return result
    } catch {
      try await bus.stop()
      throw error
    }
  }

  /// Ends the bus, as a logout does.
  /// - Throws: `DeadlinePassed`.
  package func stop() async throws { try await daemon.stop() }

  /// Stops the bus until `resume`.
  ///
  /// It does not stop dbus-broker, which is another process's child.
  package func pause() { daemon.terminate(SIGSTOP) }

  /// Undoes `pause`.
  package func resume() { daemon.terminate(SIGCONT) }

  /// What a process of this test's session has for its environment.
  package var environment: [String: String] {
    var environment = [
      "DBUS_SESSION_BUS_ADDRESS": address,
      "HOME": directory,
      "LANG": "C.UTF-8",
      "PATH": "/usr/bin:/bin",
      "XDG_RUNTIME_DIR": directory,
      "XDG_STATE_HOME": directory + "/state",
    ]
    // Only root may look at a process that does not let its user's others do so: here it is the tests that look.
    if geteuid() != 0 { environment["FOCUSD_ALLOW_TRACING"] = "1" }
    for name in [
      "ASAN_OPTIONS", "LD_LIBRARY_PATH", "LLVM_PROFILE_FILE", "LSAN_OPTIONS", "SWIFT_BACKTRACE", "TSAN_OPTIONS",
    ] {
      environment[name] = ProcessInfo.processInfo.environment[name]
    }
    return environment
  }

  /// Starts `arguments`, the program's full path first, as a process of this session.
  /// - Throws: `SpawnError`.
  package func start(_ arguments: [String], extra: [String: String] = [:]) async throws -> ManagedProcess {
    try await ManagedProcess.start(arguments, environment: environment.merging(extra) { $1 })
  }
}
