internal import BridgeSupport
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

    /// Whether others may write it.
    package var isEditable: Bool {
      switch self {
      case .none: false
      case .shown(let isEditable), .secret(let isEditable): isEditable
      }
    }
  }

  package let text: Text
  package let range: Access?
  package let toggle: Access?
  /// Those that are the element's own actions.
  package let commands: Set<Key>
  /// Whether it may be asked to take focus.
  package let takesFocus: Bool

  package init(_ element: ElementSnapshot) {
    // Qt's lines that are read-only say that they are editable, too, and let themselves be written.
    let isEditable =
      element.states.contains(.editable) && !element.states.contains(.readOnly)
      && element.interfaces.contains(.editableText)
    if element.isSecret {
      text = .secret(isEditable: isEditable)
    } else {
      text = element.text == nil ? .none : .shown(isEditable: isEditable)
    }
    // What a secret spin button is at is secret too.
    range = element.range == nil || element.isSecret ? nil : element.role.range
    // Without any state, its states were not told.
    let isToggle = element.role.isToggle && !element.states.isEmpty
    toggle = isToggle ? (ActionName.toggle(element.actions) == nil ? .readOnly : .readWrite) : nil
    commands = ActionName.commands(element.actions, isEditable: isEditable, isSecret: element.isSecret)
    takesFocus = element.interfaces.contains(.component) && element.states.contains(.focusable)
  }
}

extension ElementShape {
  /// Whether it has a text, a range or a toggle.
  package var holdsValue: Bool { text != .none || range != nil || toggle != nil }

  /// The values that others may read, with their types.
  package var values: [Key: Access] {
    var values: [Key: Access] = [
      WindowKey.title: .readOnly, WindowKey.application: .readOnly, WindowKey.process: .readOnly,
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
