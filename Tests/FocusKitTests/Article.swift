import Foundation
import Testing

/// A page of the documentation, with what programs and people type in it.
struct Article {
  /// A fenced block.
  struct Block: Sendable {
    let language: String
    let text: String
  }

  let blocks: [Block]

  private static let project = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
    .standardized

  /// Reads the page at `path` of the project; its part after `heading`, up to the next of that level, if one is given.
  init(_ path: String, after heading: String? = nil) throws {
    var text = try String(contentsOf: Self.project.appending(path: path), encoding: .utf8)
    if let heading {
      let rest = try #require(text.components(separatedBy: "\n\(heading)\n").dropFirst().first)
      text = rest.components(separatedBy: "\n## ")[0]
    }
    blocks = text.components(separatedBy: "\n```").dropFirst().enumerated().compactMap { index, part in
      guard index.isMultiple(of: 2) else { return nil }
      let lines = part.components(separatedBy: "\n")
      return Block(language: lines[0], text: lines.dropFirst().joined(separator: "\n"))
    }
  }

  func texts(_ language: String) -> [String] { blocks.filter { $0.language == language }.map(\.text) }

  /// The parts of the programs in `directories` between `// snippet: NAME` and `// end`, without their indentation.
  static func snippets(_ directories: String...) throws -> [String] {
    var snippets: [String] = []
    for directory in directories {
      let directory = project.appending(path: directory)
      for file in try FileManager.default.contentsOfDirectory(atPath: directory.path()) where file.hasSuffix(".swift") {
        let text = try String(contentsOf: directory.appending(path: file), encoding: .utf8)
        for part in text.components(separatedBy: "// snippet: ").dropFirst() {
          let lines = part.components(separatedBy: "\n").dropFirst()
            .prefix { $0.trimmingCharacters(in: .whitespaces) != "// end" }
          let indentation = lines.first?.prefix { $0 == " " }.count ?? 0
          snippets.append(lines.map { String($0.dropFirst(indentation)) }.joined(separator: "\n"))
        }
      }
    }
    return snippets
  }
}
