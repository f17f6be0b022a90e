internal import DBus
internal import DBusTypes
internal import EventLoop
internal import FocusClient
internal import FocusContract

/// Carries out one write or command of an element, and reads back what came of it: some programs agree and do nothing.
final class ElementWriter {
  typealias Completion = FieldProperty.Completion

  /// A change may take effect only after its reply.
  private static let patience: [Duration] = [.zero, .milliseconds(30), .milliseconds(100), .milliseconds(200)]

  private let bus: AccessibilityBus
  private let field: ElementField
  private let key: Key
  /// Reads the element anew, and publishes what it tells.
  private let read: (@escaping ElementField.Waiter) -> Void
  private let done: Completion

  init(
    _ bus: AccessibilityBus, _ field: ElementField, _ key: Key,
    reading read: @escaping (@escaping ElementField.Waiter) -> Void, _ done: @escaping Completion
  ) {
    (self.bus, self.field, self.key, self.read, self.done) = (bus, field, key, read, done)
  }

  /// Writes `value` into the property `key`.
  func write(_ value: DBusValue) {
    switch (key, value) {
    case (ElementKey.content, .string(let text)): setContent(text)
    case (ElementKey.selectedText, .string(let text)): replaceSelection(text)
    case (ElementKey.caret, .int32(let caret)): select(caret..<caret)
    case (ElementKey.selection, .structure(let ends)):
      guard ends.count == 2, case .int32(let start) = ends[0], case .int32(let end) = ends[1] else {
        return done(.failure(DBusError(.invalidArgs, "\(key) must be two numbers")))
      }
      select(min(start, end)..<max(start, end))
    case (ElementKey.value, .double(let number)): set(number)
    case (ElementKey.checked, .boolean(let isOn)): toggle(isOn)
    default: done(.failure(DBusError(.propertyReadOnly, "\(key) is read-only")))
    }
  }

  /// Runs the command `key`.
  func run(_ arguments: [DBusValue]) {
    switch (key, arguments.first) {
    case (ElementKey.insert, .string(let text)?): replaceSelection(text)
    case (ElementKey.increment, _): step(1)
    case (ElementKey.decrement, _): step(-1)
    default:
      guard let index = field.shape.actions[key.member] else { return done(.failure(.elementGone)) }
      change(AccessibilityNames.action, "DoAction", [.int32(index)]) { [self] in done(.success(())) }
    }
  }

  /// Reads the element before a change, because what was read last may be out of date.
  private func withNow(_ next: @escaping (ElementSnapshot) -> Void) {
    read { [self] outcome in
      if case .success(let now) = outcome { next(now) } else { done(.failure(.elementGone)) }
    }
  }

  // MARK: Text

  private func setContent(_ text: String) {
    withNow { [self] now in
      change(AccessibilityNames.editableText, "SetTextContents", [.string(text)]) { [self] in
        // A secret cannot be read back.
        guard !field.snapshot.isSecret else { return done(.success(())) }
        verify(from: now, changes: { $0.text?.content }) {
          $0.text?.content.map { $0.utf8.elementsEqual(text.utf8) } ?? ($0.text?.length == text.count32)
        }
      }
    }
  }

  private func replaceSelection(_ text: String) {
    withNow { [self] now in
      guard let before = now.text else { return done(.failure(.elementGone)) }
      let selection = before.selection
      guard !text.isEmpty || !selection.isEmpty else { return done(.success(())) }
      let answers = Answers { [self] in
        verify(from: now, changes: { $0.text.map { [$0.content ?? "", "\($0.length)"] } }) { _ in false }
      }
      if !selection.isEmpty {
        bus.call(
          field.element, AccessibilityNames.editableText, "DeleteText",
          [.int32(selection.lowerBound), .int32(selection.upperBound)], timeout: AccessibilityBus.changeTimeout,
          answers.expect { (_: AccessibilityBus.Answer) in })
      }
      if !text.isEmpty {
        bus.call(
          field.element, AccessibilityNames.editableText, "InsertText",
          [.int32(selection.lowerBound), .string(text), .int32(Int32(clamping: text.utf8.count))],
          timeout: AccessibilityBus.changeTimeout, answers.expect { (_: AccessibilityBus.Answer) in })
        // Toolkits leave the caret before what is inserted there.
        let caret = selection.lowerBound &+ text.count32
        bus.call(field.element, AccessibilityNames.text, "SetCaretOffset", [.int32(caret)]) { _ in }
      }
      answers.finish()
    }
  }

  private func select(_ selection: Range<Int32>) {
    withNow { [self] now in
      guard let text = now.text else { return done(.failure(.elementGone)) }
      guard selection.lowerBound >= 0, selection.upperBound <= text.length else {
        return done(
          .failure(
            DBusError(
              .invalidArgs,
              "\(key) must be within 0 and \(text.length), the length of the text, not \(selection.lowerBound) to "
                + "\(selection.upperBound)")))
      }
      select(selection, in: text)
    }
  }

  private func select(_ selection: Range<Int32>, in text: TextReading) {
    // GTK 4 carries some of these out and never replies: what is read back decides.
    let answers = Answers { [self] in
      verify {
        selection.isEmpty
          ? $0.text?.caret == selection.lowerBound && $0.text?.selection.isEmpty == true
          : $0.text?.selection == selection
      }
    }
    func ask(_ member: String, _ arguments: [Int32]) {
      bus.call(
        field.element, AccessibilityNames.text, member, arguments.map { .int32($0) },
        answers.expect { (_: AccessibilityBus.Answer) in })
    }
    if selection.isEmpty {
      if !text.selection.isEmpty { ask("RemoveSelection", [0]) }
      ask("SetCaretOffset", [selection.lowerBound])
    } else if text.selection.isEmpty {
      ask("AddSelection", [selection.lowerBound, selection.upperBound])
    } else {
      ask("SetSelection", [0, selection.lowerBound, selection.upperBound])
    }
    answers.finish()
  }

  // MARK: Ranges and toggles

  private func step(_ steps: Double) {
    withNow { [self] now in
      guard let range = now.range else { return done(.failure(.elementGone)) }
      let number = range.moved(steps)
      guard number.isFinite else {
        return done(.failure(DBusError(.notSupported, "\(key) cannot be run: the element tells no finite value")))
      }
      set(number, from: now)
    }
  }

  private func set(_ number: Double) {
    guard number.isFinite else {
      return done(.failure(DBusError(.invalidArgs, "\(key) must be a finite number, not \(number)")))
    }
    withNow { [self] now in set(number, from: now) }
  }

  private func set(_ number: Double, from before: ElementSnapshot) {
    guard let range = before.range else { return done(.failure(.elementGone)) }
    let number = range.clamped(number)
    let arguments: [DBusValue] = [
      .string(AccessibilityNames.value.text), .string("CurrentValue"), .variant(.double(number)),
    ]
    change(.properties, "Set", arguments, hasResult: false) { [self] in
      // The bits, because NaN is different from itself.
      verify(from: before, changes: { $0.range?.value.bitPattern }) { $0.range?.value == number }
    }
  }

  private func toggle(_ isOn: Bool) {
    withNow { [self] now in
      guard now.isChecked != isOn else { return done(.success(())) }
      guard let index = ActionName.toggle(now.actions) else {
        return done(.failure(DBusError(.notSupported, "\(key) cannot be written: the element has no action")))
      }
      change(AccessibilityNames.action, "DoAction", [.int32(index)]) { [self] in
        verify { $0.isChecked == isOn }
      }
    }
  }

  // MARK: What comes of it

  /// Makes a change, and goes on with `next` unless the program refuses it.
  private func change(
    _ interface: InterfaceName, _ member: String, _ arguments: [DBusValue], hasResult: Bool = true,
    _ next: @escaping () -> Void
  ) {
    bus.call(field.element, interface, member, arguments, timeout: AccessibilityBus.changeTimeout) { [self] answer in
      switch answer {
      case .failure(let error):
        done(.failure(DBusError(error.name, "\(key) was not changed: \(error.message)")))
      case .success(let values) where hasResult && values.first == .boolean(false):
        done(.failure(DBusError(.failed, "\(key) was not changed: the program refused it")))
      case .success: next()
      }
    }
  }

  /// Reads the element until it is as asked for, or at least different from before, which is the program's decision.
  private func verify<Part: Equatable>(
    from before: ElementSnapshot, changes: @escaping (ElementSnapshot) -> Part,
    _ isRight: @escaping (ElementSnapshot) -> Bool
  ) {
    let before = changes(before)
    attempt(0) { isRight($0) || changes($0) != before }
  }

  /// Reads the element until it is as asked for.
  private func verify(_ isRight: @escaping (ElementSnapshot) -> Bool) { attempt(0, isRight) }

  private func attempt(_ number: Int, _ isOver: @escaping (ElementSnapshot) -> Bool) {
    guard Self.patience.indices.contains(number) else {
      return done(.failure(DBusError(.failed, "\(key) was not changed: the program agreed and changed nothing")))
    }
    let ask = { [self] in
      read { [self] outcome in
        switch outcome {
        case .success(let now):
          if isOver(now) { done(.success(())) } else { attempt(number + 1, isOver) }
        case .failure(let error): done(.failure(error))
        }
      }
    }
    if number == 0 { ask() } else { bus.loop.schedule(after: Self.patience[number], ask) }
  }
}

extension String {
  /// The number of characters, as AT-SPI counts them.
  fileprivate var count32: Int32 { Int32(clamping: unicodeScalars.count) }
}
