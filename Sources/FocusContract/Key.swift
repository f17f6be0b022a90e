public import DBusTypes

/// Names what a field publishes: an interface and a member of it, `demo.Form.Number`.
public struct Key: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The most bytes that a key may have, the dot included.
  public static let maximumLength = 255

  /// The part before the last dot.
  public let interface: InterfaceName
  /// The part after the last dot.
  public let member: MemberName
  /// The hash of both: keys are looked up far more often than they are made.
  private let hash: Int

  /// Checks `text` and makes a key of it.
  /// - Throws: `SyntaxError` if it is not an interface name, a dot and a member name, is longer than 255 bytes, or belongs
  ///   to D-Bus or to focusd itself.
  public init(_ text: String) throws(SyntaxError) {
    func error(_ rule: String) -> SyntaxError { SyntaxError(expected: "key", text: text, rule: rule) }
    let form = "an interface name, a dot and a member name, such as demo.Form.Number"
    guard text.utf8.count <= Key.maximumLength else { throw error("at most \(Key.maximumLength) bytes") }
    guard let dot = text.utf8.lastIndex(of: UInt8(ascii: ".")),
      let interface = try? InterfaceName(String(text[..<dot])),
      let member = try? MemberName(String(text[text.utf8.index(after: dot)...]))
    else { throw error(form) }
    guard !Key.isReserved(text) else {
      throw error("keys under org.freedesktop. and org.focusd.Focus1 are reserved for D-Bus and focusd")
    }
    self.init(interface, member)
  }

  /// Checks the two parts of a key as properties are named on the bus.
  /// - Throws: `SyntaxError` as `init(_:)` does.
  public init(interface: String, member: String) throws(SyntaxError) {
    // What is wrong, the text as a whole shows best.
    guard let name = try? InterfaceName(interface), let property = try? MemberName(member),
      interface.utf8.count + member.utf8.count < Key.maximumLength, !Key.isReserved(interface),
      !interface.utf8.elementsEqual("org.focusd".utf8), !interface.utf8.elementsEqual("org.freedesktop".utf8)
    else {
      try self.init(interface + "." + member)
      return
    }
    self.init(name, property)
  }

  /// Creates a key of an interface that is not reserved; together they are at most 255 bytes.
  package init(_ interface: InterfaceName, _ member: MemberName) {
    self.interface = interface
    self.member = member
    var hasher = Hasher()
    hasher.combine(interface)
    hasher.combine(member)
    hash = hasher.finalize()
  }

  /// Feeds the hash of both parts into `hasher`.
  public func hash(into hasher: inout Hasher) { hasher.combine(hash) }

  /// Whether both parts are the same.
  public static func == (left: Key, right: Key) -> Bool {
    left.hash == right.hash && left.member == right.member && left.interface == right.interface
  }

  /// Whether `name` is an interface, or a key, that fields cannot publish: it belongs to D-Bus or to focusd.
  public static func isReserved(_ name: String) -> Bool {
    name.hasPrefix("org.freedesktop.") || name == Focus1.busName.text || name.hasPrefix(Focus1.interfacePrefix)
  }

  /// The key's text.
  public var description: String { interface.text + "." + member.text }

  /// Orders keys by interface, then by member.
  public static func < (left: Key, right: Key) -> Bool {
    (left.interface.text, left.member.text) < (right.interface.text, right.member.text)
  }
}
