import Foundation
import TestSupport
import Testing

/// A session with the built daemon on it, used as a person at a shell or a terminal uses it.
struct Desktop {
  static let project = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized.path()

  let bus: PrivateBus

  static func with<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: (Desktop) async throws -> Result
  ) async throws -> Result {
    try await PrivateBus.with { bus in
      let daemon = try await bus.start([Products.focusd, "--address", bus.address])
      let waited = try await bus.gdbus("wait", "--timeout", "50", "org.focusd.Focus1")
      #expect(waited.succeeded, "the daemon took no name: \(daemon.progress.now)")
      let result = try await body(Desktop(bus: bus))
      try await daemon.stop()
      return result
    }
  }

  /// Starts `arguments` where the built programs are on the PATH.
  func start(_ arguments: [String], extra: [String: String] = [:]) async throws -> ManagedProcess {
    try await bus.start(arguments, extra: extra.merging(["PATH": Products.directory + ":/usr/bin:/bin"]) { $1 })
  }

  /// Runs `script` with bash, to its end.
  func shell(_ script: String, extra: [String: String] = [:]) async throws -> CommandResult {
    try await start(["/bin/bash", "-c", script], extra: extra).result()
  }

  /// The beginning of a script with a program `name` of its own on the PATH.
  ///
  /// The script itself writes it: a file that this process had open for writing might still be so in a child when it runs.
  static func standIn(_ name: String, _ text: String) -> String {
    """
    mkdir -p ~/stand-in; PATH=~/stand-in:$PATH
    cat >~/stand-in/\(name) <<'END-OF-STAND-IN'
    \(text)
    END-OF-STAND-IN
    chmod +x ~/stand-in/\(name)

    """
  }

  /// Starts `script` on a terminal of a size.
  func terminal(
    _ columns: Int, _ rows: Int, _ script: String, extra: [String: String] = ["TERM": "xterm"]
  ) async throws -> ManagedProcess {
    try await start(
      ["/usr/bin/script", "-qefc", "stty cols \(columns) rows \(rows); \(script)", "/dev/null"], extra: extra)
  }

  /// The fenced block of the README below the heading `title` that begins with `language`, line by line.
  static func recipe(_ title: String, _ language: String) throws -> [String] {
    let readme = try String(contentsOfFile: project + "/README.md", encoding: .utf8)
    let section = try #require(readme.components(separatedBy: "### \(title)\n").dropFirst().first)
    let block = try #require(section.components(separatedBy: "```\(language)\n").dropFirst().first)
    return try #require(block.components(separatedBy: "```").first).split(separator: "\n").map(String.init)
  }
}
