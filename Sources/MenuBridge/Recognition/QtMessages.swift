/// The messages of a `.qm` file of Qt; only of one that has its source texts, as those of Qt itself do.
enum QtMessages {
  private static let magic: [UInt8] = [
    0x3c, 0xb8, 0x64, 0x18, 0xca, 0xef, 0x9c, 0x95, 0xcd, 0x21, 0x1c, 0xbf, 0x60, 0xa1, 0xbd, 0xdd,
  ]
  private static let messages: UInt8 = 0x69

  /// The messages of `file` that could be standard labels; none if it is no such file.
  static func all(in file: MessageBytes) -> [TranslatedMessage] {
    guard file.slice(at: 0, count: magic.count) == magic[...] else { return [] }
    var found: [TranslatedMessage] = []
    var offset = magic.count
    while let tag = file.slice(at: offset, count: 1)?.first, let length = file.number(at: offset + 1) {
      guard let section = file.slice(at: offset + 5, count: length) else { break }
      if tag == messages { found += all(in: section, of: file) }
      offset += 5 + length
    }
    return found
  }

  /// What a part of a message is.
  private enum Tag: UInt8 {
    case end = 1
    case source16, translation, context16, obsolete, source, context, comment
  }

  private static func all(in section: ArraySlice<UInt8>, of file: MessageBytes) -> [TranslatedMessage] {
    var found: [TranslatedMessage] = []
    var parts: [Tag: ArraySlice<UInt8>] = [:]
    var offset = section.startIndex
    while offset < section.endIndex, let byte = file.slice(at: offset, count: 1)?.first {
      guard let tag = Tag(rawValue: byte) else { return found }
      offset += 1
      switch tag {
      case .end:
        if let source = parts[.source], MenuLabel.isKnown(source), let translation = parts[.translation],
          translation.count <= 4 * MenuLabel.longest
        {
          found.append(
            TranslatedMessage(
              context: String(decoding: parts[.context] ?? [], as: UTF8.self),
              source: String(decoding: source, as: UTF8.self), translation: utf16(translation)))
        }
        parts.removeAll(keepingCapacity: true)
      case .obsolete: offset += 4
      default:
        guard let length = file.number(at: offset) else { return found }
        offset += 4
        // A text that is missing has the length -1.
        guard length != 0xffff_ffff else { continue }
        guard length <= section.endIndex - offset, let text = file.slice(at: offset, count: length) else {
          return found
        }
        // The first of several translations is the singular.
        if parts[tag] == nil { parts[tag] = text }
        offset += length
      }
    }
    return found
  }

  private static func utf16(_ bytes: ArraySlice<UInt8>) -> String {
    let starts = stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2)
    return String(decoding: starts.map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }, as: UTF16.self)
  }
}
