internal import Glibc

/// The messages of a program, a line each, on standard error but for tests.
///
/// No line ever holds a value of a field.
public struct Log: Sendable {
  private enum Priority: Int {
    case error = 3
    case info = 6
    case debug = 7
  }

  /// The program that each line names, unless the journal does.
  public let program: String
  /// Whether `debug` says anything.
  public let isVerbose: Bool
  /// Whether each line begins with its priority, as the journal reads it: `sd-daemon(3)`.
  public let showsPriorities: Bool
  private let descriptor: Int32

  /// Creates a log on standard error.
  public init(program: String, isVerbose: Bool, showsPriorities: Bool) {
    self.init(program: program, isVerbose: isVerbose, showsPriorities: showsPriorities, descriptor: STDERR_FILENO)
  }

  /// Creates a log that writes to `descriptor`, which stays open.
  package init(program: String, isVerbose: Bool, showsPriorities: Bool, descriptor: Int32) {
    self.program = program
    self.isVerbose = isVerbose
    self.showsPriorities = showsPriorities
    self.descriptor = descriptor
  }

  /// Says what an administrator should look into.
  public func error(_ text: String) { say(.error, text) }

  /// Says what an administrator would ask about.
  public func info(_ text: String) { say(.info, text) }

  /// Says what helps to follow each step, where that was asked for.
  public func debug(_ text: @autoclosure () -> String) {
    if isVerbose { say(.debug, text()) }
  }

  private func say(_ priority: Priority, _ text: String) {
    let line = showsPriorities ? "<\(priority.rawValue)>\(text)\n" : "\(program): \(text)\n"
    var bytes = Array(line.utf8)
    // The program goes on without a log.
    _ = write(descriptor, &bytes, bytes.count)
  }
}

/// Keeps what others can cause as often as they like from filling the log: so many lines in so much time.
package struct LogLimit {
  private static let interval = Duration.seconds(60)

  private let lines: Int
  private var left = 0
  private var next = SuspendingClock.now
  private var skipped = 0

  /// Creates a limit that admits the first `lines`.
  package init(lines: Int = 1) { self.lines = lines }

  /// Decides on one more line.
  /// - Returns: nil for one to leave out; else how many were left out since the last that was not.
  package mutating func admit() -> Int? {
    let now = SuspendingClock.now
    if now >= next { (left, next) = (lines, now + LogLimit.interval) }
    guard left > 0 else {
      skipped += 1
      return nil
    }
    left -= 1
    defer { skipped = 0 }
    return skipped
  }
}
