import BusSupport
import Foundation
import TestSupport
import Testing

/// The sessions of the README and of the page for those who write programs, typed as they stand there, one after the other.
@Suite struct ReadmeTests {
  /// One command of a session, and what it prints.
  private struct Step {
    var command: String
    var output: [String] = []
  }

  private static func steps(_ title: String, of page: String) throws -> [Step] {
    let readme = try String(contentsOfFile: TestDesktop.project + page, encoding: .utf8)
    let section = try #require(readme.components(separatedBy: "\n## \(title)\n").dropFirst().first)
      .components(separatedBy: "\n## ")[0]
    var steps: [Step] = []
    for block in section.components(separatedBy: "```console\n").dropFirst() {
      let text = block.components(separatedBy: "\n```")[0].replacing(#/ \\\n\ */#, with: " ")
      for line in text.components(separatedBy: "\n") {
        if line.hasPrefix("$ ") {
          steps.append(Step(command: String(line.dropFirst(2))))
        } else {
          steps[steps.count - 1].output.append(line)
        }
      }
    }
    return steps
  }

  @Test func theSessionsAreAsTheyStandThere() async throws {
    let shell = try Self.steps("In a shell", of: "/README.md")
    let steps = shell + (try Self.steps("On the bus", of: "/Sources/Examples/README.md"))
    #expect(steps.count > 15)
    try await TestDesktop.with { desktop in
      // What the last example of a pointer needs: an array, and the revision that is written there.
      for step in steps where !step.command.contains("revision") {
        if step.command.hasPrefix("focusctl watch") {
          let watch = try await desktop.background("exec " + step.command)
          #expect(try await watch.lines(step.output.count) == step.output, "\(step)")
          try await watch.stop()
        } else {
          let result = try await desktop.shell(
            step.command.replacing("--user", with: "--address=" + desktop.bus.address))
          #expect(result.output + result.errors == step.output, "\(step.command)")
        }
      }
    }
  }
}
