public import DBusTypes

/// Names a field: the last element of its object path.
public struct FieldID: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The most bytes that an id may have.
  public static let maximumLength = 64

  /// The id's text.
  public let text: String
  /// The hash of the text: ids are looked up far more often than they are made.
  private let hash: Int

  /// Checks `text` and makes an id of it.
  /// - Throws: `SyntaxError` if it is not `[A-Za-z0-9_]+` of at most 64 bytes.
  public init(_ text: String) throws(SyntaxError) {
    guard !text.isEmpty, text.utf8.count <= FieldID.maximumLength, text.utf8.allSatisfy(isNameByte) else {
      throw SyntaxError(
        expected: "field id", text: text, rule: "characters of [A-Za-z0-9_], at most \(FieldID.maximumLength) bytes")
    }
    self.init(known: text)
  }

  /// Makes an id of text that is known to be one.
  package init(known text: String) {
    self.text = text
    hash = text.hashValue
  }

  /// Feeds the hash of the text into `hasher`.
  public func hash(into hasher: inout Hasher) { hasher.combine(hash) }

  /// The id that `path` names a field by.
  /// - Returns: nil if it is not a field's path.
  package init?(_ path: ObjectPath) {
    let prefix = FieldID.pathPrefix
    guard path.text.hasPrefix(prefix) else { return nil }
    try? self.init(String(path.text.dropFirst(prefix.count)))
  }

  /// The field's object.
  package var path: ObjectPath { ObjectPath(known: FieldID.pathPrefix + text) }

  private static let pathPrefix = Focus1.fields.text + "/"

  /// The id's text.
  public var description: String { text }

  /// Orders ids by their text.
  public static func < (left: FieldID, right: FieldID) -> Bool { left.text < right.text }
}
