import BusSupport
import Foundation
import TestSupport
import Testing

/// A desktop as a person at a shell or a terminal uses it.
extension TestDesktop {
  static let project = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized.path()

  /// What has the built programs on the `PATH`.
  static let programs = [
    "PATH": URL(filePath: Products.focusctl).deletingLastPathComponent().path() + ":/usr/bin:/bin"
  ]

  /// Whether all of `programs` are installed.
  static func has(_ programs: String...) -> Bool {
    programs.allSatisfy { FileManager.default.isExecutableFile(atPath: "/usr/bin/" + $0) }
  }

  /// Runs `script` with bash, to its end.
  func shell(_ script: String, extra: [String: String] = [:]) async throws -> CommandResult {
    try await run(["/bin/bash", "-c", script], extra: extra.merging(Self.programs) { $1 })
  }

  /// Runs a script whose output are completions, again if it is not `expected`: one that takes more than 2 s is given up, as
  /// on a slow machine.
  func completes(
    _ script: String, as expected: [String], extra: [String: String] = [:], location: SourceLocation = #_sourceLocation
  ) async throws {
    var result = try await shell(script, extra: extra)
    func completed() -> [String] { result.output.map { $0.trimmingCharacters(in: .whitespaces) } }
    for _ in 0..<5 where completed() != expected { result = try await shell(script, extra: extra) }
    // What it says would be within the line that is typed.
    #expect(completed() == expected && result.errors.isEmpty, "\(result)", sourceLocation: location)
  }

  /// Starts `script` with a shell.
  func background(_ script: String) async throws -> ManagedProcess {
    try await start(["/bin/sh", "-c", script], extra: Self.programs)
  }

  /// Starts `focusctl hold` with `arguments`, and waits until the first key in them resolves.
  func hold(_ arguments: String) async throws -> ManagedProcess {
    let holder = try await background("exec focusctl hold \(arguments)")
    let key = String(try #require(arguments.firstMatch(of: /[A-Za-z0-9.]+(?==)/)).output)
    let result = try await focusctl("wait", key)
    #expect(result.succeeded, "\(result)")
    return holder
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
      ["/usr/bin/script", "-qefc", "stty cols \(columns) rows \(rows); \(script)", "/dev/null"],
      extra: extra.merging(Self.programs) { $1 })
  }

  /// The fenced block of a README below the heading `title` that begins with `language`, line by line.
  static func recipe(_ title: String, _ language: String) throws -> [String] {
    try #require(try recipes(title, language).first)
  }

  /// All such blocks of the section.
  static func recipes(_ title: String, _ language: String) throws -> [[String]] {
    let pages = ["/README.md", "/Sources/Examples/README.md"].map { project + $0 }
    let text = try pages.map { try String(contentsOfFile: $0, encoding: .utf8) }.joined()
    let rest = try #require(text.components(separatedBy: "### \(title)\n").dropFirst().first)
    let section = try #require(rest.components(separatedBy: "\n### ").first)
    return section.components(separatedBy: "```\(language)\n").dropFirst().map { block in
      (block.components(separatedBy: "```").first ?? "").split(separator: "\n").map(String.init)
    }
  }
}
