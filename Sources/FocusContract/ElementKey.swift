package import DBusTypes

/// The shared keys of an element and of the page around it, which bridges publish.
package enum ElementKey {
  package static let documentTitle = Key(shared: "Document", "Title")
  package static let url = Key(shared: "Document", "Url")
  package static let role = Key(shared: "Element", "Role")
  package static let name = Key(shared: "Element", "Name")
  package static let description = Key(shared: "Element", "Description")
  package static let content = Key(shared: "Text", "Content")
  package static let length = Key(shared: "Text", "Length")
  package static let caret = Key(shared: "Text", "Caret")
  package static let selection = Key(shared: "Text", "Selection")
  package static let selectedText = Key(shared: "Text", "SelectedText")
  package static let insert = Key(shared: "Text", "Insert")
  package static let value = Key(shared: "Range", "Value")
  package static let minimum = Key(shared: "Range", "Minimum")
  package static let maximum = Key(shared: "Range", "Maximum")
  package static let step = Key(shared: "Range", "Step")
  package static let increment = Key(shared: "Range", "Increment")
  package static let decrement = Key(shared: "Range", "Decrement")
  package static let checked = Key(shared: "Toggle", "Checked")
  package static let undo = Key(shared: "Edit", "Undo")
  package static let redo = Key(shared: "Edit", "Redo")
  package static let cut = Key(shared: "Edit", "Cut")
  package static let copy = Key(shared: "Edit", "Copy")
  package static let paste = Key(shared: "Edit", "Paste")
  package static let selectAll = Key(shared: "Edit", "SelectAll")

  /// The command that an action becomes.
  package static func action(_ member: MemberName) -> Key { Key(InterfaceName(known: "org.focusd.Action"), member) }
}

extension Key {
  /// A key of the vocabulary.
  package init(shared group: String, _ member: String) {
    self.init(InterfaceName(known: "org.focusd." + group), MemberName(known: member))
  }
}
