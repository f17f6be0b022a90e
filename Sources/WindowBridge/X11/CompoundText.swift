internal import Glibc

/// A text in the encoding that X clients without `_NET_WM_NAME`, such as xterm, have their titles in: ISO 8859-1, with escape
/// sequences to other sets (Compound Text Encoding of the X Consortium, version 1.1, and its `ESC % G` for UTF-8).
enum CompoundText {
  /// Decodes a text; what is of an unknown set, or of one that the C library lacks, becomes U+FFFD.
  static func text(_ bytes: some Collection<UInt8>) -> String {
    var text = ""
    // ASCII, and ISO 8859-1 above it.
    var low: String?
    var high: String? = "ISO-8859-1"
    var isUTF8 = false
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      let run = rest.prefix { $0 != 0x1b }
      text += isUTF8 ? String(decoding: run, as: UTF8.self) : decoded(run, low: low, high: high)
      rest = rest.dropFirst(run.count)
      guard !rest.isEmpty else { break }
      let sequence = rest.dropFirst().prefix { (0x20..<0x30).contains($0) }
      guard let final = rest.dropFirst(1 + sequence.count).first else { break }
      rest = rest.dropFirst(2 + sequence.count)
      let set = Character(Unicode.Scalar(final))
      switch String(decoding: sequence, as: UTF8.self) {
      case "%": isUTF8 = set == "G"
      case "%/":
        // A set by its name, with its length in two bytes of seven bits.
        let length = rest.prefix(2).reduce(0) { $0 << 7 | Int($1 & 0x7f) }
        text += "\u{fffd}"
        rest = rest.dropFirst(2 + length)
      case "(": low = set == "B" || set == "J" ? nil : "unknown"
      case ")", "-": high = singles[set] ?? "unknown"
      case "$(", "$": low = multiples[set] ?? "unknown"
      case "$)": high = multiples[set] ?? "unknown"
      default: break
      }
    }
    return text
  }

  private static let singles: [Character: String] = [
    "A": "ISO-8859-1", "B": "ISO-8859-2", "C": "ISO-8859-3", "D": "ISO-8859-4", "F": "ISO-8859-7", "G": "ISO-8859-6",
    "H": "ISO-8859-8", "L": "ISO-8859-5", "M": "ISO-8859-9", "T": "TIS-620", "V": "ISO-8859-10", "Y": "ISO-8859-13",
    "_": "ISO-8859-14", "b": "ISO-8859-15", "f": "ISO-8859-16",
  ]
  /// As the encodings that have them in the upper half.
  private static let multiples: [Character: String] = ["A": "EUC-CN", "B": "EUC-JP", "C": "EUC-KR"]

  /// A text without escape sequences, in the set `low` below 0x80, nil for ASCII, and `high` above.
  private static func decoded(_ bytes: ArraySlice<UInt8>, low: String?, high: String?) -> String {
    var text = ""
    var rest = bytes
    while let first = rest.first {
      // Control characters and the space are of no set.
      let part = rest.prefix { byte in (byte > 0x20) == (first > 0x20) && (byte < 0x80) == (first < 0x80) }
      rest = rest.dropFirst(part.count)
      let set = first < 0x80 ? low : high
      if let set, first > 0x20 {
        text += converted(part.map { $0 | 0x80 }, from: set)
      } else {
        text += String(decoding: part, as: UTF8.self)
      }
    }
    return text
  }

  /// What of a text can be converted, and U+FFFD for the rest.
  private static func converted(_ bytes: [UInt8], from set: String) -> String {
    // Nearly every text; iconv(3) would be opened for each.
    if set == "ISO-8859-1" { return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })) }
    guard let conversion = iconv_open("UTF-8", set), conversion != iconv_t(bitPattern: -1) else { return "\u{fffd}" }
    defer { iconv_close(conversion) }
    var input = bytes.map { CChar(bitPattern: $0) }
    var output = [CChar](repeating: 0, count: 4 * bytes.count)
    var left = output.count
    let result = input.withUnsafeMutableBufferPointer { input in
      output.withUnsafeMutableBufferPointer { output in
        var (from, to, remaining) = (input.baseAddress, output.baseAddress, input.count)
        return iconv(conversion, &from, &remaining, &to, &left)
      }
    }
    let text = String(decoding: output.dropLast(left).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return result == -1 ? text + "\u{fffd}" : text
  }
}
