internal import DBus
internal import EventLoop
internal import Foundation
internal import Glibc

/// Starts processes that the kernel kills when this process ends, however it ends.
///
/// The parent-death signal follows the *thread* that started the process, so one thread that never ends starts them all.
final class Spawner: Sendable {
  static let shared = Spawner()

  private typealias Job = @Sendable () -> Void
  private let jobs = Locked<[Job]>([])
  private let ready = DispatchSemaphore(value: 0)

  private init() {
    // A process that ends before it has read its input must not end the tests.
    signal(SIGPIPE, SIG_IGN)
    Thread.detachNewThread { [self] in
      while true {
        ready.wait()
        jobs.withLock { $0.removeFirst() }()
      }
    }
  }

  /// A process that was started, and the tests' ends of its standard streams.
  struct Spawned: Sendable {
    let process: pid_t
    let input: Int32
    let output: Int32
    let errors: Int32
  }

  /// Starts `arguments`, the program's full path first.
  /// - Throws: `SpawnError` if the program cannot be started.
  func spawn(_ arguments: [String], environment: [String: String]) async throws -> Spawned {
    let arguments = ["/usr/bin/setpriv", "--pdeathsig", "KILL", "--"] + arguments
    let environment = environment.map { "\($0.key)=\($0.value)" }
    return try await withCheckedThrowingContinuation { continuation in
      jobs.withLock { jobs in
        jobs.append {
          // Pipes are made on this thread, which starts all processes: so none inherits another's.
          continuation.resume(
            with: Result {
              let (input, output, errors) = (try Pipe(), try Pipe(), try Pipe())
              defer { for end in [input.readEnd, output.writeEnd, errors.writeEnd] { close(end) } }
              let process = try Self.start(arguments, environment, [input.readEnd, output.writeEnd, errors.writeEnd])
              return Spawned(
                process: process, input: input.writeEnd, output: output.readEnd, errors: errors.readEnd)
            })
        }
      }
      ready.signal()
    }
  }

  private static func start(_ arguments: [String], _ environment: [String], _ streams: [Int32]) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, descriptor) in streams.enumerated() {
      posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigaddset(&signals, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    var argumentPointers = arguments.map { strdup($0) } + [nil]
    var environmentPointers = environment.map { strdup($0) } + [nil]
    defer { for pointer in argumentPointers + environmentPointers { free(pointer) } }
    var process: pid_t = 0
    let result = posix_spawn(
      &process, arguments[0], &actions, &attributes, &argumentPointers, &environmentPointers)
    guard result == 0 else { throw SpawnError(program: arguments[0], reason: String(cString: strerror(result))) }
    return process
  }
}

/// A program that could not be started.
package struct SpawnError: Error, CustomStringConvertible {
  package let program: String
  package let reason: String
  package var description: String { "\(program): \(reason)" }
}

/// A pipe whose ends are closed in whatever this process starts.
private struct Pipe {
  let readEnd: Int32
  let writeEnd: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw SpawnError(program: "pipe", reason: String(cString: strerror(errno))) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    (readEnd, writeEnd) = (ends[0], ends[1])
  }
}
