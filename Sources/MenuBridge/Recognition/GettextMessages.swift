/// The messages of a `.mo` file of gettext.
enum GettextMessages {
  /// Longer messages are skipped, in bytes.
  private static let longest = 4 * MenuLabel.longest

  /// The messages of `file` that could be standard labels; none if it is no such file.
  static func all(in file: MessageBytes) -> [TranslatedMessage] {
    guard let magic = file.number(at: 0), magic == 0x9504_12de || magic == 0xde12_0495 else { return [] }
    let isBigEndian = magic == 0x9504_12de
    func number(_ offset: Int) -> Int? { file.number(at: offset, isBigEndian: isBigEndian) }
    guard let count = number(8), let sources = number(12), let translations = number(16) else { return [] }
    var messages: [TranslatedMessage] = []
    for index in 0..<min(count, file.bytes.count / 8) {
      guard let source = text(sources + 8 * index) else { continue }
      let parts = source.split(separator: 4, maxSplits: 1, omittingEmptySubsequences: false)
      guard let message = parts.last, MenuLabel.isKnown(message),
        let translation = text(translations + 8 * index)
      else { continue }
      let context = parts.count == 2 ? parts.first ?? [] : []
      messages.append(
        TranslatedMessage(context: string(context), source: string(message), translation: string(translation)))
    }
    return messages

    /// The text, up to the NUL before its plural, that the pair of length and offset at `entry` tells.
    func text(_ entry: Int) -> ArraySlice<UInt8>? {
      guard let length = number(entry), length <= longest, let offset = number(entry + 4) else { return nil }
      return file.slice(at: offset, count: length)?.prefix { $0 != 0 }
    }
  }

  private static func string(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
