internal import DBusTypes

/// The assignments of a settings file in the format of systemd: `systemd.syntax(7)`.
///
/// `[SECTION]`, `KEY=VALUE`, comments that begin with `#` or `;`, and a backslash at the end of a line that the next one
/// continues.
package struct SettingsText {
  /// One assignment.
  package struct Assignment: Equatable, Sendable {
    package let section: String
    package let key: String
    /// What follows the sign, without the spaces around it.
    package let value: String
    /// The line that it begins in, from 1.
    package let line: Int
  }

  /// A line that is no assignment.
  package struct Problem: Equatable, Sendable {
    package let line: Int
    package let text: String
  }

  package private(set) var assignments: [Assignment] = []
  /// The sections, each time that one begins.
  package private(set) var sections: [(name: String, line: Int)] = []
  package private(set) var problems: [Problem] = []
  private var section: String?

  /// Reads `bytes`; what cannot be read is among the problems, and the rest counts.
  package init(_ bytes: [UInt8]) {
    // Editors of other systems begin with the mark of UTF-8.
    let bytes = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? bytes.dropFirst(3) : bytes[...]
    var whole: [UInt8] = []
    var first = 0
    for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      let isComment = Self.trimmed(line).first.map { $0 == UInt8(ascii: "#") || $0 == UInt8(ascii: ";") } ?? false
      // A comment may stand between the lines that one assignment has.
      if isComment { continue }
      if whole.isEmpty { first = index + 1 }
      if line.last == UInt8(ascii: "\\") {
        whole += line.dropLast() + [UInt8(ascii: " ")]
      } else {
        add(whole + line, line: first)
        whole = []
      }
    }
    add(whole, line: first)
  }

  private mutating func add(_ bytes: [UInt8], line: Int) {
    let bytes = Self.trimmed(bytes[...])
    guard !bytes.isEmpty else { return }
    guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
      return problems.append(Problem(line: line, text: "the line is not text in UTF-8"))
    }
    if bytes.first == UInt8(ascii: "[") {
      guard bytes.last == UInt8(ascii: "]"), bytes.count > 2 else {
        return problems.append(Problem(line: line, text: "'\(text.excerpt)' is not a section, such as [windows]"))
      }
      let name = String(text.dropFirst().dropLast())
      section = name
      sections.append((name, line))
      return
    }
    guard let sign = bytes.firstIndex(of: UInt8(ascii: "=")), sign > bytes.startIndex else {
      return problems.append(
        Problem(line: line, text: "'\(text.excerpt)' is not KEY=VALUE, [SECTION] or a comment"))
    }
    let key = String(decoding: Self.trimmed(bytes[..<sign]), as: UTF8.self)
    guard let section else {
      return problems.append(
        Problem(line: line, text: "'\(key.excerpt)' comes before any section, such as [windows]"))
    }
    let value = String(decoding: Self.trimmed(bytes[(sign + 1)...]), as: UTF8.self)
    assignments.append(Assignment(section: section, key: key, value: value, line: line))
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0d }
    let rest = bytes.drop(while: isSpace)
    return rest.prefix((rest.lastIndex { !isSpace($0) }).map { $0 + 1 - rest.startIndex } ?? 0)
  }
}
