internal import Foundation

/// What a command that ran to its end left behind.
package struct CommandResult: Sendable, Hashable, CustomStringConvertible {
  /// The exit status, or the negated number of the signal that ended the command.
  package let status: Int32
  package let output: [String]
  package let errors: [String]

  package var succeeded: Bool { status == 0 }
  package var text: String { output.joined(separator: "\n") }
  package var errorText: String { errors.joined(separator: "\n") }
  package var description: String { "status \(status), output \(output), errors \(errors)" }
}

/// Where the programs of this package are that were built with the tests.
package enum Products {
  /// The directory of the test bundle that is running.
  package static let directory: String = {
    let names = CommandLine.arguments + ["/proc/self/exe"]
    let bundle = names.first { $0.hasSuffix(".xctest") } ?? "/proc/self/exe"
    return URL(fileURLWithPath: bundle).resolvingSymlinksInPath().deletingLastPathComponent().path
  }()

  /// The directory of the programs under test: those built with the tests, or `FOCUSD_TEST_BINARIES`, such as a release.
  private static let programs = ProcessInfo.processInfo.environment["FOCUSD_TEST_BINARIES"] ?? directory

  package static var focusd: String { programs + "/focusd" }
  package static var focusctl: String { programs + "/focusctl" }
  package static var accessibility: String { programs + "/focusd-accessibility" }
  package static var browser: String { programs + "/focusd-browser" }
  package static var menus: String { programs + "/focusd-menus" }
  package static var windowBridge: String { programs + "/focusd-windows" }
}

extension ManagedProcess {
  /// Waits for the end, and returns all that was written until then.
  /// - Throws: `DeadlinePassed`.
  package func result() async throws -> CommandResult {
    let exit = try await finish()
    let progress = progress.now
    let status: Int32 =
      switch exit {
      case .status(let status): status
      case .signal(let signal): -signal
      }
    return CommandResult(status: status, output: progress.output, errors: progress.errors)
  }
}

extension PrivateBus {
  /// Runs a command to its end.
  /// - Throws: `SpawnError`, `DeadlinePassed`.
  package func run(_ arguments: [String]) async throws -> CommandResult {
    try await start(arguments).result()
  }

  /// Runs systemd's `busctl` against this bus.
  /// - Throws: as `run` does.
  package func busctl(_ arguments: String...) async throws -> CommandResult {
    try await run(["/usr/bin/busctl", "--address=" + address] + arguments)
  }

  /// Runs GLib's `gdbus VERB --address …` against this bus.
  /// - Throws: as `run` does.
  package func gdbus(_ verb: String, _ arguments: String...) async throws -> CommandResult {
    try await run(["/usr/bin/gdbus", verb, "--address", address] + arguments)
  }

  /// Runs `focusctl` as it was built with the tests.
  /// - Throws: as `run` does.
  package func focusctl(_ arguments: String...) async throws -> CommandResult {
    try await run([Products.focusctl, "--address", address] + arguments)
  }
}
