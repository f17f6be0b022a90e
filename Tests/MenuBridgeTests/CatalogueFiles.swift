import Foundation

/// A catalogue of gettext.
enum MOFile {
  static func bytes(_ messages: [(source: String, translation: String)], isBigEndian: Bool = false) -> [UInt8] {
    func number(_ value: Int) -> [UInt8] {
      let bytes = withUnsafeBytes(of: UInt32(value).bigEndian, Array.init)
      return isBigEndian ? bytes : bytes.reversed()
    }
    let texts = messages.map(\.source) + messages.map(\.translation)
    let table = 28
    var offset = table + 8 * texts.count
    var result = [0x9504_12de, 0, messages.count, table, table + 8 * messages.count, 0, 0].flatMap(number)
    for text in texts {
      result += number(text.utf8.count) + number(offset)
      offset += text.utf8.count + 1
    }
    return result + texts.flatMap { Array($0.utf8) + [0] }
  }
}

/// A catalogue of Qt.
enum QMFile {
  static func bytes(_ messages: [(context: String, source: String, translation: String)]) -> [UInt8] {
    func number(_ value: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(value).bigEndian, Array.init) }
    func part(_ tag: UInt8, _ bytes: [UInt8]) -> [UInt8] { [tag] + number(bytes.count) + bytes }
    let section = messages.flatMap { message in
      part(3, message.translation.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }) + [8, 0xff, 0xff, 0xff, 0xff]
        + part(6, Array(message.source.utf8)) + part(7, Array(message.context.utf8)) + [1]
    }
    let magic: [UInt8] = [
      0x3c, 0xb8, 0x64, 0x18, 0xca, 0xef, 0x9c, 0x95, 0xcd, 0x21, 0x1c, 0xbf, 0x60, 0xa1, 0xbd, 0xdd,
    ]
    return magic + part(0xa7, Array("de".utf8)) + part(0x42, Array(repeating: 0, count: 8)) + part(0x69, section)
  }
}

/// A folder with the catalogues that a machine could have installed.
enum CatalogueFolder {
  /// Writes `files` by their paths, runs `body` with the folder, and removes it.
  static func with<Result>(_ files: [String: [UInt8]], _ body: (String) throws -> Result) throws -> Result {
    let root = NSTemporaryDirectory() + "focusd-catalogues-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: root) }
    for (path, bytes) in files {
      let file = URL(fileURLWithPath: "\(root)/\(path)")
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(bytes).write(to: file)
    }
    return try body(root)
  }
}
