internal import BridgeSupport
internal import DBus
internal import DBusTypes

/// Reads the text of one element, unless it is secret.
final class TextReader {
  /// What came of it.
  enum Outcome {
    case text(TextReading, isIncomplete: Bool)
    /// It is secret; or the program does not prove that it is not, if `isSuspect`.
    case secret(isSuspect: Bool)
    /// It is an element of another role.
    case changed
    case failed(DBusError)
  }

  /// What an element's text is asked for beside the text.
  private struct Position {
    var length: Int32 = 0
    var caret: Int32 = 0
    var selection: (start: Int32, end: Int32)?
    var display = SecretRule.Display.notAsked
    /// Whether the program did not tell the caret or the selection in time.
    var isIncomplete = false
    var error: DBusError?
  }

  private let bus: ProgramBus
  private let element: ElementReference
  private let toolkit: Toolkit
  private let marks: ReadingMarks
  private let role: ElementRole
  private let units: TextUnits
  /// Whether its toolkit tells what is displayed.
  private let tellsDisplay: Bool
  private let isMultiLine: Bool
  /// A text that changes between two questions has another length, or looks as if it were displayed otherwise: then all
  /// is asked again.
  private var doubts = 0
  private let handler: (Outcome) -> Void

  private init(
    _ bus: ProgramBus, _ element: ElementReference, _ context: ElementReader.Context, _ role: ElementRole,
    isMultiLine: Bool, _ handler: @escaping (Outcome) -> Void
  ) {
    self.bus = bus
    self.element = element
    (toolkit, marks) = (context.toolkit, context.marks)
    self.role = role
    units = toolkit.units(of: role)
    tellsDisplay = toolkit.tellsDisplay && !isMultiLine
    self.isMultiLine = isMultiLine
    self.handler = handler
  }

  /// Reads the text of `element`, whose `role` allows it.
  static func read(
    _ element: ElementReference, on bus: ProgramBus, _ context: ElementReader.Context, _ role: ElementRole,
    isMultiLine: Bool, _ handler: @escaping (Outcome) -> Void
  ) {
    TextReader(bus, element, context, role, isMultiLine: isMultiLine, handler).begin()
  }

  /// The most units of a text that is read as a whole: more than is published, if it takes the text to count characters.
  private var limit: Int32 { Int32(units.areCharacters ? TextReading.limit : 1 << 20) }

  private func begin() {
    marks.text = bus.answers(of: element.application)
    var position = Position()
    let answers = Answers { [self] in positioned(position) }
    bus.get(
      element, AccessibilityNames.text, "CharacterCount",
      answers.expect { result in
        switch result {
        case .success(.int32(let count)?): position.length = max(count, 0)
        case .success: break
        case .failure(let error): position.error = error
        }
      })
    bus.get(
      element, AccessibilityNames.text, "CaretOffset",
      answers.expect { result in
        if case .success(.int32(let caret)?) = result { position.caret = caret }
        if case .failure(let error) = result, error.isLate { position.isIncomplete = true }
      })
    bus.call(
      element, AccessibilityNames.text, "GetSelection", [.int32(0)],
      answers.expect { answer in
        if case .failure(let error) = answer, error.isLate { position.isIncomplete = true }
        guard case .success(let values) = answer, values.count == 2, case .int32(let start) = values[0],
          case .int32(let end) = values[1]
        else { return }
        position.selection = (start, end)
      })
    if tellsDisplay {
      // The line, as it is displayed.
      bus.call(
        element, AccessibilityNames.text, "GetStringAtOffset", [.int32(0), .uint32(3)],
        answers.expect { answer in
          guard case .success(let values) = answer, case .string(let text)? = values.first else {
            position.display = .failed
            return
          }
          position.display = .text(text)
        })
    }
    answers.finish()
  }

  private func positioned(_ position: Position) {
    if let error = position.error { return handler(.failed(error)) }
    if SecretRule.isSecret(position.display, length: position.length) {
      return handler(.secret(isSuspect: position.display == .failed))
    }
    guard position.length > 0 else { return check { [self] in finish(position, "") } }
    guard position.length <= limit else { return askForSelection(position) }
    text(of: 0..<position.length) { [self] in judge($0, position) }
  }

  /// Asks for a part of the text, and then once more what decides whether that may be shown: it may have changed meanwhile.
  private func text(of range: Range<Int32>, _ next: @escaping (String) -> Void) {
    var text: Result<String, DBusError> = .failure(.elementGone)
    bus.text(of: element, range) { text = $0 }
    check { [self] in
      switch text {
      case .success(let received): next(units.meaning(of: received))
      case .failure(let error): handler(.failed(error))
      }
    }
  }

  /// Goes on if the element is what it was; what is asked before is answered then.
  private func check(_ next: @escaping () -> Void) {
    let proof = SecretProof()
    let answers = Answers { [self] in
      switch proof.outcome(role) {
      case .plain: next()
      case .secret: handler(.secret(isSuspect: false))
      case .suspect: handler(.secret(isSuspect: true))
      case .changed: handler(.changed)
      case .failed(let error): handler(.failed(error))
      }
    }
    proof.askRole(of: element, on: bus, answers)
    if toolkit.tellsInputType { proof.askAttributes(of: element, on: bus, answers) }
    answers.finish()
  }

  private func judge(_ text: String, _ position: Position) {
    if text.isEmpty, toolkit.isLimitedToBasicPlane { return askForSelection(position) }
    let isSecret = SecretRule.isSecret(
      text, length: position.length, display: position.display, isMultiLine: isMultiLine)
    let count = units.count(text)
    guard isSecret || count != position.length else { return finish(position, text) }
    doubts += 1
    guard doubts > 1 else { return begin() }
    if isSecret { return handler(.secret(isSuspect: isComposing(text, position))) }
    // D-Bus ends a text at a NUL, and GTK leaves out pictures and what is hidden.
    if count < position.length { askForSelection(position) } else { finish(position, text) }
  }

  /// Whether more or less is displayed than is stored: it may be another text by now, or what is composed is in it.
  private func isComposing(_ text: String, _ position: Position) -> Bool {
    guard case .text(let displayed) = position.display else { return false }
    return displayed.unicodeScalars.count != text.unicodeScalars.count
  }

  private func finish(_ position: Position, _ text: String?, selected: String? = nil) {
    var reading = TextReading(extent(of: position), in: units, text: text, selected: selected)
    if case .text(let displayed) = position.display, let text {
      reading.isComposing = displayed.unicodeScalars.count > text.unicodeScalars.count
    }
    handler(.text(reading, isIncomplete: position.isIncomplete))
  }

  private func extent(of position: Position) -> TextExtent {
    func place(_ told: Int32) -> Int32 { toolkit.endIsNegative && told < 0 ? position.length : told }
    let ends = position.selection.map { (place($0.start), place($0.end)) }
    return TextExtent(
      length: position.length, caret: place(position.caret), selection: ends.map { min($0, $1)..<max($0, $1) })
  }

  /// Of a text that is too long, only what is selected is told, if that is not.
  private func askForSelection(_ position: Position) {
    let selection = extent(of: position).selection
    guard !selection.isEmpty, selection.count <= TextReading.limit else {
      return check { [self] in finish(position, nil) }
    }
    text(of: selection) { [self] in finish(position, nil, selected: $0) }
  }
}

extension ProgramBus {
  /// Asks for a part of a text.
  func text(
    of element: ElementReference, _ range: Range<Int32>, timeout: Duration = ProgramBus.questionTimeout,
    _ handler: @escaping (Result<String, DBusError>) -> Void
  ) {
    let range: [DBusValue] = [.int32(range.lowerBound), .int32(range.upperBound)]
    call(element, AccessibilityNames.text, "GetText", range, timeout: timeout) { answer in
      handler(
        answer.flatMap { values in
          guard case .string(let text)? = values.first else {
            return .failure(DBusError(.failed, "the program told no text"))
          }
          return .success(text)
        })
    }
  }
}
