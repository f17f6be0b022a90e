internal import DBus
internal import DBusTypes

/// Reads the text of one element, unless it is secret.
final class TextReader {
  /// What came of it.
  enum Outcome {
    case text(TextReading)
    case secret
    case failed(DBusError)
  }

  /// What an element's text is asked for beside the text.
  private struct Position {
    var length: Int32 = 0
    var caret: Int32 = 0
    var selection: Range<Int32>?
    var display = SecretRule.Display.notAsked
    var error: DBusError?
  }

  private let bus: AccessibilityBus
  private let element: ElementReference
  private let tellsDisplay: Bool
  private let isMultiLine: Bool
  /// A text that changes between two questions looks as if it were displayed otherwise: then both are asked again.
  private var doubts = 0
  private let handler: (Outcome) -> Void

  private init(
    _ bus: AccessibilityBus, _ element: ElementReference, tellsDisplay: Bool, isMultiLine: Bool,
    _ handler: @escaping (Outcome) -> Void
  ) {
    self.bus = bus
    self.element = element
    self.tellsDisplay = tellsDisplay
    self.isMultiLine = isMultiLine
    self.handler = handler
  }

  /// Reads the text of `element`, whose role allows it; `tellsDisplay` if its toolkit tells what is displayed.
  static func read(
    _ element: ElementReference, on bus: AccessibilityBus, tellsDisplay: Bool, isMultiLine: Bool,
    _ handler: @escaping (Outcome) -> Void
  ) {
    TextReader(bus, element, tellsDisplay: tellsDisplay && !isMultiLine, isMultiLine: isMultiLine, handler).begin()
  }

  private func begin() {
    let position = Box(Position())
    let answers = Answers { [self] in positioned(position.content) }
    bus.get(
      element, AccessibilityNames.text, "CharacterCount",
      answers.expect { result in
        switch result {
        case .success(.int32(let count)?): position.content.length = max(count, 0)
        case .success: break
        case .failure(let error): position.content.error = error
        }
      })
    bus.get(
      element, AccessibilityNames.text, "CaretOffset",
      answers.expect { result in
        if case .success(.int32(let caret)?) = result { position.content.caret = caret }
      })
    bus.call(
      element, AccessibilityNames.text, "GetSelection", [.int32(0)],
      answers.expect { answer in
        guard case .success(let values) = answer, values.count == 2, case .int32(let start) = values[0],
          case .int32(let end) = values[1], start != end
        else { return }
        position.content.selection = min(start, end)..<max(start, end)
      })
    if tellsDisplay {
      // The line, as it is displayed.
      bus.call(
        element, AccessibilityNames.text, "GetStringAtOffset", [.int32(0), .uint32(3)],
        answers.expect { answer in
          guard case .success(let values) = answer, case .string(let text)? = values.first else {
            position.content.display = .failed
            return
          }
          position.content.display = .text(text)
        })
    }
    answers.finish()
  }

  private func positioned(_ position: Position) {
    if let error = position.error { return handler(.failed(error)) }
    if SecretRule.isSecret(position.display, length: position.length) { return handler(.secret) }
    guard position.length > 0 else { return finish(position, content: "") }
    guard position.length <= TextReading.limit else { return askForSelection(position) }
    bus.call(element, AccessibilityNames.text, "GetText", [.int32(0), .int32(position.length)]) { [self] answer in
      switch answer {
      case .success(let values):
        guard case .string(let content)? = values.first else {
          return handler(.failed(DBusError(.failed, "the program told no text")))
        }
        judge(content, position)
      case .failure(let error): handler(.failed(error))
      }
    }
  }

  private func judge(_ content: String, _ position: Position) {
    let isSecret = SecretRule.isSecret(
      content, length: position.length, display: position.display, isMultiLine: isMultiLine)
    guard isSecret else { return finish(position, content: content.utf8.count > TextReading.limit ? nil : content) }
    doubts += 1
    guard doubts > 1 else { return begin() }
    handler(.secret)
  }

  private func finish(_ position: Position, content: String?, selected: String? = nil) {
    handler(
      .text(
        TextReading(
          length: position.length, caret: position.caret, selection: position.selection, content: content,
          selected: selected)))
  }

  /// Of a text that is too long, only what is selected is told, if that is not.
  private func askForSelection(_ position: Position) {
    guard let selection = position.selection, selection.count <= TextReading.limit else {
      return finish(position, content: nil)
    }
    bus.call(
      element, AccessibilityNames.text, "GetText", [.int32(selection.lowerBound), .int32(selection.upperBound)]
    ) { [self] answer in
      var selected: String?
      if case .success(let values) = answer, case .string(let text)? = values.first,
        text.utf8.count <= TextReading.limit
      {
        selected = text
      }
      finish(position, content: nil, selected: selected)
    }
  }
}

/// A value that several closures fill in.
final class Box<Content> {
  var content: Content

  init(_ content: Content) { self.content = content }
}
