import DBusTypes
import FocusContract

/// A key as typed: whole or only its last part, optionally with a pointer into its value.
struct KeyArgument: Hashable, Sendable {
  /// The key, or its last part.
  let name: String
  /// The JSON Pointer with its leading slash, or nothing.
  let pointer: String
  /// The key that all programs share whose last two parts the name is: it stands for no other.
  private let shared: String?

  /// The key and pointer in the daemon's syntax.
  var text: String { name + pointer }

  /// Whether the name may be a whole key: an interface name, which itself contains a dot, and a member name.
  var mayBeWhole: Bool { name.utf8.count { $0 == UInt8(ascii: ".") } >= 2 }

  /// Reads `KEY` or `KEY/POINTER`.
  /// - Throws: `CommandError` if the name cannot be a key or the end of one, or the pointer is not valid.
  init(_ text: String) throws(CommandError) {
    // By bytes: with a combining mark behind it, a slash is another character.
    let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) ?? text.endIndex
    self.init(name: String(text[..<slash]), pointer: String(text[slash...]))
    // The end of a key is a member name, or has the form of an interface name.
    guard (try? MemberName(name)) != nil || (try? InterfaceName(name)) != nil else {
      throw .usage(
        "'\(name.excerpt)' is not a key: expected elements of [A-Za-z0-9_], joined by dots, none beginning with a digit, at "
          + "most 255 bytes, such as demo.Form.Number, or only the last element")
    }
    do { _ = try Pointer(pointer) } catch { throw .usage(error.description) }
  }

  private init(name: String, pointer: String) {
    self.name = name
    self.pointer = pointer
    shared = KeyArgument.shared(name)
  }

  private static func shared(_ name: String) -> String? {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    if parts[0] == "Player", player.contains(parts[1]) { return "org.mpris.MediaPlayer2." + name }
    let whole = "org.focusd." + name
    return (try? Key(whole)).flatMap(Vocabulary.member) == nil ? nil : whole
  }

  /// The members of the interface `org.mpris.MediaPlayer2.Player`: MPRIS 2.2.
  private static let player = Set(
    """
    Next Previous Pause PlayPause Stop Play Seek SetPosition OpenUri PlaybackStatus LoopStatus Rate Shuffle Metadata \
    Volume Position MinimumRate MaximumRate CanGoNext CanGoPrevious CanPlay CanPause CanSeek CanControl
    """.split(separator: " "))

  /// Reads a key without a pointer: a whole one, or the end of only one of `keys`.
  /// - Throws: `CommandError` if it is neither.
  static func whole(_ text: String, among keys: some Sequence<String> = []) throws(CommandError) -> String {
    try KeyArgument(text).whole(among: keys)
  }

  /// The whole key: this one, or the only one of `keys` that it ends.
  /// - Throws: `CommandError` if it is neither, or has a pointer.
  func whole(among keys: some Sequence<String>) throws(CommandError) -> String {
    guard pointer.isEmpty else { throw notWhole }
    if mayBeWhole { return name }
    guard let whole = try resolved(among: keys) else { throw notWhole }
    return whole.name
  }

  /// That it is no whole key where one is needed.
  var notWhole: CommandError {
    .usage(
      "'\(text.excerpt)' is not a whole key: expected an interface name, a dot and a member name, such as demo.Form.Number"
    )
  }

  /// The whole keys among `keys` that this one stands for: itself, else, if it is too short for a key, those that end so.
  ///
  /// A key that is nil must not become a longer one, of another program: `Text.SelectedText` is what is dictated.
  func matches<S: StringProtocol>(among keys: some Sequence<S>) -> [String] {
    var found: [String] = []
    for key in keys {
      if let shared {
        if key == shared { return [shared] }
        continue
      }
      if key == name { return [name] }
      if !mayBeWhole, key.hasSuffix(name), key.dropLast(name.count).last == "." { found.append(String(key)) }
    }
    return found.naturallySorted()
  }

  /// This key, completed by the only one of `keys` that it can stand for, or nil if it matches none.
  /// - Throws: `CommandError` if it matches several.
  func resolved<S: StringProtocol>(among keys: some Sequence<S>) throws(CommandError) -> KeyArgument? {
    let found = matches(among: keys)
    guard let first = found.first else { return nil }
    guard found.count == 1 else {
      throw .usage("'\(name.excerpt)' is ambiguous: \(found.joined(separator: ", "))")
    }
    return KeyArgument(name: first, pointer: pointer)
  }
}

/// The pointer's last step, for elements that do not exist yet.
extension KeyArgument {
  private var lastSlash: String.Index? { pointer.utf8.lastIndex(of: UInt8(ascii: "/")) }

  /// The pointer's last token with its escapes; empty if there is no pointer.
  var lastToken: String {
    guard let slash = lastSlash else { return "" }
    return String(pointer[pointer.utf8.index(after: slash)...])
  }

  /// The container of the last token's element, or nil if there is no pointer.
  var container: KeyArgument? {
    guard let slash = lastSlash else { return nil }
    return KeyArgument(name: name, pointer: String(pointer[..<slash]))
  }

  /// The element of `value` that the pointer names, or nil if it does not exist.
  func element(of value: DBusValue) -> DBusValue? {
    guard let pointer = try? Pointer(pointer) else { return nil }
    return try? value.element(at: pointer)
  }

  /// The element `token` of the value that this names.
  func appending(pointer token: String) -> KeyArgument { KeyArgument(name: name, pointer: "\(pointer)/\(token)") }
}
