import BusSupport
import TestSupport

/// A running example, and how many lines of its output were expected so far.
final class Program {
  let process: ManagedProcess
  private var seen = 0

  init(_ process: ManagedProcess) { self.process = process }

  /// Waits until it prints `line`, after what was expected before.
  func prints(_ line: String) async throws {
    let seen = seen
    self.seen = try await process.progress.wait(for: "'\(line)'") { progress in
      progress.output.indices.dropFirst(seen).first { progress.output[$0] == line }.map { $0 + 1 }
    }
  }
}

extension TestDesktop {
  /// Starts an example, which prints line by line.
  func program(_ name: String, _ arguments: String...) async throws -> Program {
    Program(try await start(["/usr/bin/stdbuf", "-oL", Products.directory + "/" + name] + arguments))
  }

  /// Runs `script` with the programs of this package.
  func bash(_ script: String) async throws -> CommandResult {
    try await run(["/bin/bash", "-c", script], extra: ["PATH": Products.directory + ":/usr/bin:/bin"])
  }
}
