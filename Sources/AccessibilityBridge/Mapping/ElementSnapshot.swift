/// What an accessible object told of itself.
package struct ElementSnapshot: Equatable, Sendable {
  /// Which of AT-SPI's interfaces it has.
  package struct Interfaces: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let text = Interfaces(rawValue: 1)
    package static let editableText = Interfaces(rawValue: 2)
    package static let value = Interfaces(rawValue: 4)
    package static let action = Interfaces(rawValue: 8)
    package static let component = Interfaces(rawValue: 16)

    /// Reads what `GetInterfaces` replies.
    package init(names: [String]) {
      self = []
      for name in names {
        switch name {
        case "org.a11y.atspi.Text": insert(.text)
        case "org.a11y.atspi.EditableText": insert(.editableText)
        case "org.a11y.atspi.Value": insert(.value)
        case "org.a11y.atspi.Action": insert(.action)
        case "org.a11y.atspi.Component": insert(.component)
        default: break
        }
      }
    }
  }

  package var role: ElementRole
  package var states: ElementStates = []
  package var interfaces: Interfaces = []
  package var name = ""
  package var description = ""
  /// Whether it is one of the secret ones; then nothing was asked of its text.
  package var isSecret = false
  /// Nil: it has no text that may be shown.
  package var text: TextReading?
  package var range: RangeReading?
  /// The names of its actions, in their order.
  package var actions: [String] = []

  package init(role: ElementRole) { self.role = role }
}

/// A text, with all positions in characters.
package struct TextReading: Equatable, Sendable {
  /// The most bytes of a text that is published.
  package static let limit = 64 << 10

  package var length: Int32
  package var caret: Int32
  /// Start and end; both the caret if nothing is selected.
  package var selection: Range<Int32>
  /// Nil: it is longer than the limit.
  package var content: String?
  /// What is selected; nil: it is longer than the limit.
  package var selected: String?

  package init(length: Int32, caret: Int32, selection: Range<Int32>? = nil, content: String?, selected: String? = nil) {
    let caret = min(max(caret, 0), max(length, 0))
    self.length = length
    self.caret = caret
    let isSelected = selection.map { !$0.isEmpty && $0.lowerBound >= 0 && $0.upperBound <= length } ?? false
    self.selection = isSelected ? selection ?? caret..<caret : caret..<caret
    self.content = content
    self.selected = self.selection.isEmpty ? "" : selected
    guard let content, !self.selection.isEmpty else { return }
    let characters = content.unicodeScalars
    let part = characters.dropFirst(Int(self.selection.lowerBound)).prefix(self.selection.count)
    self.selected = String(String.UnicodeScalarView(part))
  }
}

/// What a slider, spin button or dial is at.
package struct RangeReading: Equatable, Sendable {
  package var value: Double
  package var minimum: Double
  package var maximum: Double
  /// 0 if it is continuous.
  package var step: Double

  package init(value: Double, minimum: Double, maximum: Double, step: Double) {
    (self.value, self.minimum, self.maximum, self.step) = (value, minimum, maximum, step)
  }

  /// The value that is `steps` steps away.
  package func moved(_ steps: Double) -> Double {
    clamped(value + steps * (step > 0 ? step : (maximum - minimum) / 100))
  }

  /// `value` within the range, if that is one.
  package func clamped(_ value: Double) -> Double {
    minimum < maximum ? min(max(value, minimum), maximum) : value
  }
}
