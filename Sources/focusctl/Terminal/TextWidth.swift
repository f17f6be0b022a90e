import CLinux
import Glibc

/// The width of text on a terminal: some characters take two columns, some none.
enum TextWidth {
  /// Stands for text that was cut off.
  static let ellipsis = "…"

  // `wcwidth` only knows the characters of the locale.
  private static let hasLocale = setlocale(LC_CTYPE, "C.UTF-8") != nil

  /// The columns that `text` takes; never fewer than a terminal uses for it.
  static func columns(of text: some StringProtocol) -> Int {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.unicodeScalars.reduce(0) { $0 + columns(of: $1) }
  }

  private static func columns(of scalar: Unicode.Scalar) -> Int {
    if scalar.isASCII { return 1 }
    guard hasLocale else { return 2 }
    return max(0, Int(wcwidth(wchar_t(scalar.value))))
  }

  /// `text`, cut off at its end to at most `limit` columns.
  static func fitted(_ text: String, _ limit: Int) -> String {
    guard limit < Int.max, columns(of: text) > limit else { return text }
    guard limit > 0 else { return "" }
    var width = 1
    let kept = text.prefix { character in
      width += columns(of: String(character))
      return width <= limit
    }
    return kept + ellipsis
  }

  /// The end of `key`, in at most `limit` columns: its last part is the most specific.
  static func fittedKey(_ key: String, _ limit: Int) -> String {
    guard key.utf8.count > limit else { return key }
    var rest = key[...]
    while let dot = rest.firstIndex(of: "."), rest.utf8.count + 1 > limit || rest.startIndex == key.startIndex {
      rest = rest[key.index(after: dot)...]
    }
    return fitted(ellipsis + rest, limit)
  }
}
