import Foundation

/// Files as another process would find them.
enum FileCopy {
  /// Copies a database and its write-ahead log, which is all that a killed process leaves behind.
  static func copy(_ path: String, _ other: String) throws {
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
      try bytes(path + suffix).write(to: URL(filePath: other + suffix))
    }
  }

  static func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }
}
