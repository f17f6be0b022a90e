/// The path of an object, such as `/org/focusd/Focus1/focused`.
///
/// The rule is the D-Bus specification's, section "Valid Object Paths".
public struct ObjectPath: DBusName {
  /// The path's text.
  public let text: String

  /// The path `/`, which also stands for "none" in place of a path.
  public static let root = ObjectPath(known: "/")

  /// Creates a path from `text`.
  /// - Throws: `SyntaxError` if it is not `/`, or elements of `[A-Za-z0-9_]`, each after a slash.
  public init(_ text: String) throws(SyntaxError) {
    guard ObjectPath.isValid(text) else {
      throw SyntaxError(
        expected: "object path", text: text, rule: "'/', or elements of [A-Za-z0-9_], each after a slash")
    }
    self.text = text
  }

  package init(known text: String) { self.text = text }

  private static func isValid(_ text: String) -> Bool {
    let slash = UInt8(ascii: "/")
    var previous: UInt8?
    for byte in text.utf8 {
      if byte == slash {
        guard previous != slash else { return false }
      } else {
        guard previous != nil, isNameByte(byte) else { return false }
      }
      previous = byte
    }
    return previous != nil && (previous != slash || text.utf8.count == 1)
  }

  /// The path's elements, outermost first; none for `/`.
  public var elements: [Substring] { text.split(separator: "/") }

  /// The path without its last element; nil if that leaves none.
  public var parent: ObjectPath? {
    guard let slash = text.utf8.lastIndex(of: UInt8(ascii: "/")), slash > text.startIndex else { return nil }
    return ObjectPath(known: String(text[..<slash]))
  }

  /// The path of the child `element`.
  /// - Throws: `SyntaxError` if `element` is not of `[A-Za-z0-9_]`.
  public func appending(_ element: String) throws(SyntaxError) -> ObjectPath {
    try ObjectPath(text == "/" ? "/" + element : text + "/" + element)
  }
}
