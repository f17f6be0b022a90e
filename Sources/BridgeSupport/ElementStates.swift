package import DBusTypes

/// The states of an accessible object that matter here: `AtspiStateType`.
package struct ElementStates: OptionSet, Hashable, Sendable {
  package let rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  private init(bit: UInt64) { rawValue = 1 << bit }

  package static let active = ElementStates(bit: 1)
  package static let checked = ElementStates(bit: 4)
  package static let editable = ElementStates(bit: 7)
  package static let enabled = ElementStates(bit: 8)
  package static let focusable = ElementStates(bit: 11)
  package static let focused = ElementStates(bit: 12)
  package static let multiLine = ElementStates(bit: 17)
  package static let pressed = ElementStates(bit: 20)
  package static let selected = ElementStates(bit: 23)
  package static let sensitive = ElementStates(bit: 24)
  package static let showing = ElementStates(bit: 25)
  package static let singleLine = ElementStates(bit: 26)
  package static let visible = ElementStates(bit: 30)
  package static let managesDescendants = ElementStates(bit: 31)
  package static let indeterminate = ElementStates(bit: 32)
  package static let checkable = ElementStates(bit: 41)
  package static let readOnly = ElementStates(bit: 43)
}

extension ElementStates {
  /// Reads the two words that `GetState` replies.
  package init?(_ value: DBusValue?) {
    guard case .array(let words)? = value else { return nil }
    var bits: UInt64 = 0
    for (index, word) in words.prefix(2).enumerated() {
      guard case .uint32(let word) = word else { return nil }
      bits |= UInt64(word) << (32 * UInt64(index))
    }
    self.init(rawValue: bits)
  }
}
