/// Texts of window managers and their clients, made fit for the bus.
package enum WindowText {
  /// The most bytes of a title.
  package static let titleLength = 4096
  /// The most bytes of an application's identifier or a workspace's name.
  package static let nameLength = 255

  /// The beginning of a text in UTF-8: whole characters, at most `limit` bytes, without NUL; what is not valid is replaced.
  package static func text(_ bytes: some Collection<UInt8>, limit: Int) -> String {
    cut(String(decoding: bytes.prefix(limit + 4), as: UTF8.self), limit: limit)
  }

  /// The beginning of `text`: whole characters, at most `limit` bytes, without NUL.
  package static func cut(_ text: String, limit: Int) -> String {
    if text.utf8.count <= limit, !text.utf8.contains(0) { return text }
    var result = ""
    var length = 0
    for scalar in text.unicodeScalars where scalar.value != 0 {
      length += UTF8.width(scalar)
      if length > limit { break }
      result.unicodeScalars.append(scalar)
    }
    return result
  }

  /// A name of at most `nameLength` bytes; nil for an empty one.
  package static func name(_ text: String?) -> String? {
    guard let text, !text.isEmpty else { return nil }
    return cut(text, limit: nameLength)
  }
}
