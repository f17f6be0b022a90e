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
    /// How the process ended, once all that it wrote has been read.
    package var exit: Exit?

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
    follow(spawned, managed.progress)
    return managed
  }

  /// Writes a line to the process's standard input; one that has closed it is no error here.
  package func send(line: String) { send(line + "\n") }

  /// Writes text without a line break after it.
  package func send(_ text: String) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let written = bytes.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
      guard written > 0 else { return }
      bytes = bytes.dropFirst(written)
    }
  }

  /// Ends the process's standard input; what is written to it from then on goes nowhere.
  package func closeInput() {
    let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
    dup2(nowhere, input)
    _ = fcntl(input, F_SETFD, FD_CLOEXEC)
    close(nowhere)
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
    try await progress.wait(for: "end of \(name)") { $0.exit }
  }

  /// Waits for the first line of output from line `start` on that `matches`.
  /// - Throws: `DeadlinePassed`.
  @discardableResult
  package func line(
    from start: Int = 0, _ what: String = "line", where matches: @escaping @Sendable (String) -> Bool = { _ in true }
  ) async throws -> String {
    try await progress.wait(for: "\(what) from \(name)") { $0.output.dropFirst(start).first(where: matches) }
  }

  /// Waits until a line of standard error contains `text`.
  /// - Throws: `DeadlinePassed`.
  package func says(_ text: String) async throws {
    _ = try await progress.wait(for: "'\(text)' from \(name)") { progress in
      progress.errors.contains { $0.contains(text) } ? true : nil
    }
  }

  /// Waits until the output has `count` lines, and returns all there are.
  /// - Throws: `DeadlinePassed`.
  package func lines(_ count: Int) async throws -> [String] {
    try await progress.wait(for: "\(count) lines from \(name)") { $0.output.count >= count ? $0.output : nil }
  }

  /// Reads both streams to their ends, then waits for the process, on a thread of its own.
  private static func follow(_ spawned: Spawner.Spawned, _ progress: Observed<Progress>) {
    Thread.detachNewThread {
      var (output, errors) = (LineReader(spawned.output), LineReader(spawned.errors))
      while output.isOpen || errors.isOpen {
        // A negative descriptor is one that `poll` passes over.
        var set = [output, errors].map { pollfd(fd: $0.isOpen ? $0.descriptor : -1, events: Int16(POLLIN), revents: 0) }
        guard poll(&set, nfds_t(set.count), -1) > 0 else { continue }
        let (written, said) = (set[0].revents != 0 ? output.read() : [], set[1].revents != 0 ? errors.read() : [])
        progress.update {
          $0.output += written
          $0.errors += said
        }
      }
      var info = siginfo_t()
      while waitid(P_PID, id_t(spawned.process), &info, WEXITED | WNOWAIT) == -1, errno == EINTR {}
      let status = info._sifields._sigchld.si_status
      let exit: Exit = info.si_code == CLD_EXITED ? .status(status) : .signal(status)
      progress.update { $0.exit = exit }
      var ignored: Int32 = 0
      while waitpid(spawned.process, &ignored, 0) == -1, errno == EINTR {}
    }
  }
}

/// Takes lines out of a stream, and closes it at its end.
private struct LineReader {
  let descriptor: Int32
  private(set) var isOpen = true
  private var rest: [UInt8] = []

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// The lines that one read completes.
  mutating func read() -> [String] {
    var chunk = [UInt8](repeating: 0, count: 65536)
    let count = Glibc.read(descriptor, &chunk, chunk.count)
    guard count > 0 else {
      if count == -1, errno == EINTR { return [] }
      isOpen = false
      close(descriptor)
      return rest.isEmpty ? [] : [String(decoding: rest, as: UTF8.self)]
    }
    var lines: [String] = []
    for byte in chunk.prefix(count) {
      guard byte == UInt8(ascii: "\n") else {
        rest.append(byte)
        continue
      }
      lines.append(String(decoding: rest, as: UTF8.self))
      rest = []
    }
    return lines
  }
}
