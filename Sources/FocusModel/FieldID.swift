internal import DBusTypes

/// Names a field: the last element of its object path.
public struct FieldID: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The most bytes that an id may have.
  public static let maximumLength = 64

  /// The id's text.
  public let text: String

  /// Checks `text` and makes an id of it.
  /// - Throws: `FocusError.invalid` where it is not `[A-Za-z0-9_]+` of at most 64 bytes.
  public init(_ text: String) throws(FocusError) {
    guard !text.isEmpty, text.utf8.count <= FieldID.maximumLength, text.utf8.allSatisfy(isNameByte) else {
      throw .invalid(
        SyntaxError(
          expected: "field id", text: text, rule: "characters of [A-Za-z0-9_], at most \(FieldID.maximumLength) bytes"
        ).description)
    }
    self.text = text
  }

  init(known text: String) { self.text = text }

  /// The id's text.
  public var description: String { text }

  /// Orders ids by their text.
  public static func < (left: FieldID, right: FieldID) -> Bool { left.text < right.text }
}
