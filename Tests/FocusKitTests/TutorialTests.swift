import BusSupport
import FocusKit
import Foundation
import TestSupport
import Testing

/// The documentation's programs are those of `Sources/Examples`, and do what it says.
@Suite struct TutorialTests {
  private static let documentation = "Sources/FocusKit/FocusKit.docc"
  private static let tutorial = "\(documentation)/ThreeFieldsTwoProgramsAScript.md"
  private static let examples = "Sources/Examples"

  @Test func theTutorialShowsItsPrograms() throws {
    let shown = try Article(Self.tutorial).texts("swift")
    let form = try Article.snippets("\(Self.examples)/TutorialForm")
    let toolbar = try Article.snippets("\(Self.examples)/TutorialToolbar")
    #expect(Set(shown) == Set(form + toolbar))
    // Both programs declare the same keys.
    #expect(Set(form).intersection(toolbar).count == 1)
  }

  @Test func theReadmeShowsItsPrograms() throws {
    let shown = try Article("\(Self.examples)/README.md", after: "## From Swift").texts("swift")
    let programs = try Article.snippets("\(Self.examples)/Counter", "\(Self.examples)/StatusLine")
    #expect(shown.first?.contains(".package(") == true)
    #expect(Set(shown.dropFirst()) == Set(programs))
  }

  @Test func theProgramsOfTheReadme() async throws {
    try await TestDesktop.with { desktop in
      let line = try await desktop.program("StatusLine")
      try await line.prints("-")
      let counter = try await desktop.program("Counter")
      for number in ["1", "6"] {
        if number == "6" { _ = try await desktop.focusctl("update", "Number", "+5") }
        try await counter.prints(number)
        try await line.prints(number)
      }
      try await counter.process.stop()
      try await line.prints("-")
      try await line.process.stop()
    }
  }

  /// What is typed at the terminals and the shell of the tutorial, in its order, and what that brings.
  @Test func theTutorialIsPlayed() async throws {
    try await TestDesktop.with { desktop in
      let client = desktop.client()
      client.connect()
      var programs: [String: Program] = [:]
      func program(_ name: String) async throws -> Program {
        if let program = programs[name] { return program }
        let program = try await desktop.program("Tutorial\(name.capitalized)")
        programs[name] = program
        return program
      }
      for block in try Article(Self.tutorial).blocks {
        guard block.language != "sh" else {
          let result = try await desktop.bash(block.text)
          #expect(result.succeeded && result.output.isEmpty && result.errors.isEmpty, "\(result)")
          continue
        }
        guard block.language == "console" else { continue }
        var shell: (command: String, output: [String])?
        func runShell() async throws {
          guard let (command, output) = shell else { return }
          let result = try await desktop.bash(command)
          #expect(result.output + result.errors == output, "\(command): \(result)")
          shell = nil
        }
        for line in block.text.components(separatedBy: "\n") {
          if line.hasPrefix("$ ") {
            try await runShell()
            shell = (String(line.dropFirst(2)), [])
          } else if let match = line.wholeMatch(of: /(form|toolbar)(:|>) (.*)/) {
            try await runShell()
            let (program, text) = (try await program(String(match.1)), String(match.3))
            if match.2 == ":" {
              try await program.prints(text)
            } else {
              program.process.send(line: text)
              guard match.1 == "form", !text.isEmpty else { continue }
              let field = Int(text).map { "number\($0)" }
              try await until("the focus") { client.focusedField == field && client.isConnected }
            }
          } else {
            shell?.output.append(line)
          }
        }
        try await runShell()
      }
      #expect(programs.count == 2)
      for program in programs.values {
        program.process.send(line: "quit")
        let exit = try await program.process.finish()
        #expect(exit == .status(0), "\(program.process.progress.now.errors)")
      }
    }
  }
}
