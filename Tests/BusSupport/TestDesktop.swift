internal import DBus
import EventLoop
internal import Glibc
package import TestSupport

/// The user's settings cannot be written.
struct SettingsNotWritten: Error { let reason: String }

/// A session of one test's own: a bus, which is dbus-daemon or what `FOCUSD_TEST_BUS` says, the daemon, and whoever uses it.
package final class TestDesktop: Sendable {
  private struct State {
    var daemon: ManagedProcess?
    /// Whether the daemon has to be there still.
    var isServing = false
    var display: ManagedProcess?
    var displayName: String?
  }

  package let bus: PrivateBus
  private let environment: [String: String]
  private let prefix: [String]
  private let state = Locked(State())

  private init(_ bus: PrivateBus, _ environment: [String: String], _ prefix: [String]) {
    (self.bus, self.environment, self.prefix) = (bus, environment, prefix)
  }

  /// What the daemon is started with to write as if its standard error were the journal's.
  package static let journaled = [
    "/bin/sh", "-c", #"JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2) exec "$0" "$@""#,
  ]

  /// Runs `body` with a session, and takes it away afterwards.
  ///
  /// dbus-daemon takes `matchRules` match rules of each connection. The daemon has `environment` beside what all of the
  /// session have, and is started with `prefix`; it is there from the beginning if `isServed`.
  /// - Throws: `ProcessDied` unless the daemon lives until it is told to end, and ends in order then; what `body` throws.
  package static func with<Result>(
    matchRules: Int = 1_000_000_000, environment: [String: String] = [:], prefix: [String] = [],
    isServed: Bool = true, file: String = #fileID, isolation: isolated (any Actor)? = #isolation,
    _ body: (TestDesktop) async throws -> Result
  ) async throws -> Result {
    try await PrivateBus.with(matchRules: matchRules, file: file) { bus in
      let desktop = TestDesktop(bus, environment, prefix)
      if isServed { try await desktop.start() }
      let result = try await body(desktop)
      if desktop.state.withLock({ $0.isServing }) { try await desktop.end() }
      // It takes its own files away if it is asked to end.
      if let display = desktop.state.withLock({ $0.display }) {
        display.terminate()
        try await display.finish()
      }
      return result
    }
  }

  // MARK: The daemon

  /// The daemon that was started last.
  package var daemon: ManagedProcess {
    guard let daemon = state.withLock({ $0.daemon }) else { preconditionFailure("no daemon has been started") }
    return daemon
  }

  /// What `XDG_STATE_HOME` is in this session.
  package var stateHome: String { bus.directory + "/state" }

  /// Where the daemon keeps its state.
  package var stateDirectory: String { stateHome + "/focusd" }

  /// Starts a daemon, at its most talkative, and waits until it serves; without arguments as the one before it.
  /// - Throws: `ProcessDied` if it ends instead; `SpawnError`, `DeadlinePassed`.
  package func start(environment: [String: String]? = nil, prefix: [String]? = nil) async throws {
    let daemon = try await bus.start(
      (prefix ?? self.prefix) + [Products.focusd, "--verbose", "--address", bus.address],
      extra: (environment ?? self.environment).merging(displayEnvironment) { $1 })
    state.withLock { ($0.daemon, $0.isServing) = (daemon, true) }
    _ = try await daemon.progress.wait(for: "daemon") { progress in
      progress.errors.contains { $0.hasSuffix("serving as \(Focus1.name)") } || progress.exit != nil ? true : nil
    }
    if let exit = daemon.progress.now.exit { throw ProcessDied("the daemon", exit, daemon) }
  }

  /// Ends the daemon as a power failure does, and waits until it is gone.
  /// - Throws: `ProcessDied` if it has ended before; `DeadlinePassed`.
  package func kill() async throws {
    state.withLock { $0.isServing = false }
    if let exit = daemon.progress.now.exit { throw ProcessDied("the daemon", exit, daemon) }
    try await daemon.stop()
  }

  /// Kills the daemon and starts it again.
  /// - Throws: as `kill` and `start` do.
  package func crash() async throws {
    try await kill()
    try await start()
  }

  /// Ends the daemon with `signal`: in order, or as `kill` does with 9.
  /// - Throws: `ProcessDied` if it ends in another way than it is told to; `DeadlinePassed`.
  package func end(_ signal: Int32 = 15) async throws {
    guard signal != 9 else { return try await kill() }
    state.withLock { $0.isServing = false }
    daemon.terminate(signal)
    let exit = try await daemon.finish()
    guard exit == .status(0) else { throw ProcessDied("the daemon", exit, daemon) }
  }

  /// Waits until the daemon has ended by itself.
  /// - Throws: `DeadlinePassed`.
  package func ended() async throws -> ManagedProcess.Exit {
    state.withLock { $0.isServing = false }
    return try await daemon.finish()
  }

  /// Waits until the daemon says something with `text` in it, on its standard error.
  /// - Throws: `DeadlinePassed`.
  @discardableResult
  package func said(_ text: String) async throws -> String {
    try await daemon.progress.wait(for: "'\(text)' in the log") { $0.errors.first { $0.contains(text) } }
  }

  /// What the daemon has said so far, on its standard error.
  package var log: [String] { daemon.progress.now.errors }

  /// What the daemon has said so far with `text` in it.
  package func log(_ text: String) -> [String] { log.filter { $0.contains(text) } }

  /// Starts another bus in the place of the one that was ended, and a daemon on it.
  /// - Throws: `SpawnError`, `DeadlinePassed`.
  package func beginAgain() async throws -> [ManagedProcess] {
    let again = try await start([
      "/usr/bin/dbus-daemon", "--nofork", "--nopidfile", "--print-address=1",
      "--config-file=\(bus.directory)/bus.conf",
    ])
    return [again, try await start([Products.focusd, "--address", try await again.line("address")])]
  }

  // MARK: Whoever uses it

  /// A connection of its own: a client, an owner of objects, or both.
  /// - Throws: `DBusError`, `DeadlinePassed`.
  package func peer() async throws -> Peer { try await Peer(on: bus) }

  /// A client in a process of its own, written in Python with GDBus.
  /// - Throws: `SpawnError`, `DeadlinePassed`.
  package func witness() async throws -> GDBusPeer { try await GDBusPeer(on: bus) }

  /// Calls the daemon with `busctl VERB org.focusd.Focus1 PATH …`.
  /// - Throws: as `PrivateBus.run` does.
  package func busctl(_ verb: String, at path: String = Focus1.focused, _ rest: String...) async throws -> CommandResult
  {
    try await busctl(verb, at: path, rest)
  }

  /// The same with words of any number.
  package func busctl(_ verb: String, at path: String = Focus1.focused, _ rest: [String]) async throws -> CommandResult
  {
    try await run(["/usr/bin/busctl", "--address=" + bus.address, verb, Focus1.name, path] + rest)
  }

  /// Calls the daemon with `gdbus VERB --dest org.focusd.Focus1 --object-path PATH …`.
  /// - Throws: as `PrivateBus.run` does.
  package func gdbus(_ verb: String, at path: String = Focus1.focused, _ rest: String...) async throws -> CommandResult
  {
    let arguments = [verb, "--address", bus.address, "--dest", Focus1.name, "--object-path", path]
    return try await run(["/usr/bin/gdbus"] + arguments + rest)
  }

  /// Runs `focusctl` as it was built with the tests.
  /// - Throws: as `PrivateBus.run` does.
  package func focusctl(_ arguments: String...) async throws -> CommandResult { try await focusctl(arguments) }

  /// The same with words of any number.
  package func focusctl(_ arguments: [String]) async throws -> CommandResult {
    try await run([Products.focusctl, "--address", bus.address] + arguments)
  }

  /// Does with `xdotool` what a person at the display does; again if that gave up since a window vanished while it searched.
  /// - Throws: `DriverError` if it fails; as `PrivateBus.run` does.
  package func xdotool(_ arguments: String...) async throws { try await xdotool(arguments) }

  /// The same with words of any number.
  package func xdotool(_ arguments: [String]) async throws {
    var result: CommandResult
    repeat {
      result = try await run(["/usr/bin/xdotool"] + arguments)
    } while result.errors.contains { $0.contains("BadWindow") }
    guard result.succeeded else { throw DriverError(description: "xdotool \(arguments): \(result)") }
  }

  /// Starts a Python script with the bus's address as its first argument, and waits for its first line.
  /// - Throws: `SpawnError`, `DeadlinePassed`.
  package func script(_ path: String, _ arguments: String...) async throws -> ManagedProcess {
    let process = try await start(["/usr/bin/python3", "-Bu", path, bus.address] + arguments)
    try await process.line("first line")
    return process
  }

  /// Starts `arguments`, the program's full path first, as a process of this session.
  /// - Throws: `SpawnError`.
  package func start(_ arguments: [String], extra: [String: String] = [:]) async throws -> ManagedProcess {
    try await bus.start(arguments, extra: displayEnvironment.merging(extra) { $1 })
  }

  /// Runs a command to its end.
  /// - Throws: `SpawnError`, `DeadlinePassed`.
  package func run(_ arguments: [String], extra: [String: String] = [:]) async throws -> CommandResult {
    try await start(arguments, extra: extra).result()
  }

  /// Writes the user's settings anew, as an editor does: another file takes the place of the one before.
  package func write(settings text: String) throws {
    let directory = bus.directory + "/.config/focusd"
    _ = mkdir(bus.directory + "/.config", 0o700)
    _ = mkdir(directory, 0o700)
    let descriptor = open(directory + "/new", O_CREAT | O_WRONLY | O_TRUNC, 0o600)
    defer { close(descriptor) }
    var bytes = Array(text.utf8)
    guard Glibc.write(descriptor, &bytes, bytes.count) == bytes.count,
      rename(directory + "/new", directory + "/focusd.conf") == 0
    else { throw SettingsNotWritten(reason: String(cString: strerror(errno))) }
  }

  // MARK: A display

  private static let server = "/usr/bin/Xvfb"

  /// Whether a display can be had here.
  package static let canDisplay = access(server, X_OK) == 0

  /// Starts an X server for this session, whatever is started later has it; the second time it is the same one.
  /// - Throws: `SpawnError`, `DeadlinePassed`.
  /// - Returns: the display's name, such as `:99`.
  @discardableResult
  package func display() async throws -> String {
    if let name = state.withLock({ $0.displayName }) { return name }
    // It takes the first number that is free, and tells which. No key repeats, however long its sender is held up.
    let server = try await bus.start(
      [Self.server, "-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset", "-r"])
    let name = ":" + (try await server.line("display number"))
    state.withLock { ($0.display, $0.displayName) = (server, name) }
    return name
  }

  /// Starts a window manager, Openbox unless another is named, and waits until it manages the display: Openbox activates no window
  /// that was there before it.
  /// - Throws: `ProcessDied` if it ends instead; `SpawnError`, `DeadlinePassed`.
  package func windowManager(
    _ command: [String] = ["/usr/bin/openbox", "--sm-disable"]
  ) async throws -> ManagedProcess {
    let manager = try await start(command)
    try await eventually(command[0]) {
      if let exit = manager.progress.now.exit { throw ProcessDied(command[0], exit, manager) }
      return try await run(["/usr/bin/xdotool", "get_num_desktops"]).succeeded
    }
    return manager
  }

  /// Keeps the daemon's files from growing past `size`: with 0 that is, to the daemon, a full disk.
  /// - Throws: `RemoteError`, as `run` does.
  package func limitFiles(to size: String) async throws {
    let result = try await run(["/usr/bin/prlimit", "--pid", "\(daemon.processID)", "--fsize=\(size):unlimited"])
    guard result.succeeded else { throw RemoteError(name: "prlimit", message: result.errorText) }
  }

  private var displayEnvironment: [String: String] {
    state.withLock { $0.displayName.map { ["DISPLAY": $0] } ?? [:] }
  }
}

/// A program that has ended, but not as it was told to.
package struct ProcessDied: Error, CustomStringConvertible {
  package let program: String
  package let exit: ManagedProcess.Exit
  package let said: [String]

  fileprivate init(_ program: String, _ exit: ManagedProcess.Exit, _ process: ManagedProcess) {
    (self.program, self.exit, said) = (program, exit, process.progress.now.errors.suffix(5))
  }

  package var description: String { "\(program) ended with \(exit), after it had said \(said)" }
}
