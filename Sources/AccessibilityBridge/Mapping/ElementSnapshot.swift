package import BridgeSupport
internal import DBusTypes

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
        case AccessibilityNames.text.text: insert(.text)
        case AccessibilityNames.editableText.text: insert(.editableText)
        case AccessibilityNames.value.text: insert(.value)
        case AccessibilityNames.action.text: insert(.action)
        case AccessibilityNames.component.text: insert(.component)
        default: break
        }
      }
    }
  }

  /// Where an element is among its siblings.
  package struct Position: Hashable, Sendable {
    package let parent: ElementReference
    package let index: Int32
  }

  package var role: ElementRole
  /// Nil: it was not asked, or not told.
  package var position: Position?
  package var states: ElementStates = []
  package var interfaces: Interfaces = []
  package var name = ""
  package var description = ""
  /// Whether it is one of the secret ones; then nothing was asked of its text.
  package var isSecret = false
  /// Whether it is so only because the program did not prove that it is not.
  package var isSuspect = false
  /// Whether the program did not tell something in time, or not yet.
  package var isIncomplete = false
  /// Nil: it has no text that may be shown.
  package var text: TextReading?
  package var range: RangeReading?
  /// The names of its actions, in their order.
  package var actions: [String] = []

  package init(role: ElementRole) { self.role = role }

  /// Whether it is a menu, or an item of one, that is closed according to `states`.
  ///
  /// In an open menu, the item with focus is selected; the menu as a whole is not, and has no name.
  package func isClosedMenu(in states: ElementStates) -> Bool {
    role.isMenu && !(states.contains(.showing) && (name.isEmpty || states.contains(.selected)))
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

  /// The step of the last digit that `text`, which shows the value, has; nil if it shows the value in a way of its own.
  package func shownStep(in text: String?) -> Double? {
    var number = 0.0
    var places: Int?
    for byte in (text ?? "").utf8.drop(while: { !isDigit($0) }).prefix(while: { isDigit($0) || ",.".utf8.contains($0) })
    {
      guard isDigit(byte) else {
        places = 0
        continue
      }
      number = number * 10 + Double(byte - UInt8(ascii: "0"))
      places = places.map { $0 + 1 }
    }
    // Either separator may also be that of thousands.
    for places in [places ?? 0, 0] {
      let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
      if abs(number / scale - abs(value)) < 0.5 / scale { return 1 / scale }
    }
    return places == nil && value == value.rounded() ? 1 : nil
  }

  /// The value that is `steps` steps away.
  package func moved(_ steps: Double) -> Double {
    clamped(value + steps * (step > 0 ? step : (maximum - minimum) / 100))
  }

  /// Whether the value has left `before` for the side of `wanted`: some ranges move by themselves, as a player's position.
  package func isMoved(from before: Double, towards wanted: Double) -> Bool {
    before.isNaN ? !value.isNaN : (value - before) * (wanted - before) > 0
  }

  /// `value` within the range, if that is one.
  package func clamped(_ value: Double) -> Double {
    minimum < maximum ? min(max(value, minimum), maximum) : value
  }
}

/// What of an element is read.
package struct ElementAspects: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let text = ElementAspects(rawValue: 1)
  package static let value = ElementAspects(rawValue: 2)
  /// The name of what keeps it otherwise.
  package static let name = ElementAspects(rawValue: 8)
  /// All that it tells.
  package static let all = ElementAspects(rawValue: 7)
}
