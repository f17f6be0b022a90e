/// The bytes of a file of translations, read within its bounds whatever they are.
struct MessageBytes {
  let bytes: [UInt8]

  /// The four bytes at `offset` as a number; nil if the file ends before.
  func number(at offset: Int, isBigEndian: Bool = true) -> Int? {
    guard let four = slice(at: offset, count: 4) else { return nil }
    let ordered = isBigEndian ? Array(four) : four.reversed()
    return ordered.reduce(0) { $0 << 8 | Int($1) }
  }

  /// The `count` bytes at `offset`; nil if the file ends before.
  func slice(at offset: Int, count: Int) -> ArraySlice<UInt8>? {
    guard offset >= 0, count >= 0, offset <= bytes.count, count <= bytes.count - offset else { return nil }
    return bytes[offset..<offset + count]
  }
}

/// One message of a file of translations.
struct TranslatedMessage: Equatable {
  let context: String
  let source: String
  let translation: String
}
