internal import Foundation
internal import Glibc

/// A process that a test started, with what it has written so far, line by line.
///
/// It ends with the last reference to it, and with the tests, whatever way these end.
package final class ManagedProcess: Sendable {
  /// How a process ended.
  package enum Exit: Hashable, Sendable {
    case status(Int32)
    case signal(Int32)
  }

  /// What is known of the process.
  package struct Progress: Sendable, CustomStringConvertible {
    package var output: [String] = []
    package var errors: [String] = []
    package var exit: Exit?
    fileprivate var openStreams = 2

    /// How the process ended, once that is known and all that it wrote has been read.
    package var finished: Exit? { openStreams == 0 ? exit : nil }

    package var description: String {
      "output \(output), errors \(errors), \(exit.map { "\($0)" } ?? "running")"
    }
  }

  package let processID: Int32
  package let name: String
  package let progress: Observed<Progress>
  private let input: Int32

  private init(processID: pid_t, name: String, input: Int32) {
    self.processID = processID
    self.name = name
    self.input = input
    progress = Observed(Progress())
  }

  deinit {
    terminate(SIGKILL)
    close(input)
  }

  /// Starts `arguments`, the program's full path first, with exactly `environment`.
  /// - Throws: `SpawnError`.
  package static func start(_ arguments: [String], environment: [String: String]) async throws -> ManagedProcess {
    let spawned = try await Spawner.shared.spawn(arguments, environment: environment)
    let managed = ManagedProcess(processID: spawned.process, name: arguments[0], input: spawned.input)
    readLines(spawned.output, into: managed.progress) { $0.output.append($1) }
    readLines(spawned.errors, into: managed.progress) { $0.errors.append($1) }
    watchExit(of: spawned.process, managed.progress)
    return managed
  }

  /// Writes a line to the process's standard input; one that has closed it is no error here.
  package func send(line: String) {
    var bytes = Array((line + "\n").utf8)[...]
    while !bytes.isEmpty {
      let written = bytes.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
      guard written > 0 else { return }
      bytes = bytes.dropFirst(written)
    }
  }

  /// Sends `signal`, unless the process has ended.
  package func terminate(_ signal: Int32 = 15) {
    let process = processID
    // Under the lock, and the number is freed only after `exit` is set: so it is never another process's.
    progress.update { if $0.exit == nil { kill(process, signal) } }
  }

  /// Kills the process and waits until it is gone.
  /// - Throws: `DeadlinePassed`.
  package func stop() async throws {
    terminate(SIGKILL)
    _ = try await progress.wait(for: "end of \(name)") { $0.exit }
  }

  /// Waits until the process has ended and all it wrote has been read.
  /// - Throws: `DeadlinePassed`.
  @discardableResult
  package func finish() async throws -> Exit {
    try await progress.wait(for: "end of \(name)") { $0.finished }
  }

  /// Waits for the first line of output from line `start` on that `matches`.
  /// - Throws: `DeadlinePassed`.
  @discardableResult
  package func line(
    from start: Int = 0, _ what: String = "line", where matches: @escaping @Sendable (String) -> Bool = { _ in true }
  ) async throws -> String {
    try await progress.wait(for: "\(what) from \(name)") { $0.output.dropFirst(start).first(where: matches) }
  }

  /// Waits until the output has `count` lines, and returns all there are.
  /// - Throws: `DeadlinePassed`.
  package func lines(_ count: Int) async throws -> [String] {
    try await progress.wait(for: "\(count) lines from \(name)") { $0.output.count >= count ? $0.output : nil }
  }

  private static func readLines(
    _ descriptor: Int32, into progress: Observed<Progress>,
    _ append: @escaping @Sendable (inout Progress, String) -> Void
  ) {
    // Blocking reads: libdispatch's read sources lose the end of a pipe now and then, and crash, when many come and go.
    Thread.detachNewThread {
      var rest: [UInt8] = []
      var chunk = [UInt8](repeating: 0, count: 65536)
      while true {
        let count = read(descriptor, &chunk, chunk.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { break }
        rest += chunk.prefix(count)
        var lines: [String] = []
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          lines.append(String(decoding: rest[..<end], as: UTF8.self))
          rest.removeSubrange(...end)
        }
        let complete = lines
        progress.update { for line in complete { append(&$0, line) } }
      }
      close(descriptor)
      let last = rest.isEmpty ? nil : String(decoding: rest, as: UTF8.self)
      progress.update {
        if let last { append(&$0, last) }
        $0.openStreams -= 1
      }
    }
  }

  private static func watchExit(of process: pid_t, _ progress: Observed<Progress>) {
    Thread.detachNewThread {
      var info = siginfo_t()
      while waitid(P_PID, id_t(process), &info, WEXITED | WNOWAIT) == -1, errno == EINTR {}
      let status = info._sifields._sigchld.si_status
      let exit: Exit = info.si_code == CLD_EXITED ? .status(status) : .signal(status)
      progress.update { $0.exit = exit }
      var ignored: Int32 = 0
      while waitpid(process, &ignored, 0) == -1, errno == EINTR {}
    }
  }
}
