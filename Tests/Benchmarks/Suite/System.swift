internal import CBenchmarkClient
internal import Glibc

/// Which processors everything runs on.
enum Mode: String, CaseIterable, Codable, Sendable {
  /// All processes on one.
  case pinned
  /// Wherever the system puts them.
  case free
}

/// What the machine offers.
enum Machine {
  static var processors: Int { Int(bench_processors()) }

  /// Lets this process, and those that it starts, have as many files as the system allows.
  static func raiseFileLimit() { _ = bench_raise_file_limit() }
}

/// A little while, for what cannot be waited on.
func pause() { usleep(5_000) }

/// The wall time of one run of a program, in microseconds.
/// - Throws: `NotMeasured` if it ends with another status than 0.
func timeRun(_ arguments: [String], _ environment: [String: String]) throws -> Double {
  let taken = withCStrings(arguments) { arguments in
    withCStrings(environment.map { "\($0.key)=\($0.value)" }) { bench_run(arguments, $0) }
  }
  guard taken >= 0 else { throw NotMeasured(description: "\(arguments.joined(separator: " ")) fails") }
  return taken
}

/// Calls `body` with the texts as a C program is given them.
func withCStrings<Result>(
  _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  let pointers = texts.map { strdup($0) } + [nil]
  defer { for pointer in pointers { free(pointer) } }
  return body(pointers)
}
