package import DBusTypes

/// The keys below `org.focusd.` that programs share, each with its one meaning and signature; the section "Bindings" of the
/// contract holds programs to the signatures.
package enum Vocabulary {
  /// What a shared key is.
  package enum Member: Hashable, Sendable {
    /// A value of this type.
    case value(DBusType)
    /// A command with these arguments; nil: programs choose them.
    case command(Signature?)
  }

  /// What `key` is; nil if it is not one of the shared keys.
  package static func member(_ key: Key) -> Member? {
    let interface = key.interface.text
    guard interface.hasPrefix(prefix) else { return nil }
    if interface == actions { return .command(nil) }
    return interfaces[interface]?[key.member.text]
  }

  /// The type of the value that `key` stands for in every program; nil if programs choose it, or if it is a command.
  package static func type(of key: Key) -> DBusType? {
    guard case .value(let type)? = member(key) else { return nil }
    return type
  }

  /// Checks that a program may have a value of this type at `key`.
  /// - Throws: `VocabularyError`: `typeMismatch`, `isCommand`.
  package static func check(_ type: DBusType, of key: Key) throws(VocabularyError) {
    switch member(key) {
    case .value(let expected) where expected != type: throw .typeMismatch(key, expected: expected, actual: type)
    case .command: throw .isCommand(key)
    case .value, nil: break
    }
  }

  /// Checks that a program may have the command `key` with these arguments.
  /// - Throws: `VocabularyError`: `signatureMismatch`, `isValue`.
  package static func check(_ arguments: Signature, of key: Key) throws(VocabularyError) {
    switch member(key) {
    case .command(let expected?) where expected != arguments:
      throw .signatureMismatch(key, expected: expected, actual: arguments)
    case .value: throw .isValue(key)
    case .command, nil: break
    }
  }

  private static let prefix = "org.focusd."
  /// The actions of an element: their names are not fixed.
  private static let actions = "org.focusd.Action"

  private static let interfaces: [String: [String: Member]] = [
    "org.focusd.Window": members(
      [.string: "Title Application Workspace", .uint32: "ProcessId"], [[]: "Close Fullscreen Float Minimize"]),
    "org.focusd.Element": members([.string: "Role Name Description"]),
    "org.focusd.Text": members(
      [.string: "Content SelectedText", .int32: "Length Caret", .structure([.int32, .int32]): "Selection"],
      [[.string]: "Insert"]),
    "org.focusd.Range": members([.double: "Value Minimum Maximum Step"], [[]: "Increment Decrement"]),
    "org.focusd.Toggle": members([.boolean: "Checked"]),
    "org.focusd.Edit": members([:], [[]: "Undo Redo Cut Copy Paste SelectAll Find"]),
    "org.focusd.View": members([:], [[]: "ZoomIn ZoomOut ZoomReset Fullscreen"]),
    "org.focusd.Tab": members([:], [[]: "New Close Next Previous"]),
    "org.focusd.Navigation": members([:], [[]: "Back Forward Reload"]),
    "org.focusd.Application": members([:], [[]: "Preferences NewWindow Quit"]),
    "org.focusd.Menu": members([:], [[]: "Items", [.string]: "Activate", [.string, .boolean]: "Check"]),
    "org.focusd.Document": members(
      [.string: "Path Url Title"], [[]: "New Open Save SaveAs Print Close"]),
    "org.focusd.Shell": members([.string: "Buffer Directory"], [[]: "Accept"]),
  ]

  private static func members(
    _ values: [DBusType: String], _ commands: [[DBusType]: String] = [:]
  ) -> [String: Member] {
    var members: [String: Member] = [:]
    for (type, names) in values {
      for name in names.split(separator: " ") { members[String(name)] = .value(type) }
    }
    for (types, names) in commands {
      for name in names.split(separator: " ") { members[String(name)] = .command(Signature(known: types)) }
    }
    return members
  }
}
