internal import BridgeSupport
internal import DBus
internal import DBusTypes

/// Moves of a text's caret and selection.
extension ElementWriter {
  /// Selects characters, or puts the caret there if there are none.
  func select(_ selection: Range<Int32>) {
    withNow { [self] now in
      guard let text = now.text else { return done(.failure(.elementGone)) }
      guard let shown = text.shown else { return fail(.notSupported, "the text is too long to count its characters") }
      guard selection.lowerBound >= 0, selection.upperBound <= shown.length else {
        let given = selection.isEmpty ? "\(selection.lowerBound)" : "\(selection.lowerBound) to \(selection.upperBound)"
        return fail(.invalidArgs, "it must be within 0 and \(shown.length), the length of the text, not \(given)")
      }
      withPart(0..<text.counted.length, of: text, units.areCharacters ? "" : text.content) { [self] whole in
        guard let whole = whole.map(units.meaning(of:)) else { return done(.failure(.elementGone)) }
        let start = units.position(after: selection.lowerBound, in: whole)
        select(start..<units.position(after: selection.upperBound, in: whole), from: text.counted)
      }
    }
  }

  private func select(_ selection: Range<Int32>, from before: TextExtent) {
    // GTK 4 carries some of these out and never replies: what is read back decides.
    var refusal: DBusError?
    let answers = Answers { [self] in
      verify(refusal: { refusal }) { [self] now in
        guard let text = now.text?.counted,
          selection.isEmpty
            ? text.caret == selection.lowerBound && text.selection.isEmpty : text.selection == selection
        else { return false }
        // An explicit position of the caret counts, even if the caret is there already.
        field.continuation = nil
        return true
      }
    }
    moveSelection(to: selection, isSelected: !before.selection.isEmpty, answers) { error in
      // Text views and entry rows of GTK 4.14 to 4.20.
      guard error.name == .notSupported else { return }
      refusal = DBusError(.notSupported, "the program lets nobody move the caret or select")
    }
    answers.finish()
  }

  /// Asks for a selection, or for the caret if it is empty, and passes on what the program says against it.
  func moveSelection(
    to selection: Range<Int32>, isSelected: Bool, _ answers: Answers,
    _ refused: @escaping (DBusError) -> Void = { _ in }
  ) {
    func expect() -> (ProgramBus.Answer) -> Void {
      answers.expect { (answer: ProgramBus.Answer) in
        if case .failure(let error) = answer { refused(error) }
      }
    }
    if selection.isEmpty {
      if isSelected, !toolkit.caretSelects {
        ask("RemoveSelection", [0], expect())
      } else if field.snapshot.role.isParagraph {
        // LibreOffice selects from where a selection was that was replaced, and tells none.
        ask("RemoveSelection", [0], answers.expect { _ in })
      }
      moveCaret(to: selection.lowerBound, expect())
    } else if isSelected {
      ask("SetSelection", [0, selection.lowerBound, selection.upperBound], expect())
    } else {
      addSelection(selection, expect())
    }
  }

  /// Puts the caret that was at `old` where it belongs, if the program has left it elsewhere; if `isLate`, that takes effect when
  /// the program draws next, after keys that are pressed meanwhile.
  ///
  /// Whoever types meanwhile moves it, too: it is left alone while two readings differ.
  func finish(
    _ change: TextChange, _ now: TextReading, from old: Int32, attempt: Int = 0, isLate: Bool = false
  ) {
    guard let caret = change.place(of: old, in: now.counted),
      TextChange.isLeftByProgram(now.counted, shortOf: caret), attempt < Self.patience.count
    else { return done(.success(())) }
    // If it is moved, GTK 4 throws away what an input method composes.
    if toolkit.isGTK4, now.isComposing {
      field.continuation = (now.counted, caret)
      return done(.success(()))
    }
    read { [self] again in
      guard let text = try? again.get().text else { return done(.success(())) }
      guard text.counted == now.counted else {
        return finish(change, text, from: old, attempt: attempt + 1, isLate: isLate)
      }
      guard !isLate else { return moveCaret(to: caret) { [self] _ in waitForCaret(caret) } }
      moveCaret(to: caret) { [self] answer in
        // An entry row of libadwaita leaves it before what is inserted, with GTK 4.14 to 4.20.
        guard case .failure(let error) = answer, error.name == .notSupported else { return }
        field.continuation = (now.counted, caret)
      }
      read { [self] last in
        // A key has come before the caret was moved: it is short of what was typed now.
        guard let text = try? last.get().text, text.counted.caret == caret,
          text.counted.length != now.counted.length
        else { return done(.success(())) }
        finish(change, text, from: old, attempt: attempt + 1)
      }
    }
  }

  /// Ends the write when the caret is there, or does not come: what is written next goes there.
  private func waitForCaret(_ caret: Int32, attempt: Int = 0) {
    readLater(attempt) { [self] now in
      let isOver = now.text?.counted.caret == caret || attempt + 1 == Self.patience.count
      if isOver { done(.success(())) } else { waitForCaret(caret, attempt: attempt + 1) }
    }
  }

  private func ask(_ member: String, _ arguments: [Int32], _ handler: @escaping (ProgramBus.Answer) -> Void) {
    request(
      AccessibilityNames.text, member, arguments.map { .int32($0) }, timeout: ProgramBus.questionTimeout,
      isOptional: true, handler)
  }

  /// Asks for the caret alone, without a selection.
  func moveCaret(to position: Int32, _ handler: @escaping (ProgramBus.Answer) -> Void) {
    guard toolkit.caretSelects else { return ask("SetCaretOffset", [position], handler) }
    addSelection(position..<position, handler)
  }

  /// Asks for a selection, in place of one that is there: Kate has an empty one once one was replaced, and no second one.
  private func addSelection(_ selection: Range<Int32>, _ handler: @escaping (ProgramBus.Answer) -> Void) {
    let (start, end) = (selection.lowerBound, selection.upperBound)
    ask("AddSelection", [start, end]) { [self] answer in
      guard case .success(let values) = answer, values.first == .boolean(false) else { return handler(answer) }
      ask("SetSelection", [0, start, end], handler)
    }
  }
}
