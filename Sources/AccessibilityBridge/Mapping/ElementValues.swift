internal import BridgeSupport
package import DBusTypes
package import FocusContract

/// What is known of an element's surroundings.
package struct ElementPlace: Equatable, Sendable {
  /// The title of its window.
  package var title: String?
  package var application: String?
  package var process: UInt32?
  /// Whether the keys of windows are shown: not if the window bridge does.
  package var isShown = true
  /// Whether the program did not tell its window or the title of that in time, or not yet.
  package var isIncomplete = false

  package init(title: String? = nil, application: String? = nil, process: UInt32? = nil) {
    (self.title, self.application, self.process) = (title, application, process)
  }
}

/// The values of an element's keys; nil for one that it does not tell.
package enum ElementValues {
  package static func values(of element: ElementSnapshot, at place: ElementPlace) -> [Key: DBusValue] {
    let shape = ElementShape(element)
    var values: [Key: DBusValue] = [ElementKey.role: .string(element.role.shownName(isSecret: element.isSecret))]
    if place.isShown {
      values[WindowKey.title] = text(place.title)
      values[WindowKey.application] = text(place.application)
      values[WindowKey.process] = place.process.map { .uint32($0) }
    }
    values[ElementKey.name] = text(element.name)
    values[ElementKey.description] = text(element.description)
    if case .shown = shape.text, let text = element.text {
      values[ElementKey.content] = text.content.map { .string($0) }
      values[ElementKey.selectedText] = text.selected.map { .string($0) }
      if let shown = text.shown {
        values[ElementKey.length] = .int32(shown.length)
        values[ElementKey.caret] = .int32(shown.caret)
        values[ElementKey.selection] = .structure(
          [.int32(shown.selection.lowerBound), .int32(shown.selection.upperBound)])
      }
    }
    if shape.range != nil, let range = element.range {
      values[ElementKey.value] = .double(range.value)
      // Qt Quick tells no limits of its controls.
      if range.minimum != range.maximum {
        values[ElementKey.minimum] = .double(range.minimum)
        values[ElementKey.maximum] = .double(range.maximum)
      }
      values[ElementKey.step] = .double(range.step)
    }
    if shape.toggle != nil { values[ElementKey.checked] = .boolean(element.isChecked) }
    return values
  }

  /// The most bytes of a name, title or description.
  private static let limit = 4096

  /// A name, title or description, or nothing in place of one that is too long to be published.
  package static func kept(_ text: String) -> String { text.utf8.count <= limit ? text : "" }

  private static func text(_ text: String?) -> DBusValue? {
    guard let text = text.map(kept), !text.isEmpty else { return nil }
    return .string(text)
  }
}

extension ElementRole {
  /// The role as it is published.
  fileprivate func shownName(isSecret: Bool) -> String { isSecret ? Self.passwordText.name : name }
}

extension ElementSnapshot {
  /// Whether a toggle is in a third state, which may count as on or off.
  package var isMixed: Bool { states.contains(.indeterminate) }

  /// Whether a toggle is on.
  package var isChecked: Bool { states.contains(.checked) || (role == .toggleButton && states.contains(.pressed)) }
}
