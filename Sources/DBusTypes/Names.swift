/// A D-Bus name: a text whose syntax is checked once, when the name is created.
///
/// libdbus aborts the process if a name breaks the rules, so only values of these types are passed to it.
/// The rules are those of the D-Bus specification, section "Valid Names".
public protocol DBusName: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The name's text.
  var text: String { get }

  /// Creates a name from `text`.
  /// - Throws: `SyntaxError` if the text breaks the rules of the specification.
  init(_ text: String) throws(SyntaxError)
}

extension DBusName {
  /// The name's text.
  public var description: String { text }

  /// Orders names by their text.
  public static func < (left: Self, right: Self) -> Bool { left.text < right.text }
}

/// The maximum length of any name in bytes, according to the specification.
package let maximumNameLength = 255

private func isNameStart(_ byte: UInt8) -> Bool {
  (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || byte == UInt8(ascii: "_")
}

package func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

/// Whether `byte` is allowed in an element of an object path or of an interface name.
package func isNameByte(_ byte: UInt8) -> Bool { isNameStart(byte) || isDigit(byte) }

/// Whether `text` consists of two or more elements joined by dots, within the length of a name.
private func isDotted(_ text: some StringProtocol, dashes: Bool = false, leadingDigits: Bool = false) -> Bool {
  var length = 0
  var elements = 1
  var beginsElement = true
  for byte in text.utf8 {
    length += 1
    if byte == UInt8(ascii: ".") {
      guard !beginsElement else { return false }
      elements += 1
      beginsElement = true
      continue
    }
    guard
      isNameStart(byte) || (dashes && byte == UInt8(ascii: "-"))
        || (isDigit(byte) && (leadingDigits || !beginsElement))
    else { return false }
    beginsElement = false
  }
  return elements >= 2 && !beginsElement && length <= maximumNameLength
}

/// An interface name, such as `org.freedesktop.DBus.Properties`.
public struct InterfaceName: DBusName {
  /// The name's text.
  public let text: String

  /// Creates an interface name from `text`.
  /// - Throws: `SyntaxError` if it is not two or more elements of `[A-Za-z0-9_]`, joined by dots, none beginning
  ///   with a digit, at most 255 bytes in all.
  public init(_ text: String) throws(SyntaxError) {
    guard isDotted(text) else {
      throw SyntaxError(
        expected: "interface name", text: text,
        rule: "two or more elements of [A-Za-z0-9_], joined by dots, none beginning with a digit, at most 255 bytes")
    }
    self.text = text
  }

  package init(known text: String) { self.text = text }
}

/// An error name, such as `org.freedesktop.DBus.Error.Failed`; its syntax is that of an interface name.
public struct ErrorName: DBusName {
  /// The name's text.
  public let text: String

  /// Creates an error name from `text`.
  /// - Throws: `SyntaxError`, like `InterfaceName`.
  public init(_ text: String) throws(SyntaxError) { self.text = try InterfaceName(text).text }

  package init(known text: String) { self.text = text }
}

/// The name of a method, signal or property, such as `GetAll`.
public struct MemberName: DBusName {
  /// The name's text.
  public let text: String

  /// Creates a member name from `text`.
  /// - Throws: `SyntaxError` if it is not of `[A-Za-z0-9_]`, begins with a digit, is empty or longer than 255 bytes.
  public init(_ text: String) throws(SyntaxError) {
    let bytes = text.utf8
    guard let first = bytes.first, bytes.count <= maximumNameLength, !isDigit(first), bytes.allSatisfy(isNameByte)
    else {
      throw SyntaxError(
        expected: "member name", text: text,
        rule: "characters of [A-Za-z0-9_], not beginning with a digit, at most 255 bytes")
    }
    self.text = text
  }

  package init(known text: String) { self.text = text }
}

/// A bus name: unique (`:1.42`) or well-known (`org.focusd.Focus1`).
public struct BusName: DBusName {
  /// The name's text.
  public let text: String

  /// Whether the bus assigned this name to one connection for its lifetime.
  public var isUnique: Bool { text.utf8.first == UInt8(ascii: ":") }

  /// Creates a bus name from `text`.
  /// - Throws: `SyntaxError` if it is neither a unique nor a well-known name.
  public init(_ text: String) throws(SyntaxError) {
    let unique = text.utf8.first == UInt8(ascii: ":")
    let valid =
      unique
      ? text.utf8.count <= maximumNameLength && isDotted(text.dropFirst(), dashes: true, leadingDigits: true)
      : isDotted(text, dashes: true)
    guard valid else {
      throw SyntaxError(
        expected: "bus name", text: text,
        rule: "two or more elements of [A-Za-z0-9_-], joined by dots, at most 255 bytes")
    }
    self.text = text
  }

  package init(known text: String) { self.text = text }
}
