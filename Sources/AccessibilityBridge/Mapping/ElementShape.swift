internal import BridgeSupport
package import DBusTypes
package import FocusContract

/// Which keys an element has, and what others may do with them; another shape needs `Examine`.
package struct ElementShape: Equatable, Sendable {
  package typealias Access = ElementRole.Access

  /// What is shown of a text.
  package enum Text: Equatable, Sendable {
    /// It has none, or none that is shown.
    case none
    case shown(isEditable: Bool)
    /// It is secret; others may fill it in if `isEditable`.
    case secret(isEditable: Bool)
  }

  package let text: Text
  package let range: Access?
  package let toggle: Access?
  package let actions: [MemberName: Int32]
  /// Whether it may be asked to take focus.
  package let takesFocus: Bool

  package init(_ element: ElementSnapshot) {
    let isEditable = element.states.contains(.editable) && element.interfaces.contains(.editableText)
    if element.isSecret {
      text = .secret(isEditable: isEditable)
    } else {
      text = element.text == nil ? .none : .shown(isEditable: isEditable)
    }
    // What a secret spin button is at is secret too.
    range = element.range == nil || element.isSecret ? nil : element.role.range
    toggle = element.role.isToggle ? (ActionName.toggle(element.actions) == nil ? .readOnly : .readWrite) : nil
    actions = ActionName.members(element.actions)
    takesFocus = element.interfaces.contains(.component) && element.states.contains(.focusable)
  }
}

/// The keys of the vocabulary that the bridge publishes.
package enum ElementKey {
  package static let title = key("Window", "Title")
  package static let application = key("Window", "Application")
  package static let process = key("Window", "ProcessId")
  package static let role = key("Element", "Role")
  package static let name = key("Element", "Name")
  package static let description = key("Element", "Description")
  package static let content = key("Text", "Content")
  package static let length = key("Text", "Length")
  package static let caret = key("Text", "Caret")
  package static let selection = key("Text", "Selection")
  package static let selectedText = key("Text", "SelectedText")
  package static let insert = key("Text", "Insert")
  package static let value = key("Range", "Value")
  package static let minimum = key("Range", "Minimum")
  package static let maximum = key("Range", "Maximum")
  package static let step = key("Range", "Step")
  package static let increment = key("Range", "Increment")
  package static let decrement = key("Range", "Decrement")
  package static let checked = key("Toggle", "Checked")

  /// The command that an action becomes.
  package static func action(_ member: MemberName) -> Key { Key(InterfaceName(known: "org.focusd.Action"), member) }

  private static func key(_ group: String, _ member: String) -> Key {
    Key(InterfaceName(known: "org.focusd." + group), MemberName(known: member))
  }
}

extension ElementShape {
  /// The values that others may read, with their types.
  package var values: [Key: Access] {
    var values: [Key: Access] = [
      ElementKey.title: .readOnly, ElementKey.application: .readOnly, ElementKey.process: .readOnly,
      ElementKey.role: .readOnly, ElementKey.name: .readOnly, ElementKey.description: .readOnly,
    ]
    if case .shown(let isEditable) = text {
      values[ElementKey.content] = isEditable ? .readWrite : .readOnly
      values[ElementKey.selectedText] = isEditable ? .readWrite : .readOnly
      values[ElementKey.length] = .readOnly
      values[ElementKey.caret] = .readWrite
      values[ElementKey.selection] = .readWrite
    }
    if let range {
      values[ElementKey.value] = range
      for key in [ElementKey.minimum, ElementKey.maximum, ElementKey.step] { values[key] = .readOnly }
    }
    if let toggle { values[ElementKey.checked] = toggle }
    return values
  }
}
