import Testing

@testable import focusctl

/// Lines that arrive in pieces.
@Suite struct LineReaderTests {
  private func text(_ line: focusctl.LineReader.Line) -> String {
    switch line {
    case .whole(let bytes): String(decoding: bytes, as: UTF8.self)
    case .tooLong: "(too long)"
    }
  }

  /// A bar is the end of a piece.
  @Test(arguments: [
    ("", []), ("a\nb\n", ["a", "b"]), ("a|b|\n|c", ["ab", "c"]), ("\n\n", ["", ""]), ("|\n|", [""]),
    ("12345\n123456\n1\n", ["12345", "(too long)", "1"]), ("123|456|789\n|1\n", ["(too long)", "1"]),
    ("1234567", ["(too long)"]), ("12345|", ["12345"]),
    ("123456\n12345|6\n12345", ["(too long)", "(too long)", "12345"]),
  ])
  func cutsPiecesIntoLines(pieces: String, lines: [String]) {
    var reader = focusctl.LineReader(limit: 5)
    var found = pieces.split(separator: "|", omittingEmptySubsequences: false).flatMap {
      reader.lines(endingIn: Array($0.utf8))
    }
    if let last = reader.last() { found.append(last) }
    #expect(found.map(text) == lines)
    #expect(reader.last() == nil)
  }
}
