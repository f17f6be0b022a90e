internal import BridgeSupport
internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import FocusContract

/// Writes into ranges and toggles.
extension ElementWriter {
  /// Moves the range by so many of its steps.
  func step(_ steps: Double) {
    withNow { [self] now in
      guard let range = now.range else { return done(.failure(.elementGone)) }
      let number = range.moved(steps)
      // How far a step goes that it does not tell, its own action knows.
      let isAtEnd = number == range.value && range.minimum < range.maximum
      if range.step == 0, !isAtEnd, let index = ActionName.step(now.actions, isUp: steps > 0) {
        return runAction(index) { [self] in
          verify { $0.range?.value != range.value }
        }
      }
      guard number.isFinite else {
        return done(.failure(DBusError(.notSupported, "\(key) cannot be run: the element tells no finite value")))
      }
      set(number, from: now, isStep: true)
    }
  }

  /// Sets the range's value.
  func set(_ number: Double) {
    guard number.isFinite else {
      return done(.failure(DBusError(.invalidArgs, "\(key) must be a finite number, not \(number)")))
    }
    withNow { [self] now in set(number, from: now) }
  }

  private func set(_ number: Double, from before: ElementSnapshot, isStep: Bool = false) {
    guard let range = before.range else { return done(.failure(.elementGone)) }
    let number = range.clamped(number)
    let arguments: [DBusValue] = [
      .string(AccessibilityNames.value.text), .string("CurrentValue"), .variant(.double(number)),
    ]
    change(.properties, "Set", arguments, hasResult: false) { [self] in
      // What is less than a step away may have been rounded to what it was.
      attempt(
        0, { $0.range.map { $0.value == number || $0.isMoved(from: range.value, towards: number) } == true },
        isEnough: { now in !isStep && now.range.map { abs($0.value - number) < $0.step } == true },
        refusal: { [self] now in
          guard let value = now.range?.value, value != range.value else { return nil }
          return DBusError(.failed, "\(key) is \(value) now, not \(number)")
        })
    }
  }

  /// Turns the toggle on or off.
  func toggle(_ isOn: Bool) {
    withNow { [self] now in
      guard now.isChecked != isOn else { return done(.success(())) }
      guard let index = ActionName.toggle(now.actions) else {
        return done(.failure(DBusError(.notSupported, "\(key) cannot be written: the element has no action")))
      }
      click(index, isOn, from: now)
    }
  }

  /// Runs the action of a toggle, and again if that comes to a third state before the one that is asked for.
  private func click(_ index: Int32, _ isOn: Bool, from before: ElementSnapshot) {
    runAction(index) { [self] in
      attempt(
        0, { $0.isChecked == isOn || (!before.isMixed && $0.isMixed) },
        refusal: { [self] now in now.isMixed ? DBusError(.failed, "\(key) is in a third state now") : nil },
        next: { [self] now in
          if !before.isMixed && now.isMixed { click(index, isOn, from: now) } else { done(.success(())) }
        })
    }
  }
}
