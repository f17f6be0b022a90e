import DBusTypes

/// A key as it was typed: whole or by its last part, perhaps with a pointer into its value.
struct KeyArgument: Hashable, Sendable {
  /// The key, or its last part.
  let name: String
  /// The JSON Pointer with its leading slash, or nothing.
  let pointer: String

  /// All of it, as the daemon takes it.
  var text: String { name + pointer }

  /// Whether the name may be a whole key: an interface, which has a dot of its own, and a member.
  var mayBeWhole: Bool { name.utf8.count { $0 == UInt8(ascii: ".") } >= 2 }

  /// Reads `KEY` or `KEY/POINTER`.
  /// - Throws: `CommandError` where the name can be no key nor the end of one, or the pointer is none.
  init(_ text: String) throws(CommandError) {
    let slash = text.firstIndex(of: "/") ?? text.endIndex
    name = String(text[..<slash])
    pointer = String(text[slash...])
    // The end of a key is a member name, or has the form of an interface name.
    guard (try? MemberName(name)) != nil || (try? InterfaceName(name)) != nil else {
      throw .usage(
        "'\(name)' is not a key: elements of [A-Za-z0-9_], joined by dots, none beginning with a digit, at most 255 "
          + "bytes, such as demo.Form.Number, or the last of them alone")
    }
    do { _ = try Pointer(pointer) } catch { throw .usage(error.description) }
  }

  private init(name: String, pointer: String) {
    self.name = name
    self.pointer = pointer
  }

  /// Reads a whole key without a pointer.
  /// - Throws: `CommandError` where it is none.
  static func whole(_ text: String) throws(CommandError) -> String {
    let key = try KeyArgument(text)
    guard key.mayBeWhole, key.pointer.isEmpty else {
      throw .usage("'\(text)' is not a whole key: an interface name, a dot and a member name, such as demo.Form.Number")
    }
    return key.name
  }

  /// The whole keys among `keys` that this one stands for: itself, else those that end so.
  func matches<S: StringProtocol>(among keys: some Sequence<S>) -> [String] {
    var found: [String] = []
    for key in keys {
      if key == name { return [name] }
      if key.hasSuffix(name), key.dropLast(name.count).last == "." { found.append(String(key)) }
    }
    return found.sorted()
  }

  /// This key made whole by the only one of `keys` that it can stand for, or nil where there is none.
  /// - Throws: `CommandError` where there are several.
  func resolved<S: StringProtocol>(among keys: some Sequence<S>) throws(CommandError) -> KeyArgument? {
    let found = matches(among: keys)
    guard let first = found.first else { return nil }
    guard found.count == 1 else {
      throw .usage("'\(name)' may be any of \(found.joined(separator: ", "))")
    }
    return KeyArgument(name: first, pointer: pointer)
  }
}

/// The pointer's last step, for what is not there yet.
extension KeyArgument {
  /// The pointer's last token with its escapes; empty where there is no pointer.
  var lastToken: String {
    guard let slash = pointer.lastIndex(of: "/") else { return "" }
    return String(pointer[pointer.index(after: slash)...])
  }

  /// What the last token is an element of, or nil where there is no pointer.
  var container: KeyArgument? {
    guard let slash = pointer.lastIndex(of: "/") else { return nil }
    return KeyArgument(name: name, pointer: String(pointer[..<slash]))
  }

  /// What the pointer leads to in `value`, or nil where it leads nowhere.
  func element(of value: DBusValue) -> DBusValue? {
    guard let pointer = try? Pointer(pointer) else { return nil }
    return try? value.element(at: pointer)
  }

  /// The element `token` of what this names.
  func appending(pointer token: String) -> KeyArgument { KeyArgument(name: name, pointer: "\(pointer)/\(token)") }
}
