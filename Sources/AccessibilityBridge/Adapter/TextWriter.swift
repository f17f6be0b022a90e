internal import BridgeSupport
internal import DBus
internal import DBusTypes

/// Writes of a text: what the program holds afterwards decides, whatever it answers.
extension ElementWriter {
  /// The most units of a text that are asked for at once.
  private static let mostAsked = 4 << 20
  private static let noCaret = "the caret is not in this text"

  // MARK: Texts

  func setContent(_ text: String) {
    withEditable(text) { [self] now in
      guard !now.isSecret else { return fillIn(text) }
      guard let before = now.text else { return done(.failure(.elementGone)) }
      // LibreOffice may tell later which paragraph the caret has moved to.
      guard before.counted.hasCaret || !toolkit.isLibreOffice(now.role) else {
        return fail(.notSupported, Self.noCaret)
      }
      // By scalar: strings are equal, too, that are composed otherwise.
      if let content = before.content, content.unicodeScalars.elementsEqual(text.unicodeScalars) {
        return done(.success(()))
      }
      var change = TextChange(before, becoming: text)
      // What is set as a whole cannot be undone in GTK 4, nor what was typed before.
      if change == nil, toolkit.isGTK4, let content = before.content {
        change = TextChange(before, 0..<before.counted.length, inserted: text, replaced: content)
      }
      guard let change else { return setWhole(text, before) }
      exchange(change) { [self] _ in
        settle(
          change, { [self] next in insert(change.replaced, at: change.range.lowerBound) { _ in next() } },
          whenUnchanged: { [self] in setWhole(text, before) }
        ) { [self] in moveAlong(change, $0) }
      }
    }
  }

  /// Leaves the caret where whoever types goes on.
  private func moveAlong(_ change: TextChange, _ now: TextReading) {
    let before = change.before.counted
    guard before.hasCaret else { return done(.success(())) }
    finish(change, now, from: before.caret)
  }

  private func setWhole(_ text: String, _ before: TextReading) {
    let change = TextChange(before, 0..<before.counted.length, inserted: text)
    withPart(change.range, of: before, before.content) { [self] old in
      set(text) { [self] in
        let restore: (@escaping () -> Void) -> Void = { [self] next in
          if let old { set(old, next) } else { next() }
        }
        settle(change, restore) { [self] in moveAlong(change, $0) }
      }
    }
  }

  /// Reads the element before `text` is written there: not every program tells that it has become read-only.
  private func withEditable(_ text: String, _ next: @escaping (ElementSnapshot) -> Void) {
    guard !toolkit.isLimitedToBasicPlane || text.unicodeScalars.allSatisfy({ $0.value <= 0xFFFF }) else {
      return fail(.notSupported, "programs in Java take no characters beyond U+FFFF, such as emoji")
    }
    withDocument { [self] role in
      guard role != .documentSpreadsheet else {
        return fail(
          .notSupported,
          "Calc forgets what is written into a cell unless a key is pressed, too; "
            + "try xdotool on X11, else wtype or ydotool")
      }
      withNow { [self] now in
        guard ElementShape(now).text.isEditable else {
          return fail(.propertyReadOnly, "the text cannot be edited in the program now")
        }
        next(now)
      }
    }
  }

  /// Hands over the role of LibreOffice's document whose paragraph or cell it is, if that is told.
  private func withDocument(_ next: @escaping (ElementRole?) -> Void) {
    guard toolkit.isLibreOffice(field.snapshot.role) else { return next(nil) }
    bus.parent(of: field.element) { [self] in
      guard case .success(let parent?) = $0 else { return next(nil) }
      bus.parent(of: parent) { [self] in
        guard case .success(let document?) = $0 else { return next(nil) }
        bus.role(of: document) { next((try? $0.get()).map { ElementRole(rawValue: $0) }) }
      }
    }
  }

  func replaceSelection(_ text: String) {
    withEditable(text) { [self] now in
      guard let before = now.text else { return done(.failure(.elementGone)) }
      var selection = before.counted.selection
      if let next = field.continuation, next.extent == before.counted {
        selection = next.position..<next.position
      }
      guard !text.isEmpty || !selection.isEmpty else { return done(.success(())) }
      guard before.counted.hasCaret || !selection.isEmpty else {
        return fail(.notSupported, Self.noCaret)
      }
      withPart(selection, of: before, before.selected) { [self] old in
        guard let old else { return fail(.failed, "the program does not tell what is selected") }
        replace(TextChange(before, selection, inserted: text, replaced: old))
      }
    }
  }

  private func replace(_ change: TextChange) {
    exchange(change) { [self] refusal in
      let giveUp = { [self] in
        fail(.failed, refusal.map { "the program refused it: \($0.message)" } ?? Self.nothingChanged)
      }
      settle(change) { [self] next in
        insert(change.replaced, at: change.range.lowerBound) { [self] _ in
          let answers = Answers(next)
          moveSelection(to: change.range, isSelected: false, answers)
          answers.finish()
        }
      } whenUnchanged: { [self] in
        // Texts of egui can only be set as a whole.
        guard refusal != nil, let whole = change.whole else { return giveUp() }
        request(AccessibilityNames.editableText, "SetTextContents", [.string(whole)]) { [self] _ in
          settle(change, { $0() }, whenUnchanged: giveUp) { [self] in
            finish(change, $0, from: change.range.upperBound, isLate: true)
          }
        }
      } whenDone: { [self] in
        finish(change, $0, from: change.range.upperBound)
      }
    }
  }

  /// Deletes the part that is replaced, and inserts the new one; goes on with what the program says against that.
  private func exchange(_ change: TextChange, _ next: @escaping (DBusError?) -> Void) {
    var refusal: DBusError?
    let answers = Answers { next(refusal) }
    func expect() -> (ProgramBus.Answer) -> Void {
      answers.expect { (answer: ProgramBus.Answer) in
        if case .failure(let error) = answer, !error.isLate { refusal = error }
      }
    }
    if !change.range.isEmpty {
      request(
        AccessibilityNames.editableText, "DeleteText",
        [.int32(change.range.lowerBound), .int32(change.range.upperBound)], expect())
    }
    if !change.inserted.isEmpty {
      insert(change.inserted, at: change.range.lowerBound, expect())
    }
    answers.finish()
  }

  private func insert(_ text: String, at position: Int32, _ handler: @escaping (ProgramBus.Answer) -> Void) {
    let length = toolkit.insertsAll(into: field.snapshot) ? -1 : units.insertionLength(text)
    request(
      AccessibilityNames.editableText, "InsertText", [.int32(position), .string(text), .int32(length)], handler)
  }

  private func set(_ text: String, _ next: @escaping () -> Void) {
    change(AccessibilityNames.editableText, "SetTextContents", [.string(text)], next)
  }

  /// Hands over a part of the text, asking for it unless it is `known`.
  func withPart(
    _ range: Range<Int32>, of text: TextReading, _ known: String?, _ next: @escaping (String?) -> Void
  ) {
    if known != nil { return next(known) }
    guard range.count <= Self.mostAsked else { return next(nil) }
    bus.text(of: field.element, range, timeout: ProgramBus.changeTimeout) { next(try? $0.get()) }
  }

  /// Reads the text until the change is there; if the program only cut something out, calls `restore` and fails.
  private func settle(
    _ change: TextChange, attempt: Int = 0, _ restore: @escaping (@escaping () -> Void) -> Void,
    whenUnchanged: (() -> Void)? = nil, whenDone: @escaping (TextReading) -> Void
  ) {
    readLater(attempt) { [self] now in
      guard let now = now.text else {
        guard now.isSecret else {
          // The text may have become shorter while it was read.
          guard attempt + 1 < Self.patience.count else { return done(.failure(.elementGone)) }
          return settle(change, attempt: attempt + 1, restore, whenUnchanged: whenUnchanged, whenDone: whenDone)
        }
        // An entry that hides its text is recognised only once it has some.
        return checkFilledIn(change.length, before: change.before.counted.length, attempt: attempt)
      }
      let end = min(change.insertedRange.upperBound, now.counted.length)
      let range = min(change.range.lowerBound, end)..<end
      withPart(range, of: now, change.needsPart(now) ? nil : "") { [self] part in
        switch change.outcome(now, part: part.map(units.meaning(of:))) {
        case .done: whenDone(now)
        case _ where attempt + 1 < Self.patience.count:
          settle(change, attempt: attempt + 1, restore, whenUnchanged: whenUnchanged, whenDone: whenDone)
        case .altered: whenDone(now)
        case .unchanged:
          if let whenUnchanged { return whenUnchanged() }
          fail(.failed, Self.nothingChanged)
        case .cut:
          restore { [self] in
            readLater(1) { [self] now in
              // What refuses the new text may refuse the old one, too.
              let isBack = now.text.map { change.outcome($0, part: "") == .unchanged } == true
              if isBack { return fail(.failed, "the program removed the text and did not take the new one") }
              fail(
                .failed, "the program removed it and took neither the new one nor the old", outcome: "has lost text")
            }
          }
        }
      }
    }
  }

  // MARK: Secrets

  /// Writes a secret, of which nothing but its length is ever asked.
  private func fillIn(_ text: String) {
    withCount { [self] before in
      set(text) { [self] in checkFilledIn(units.count(text), before: before, attempt: 0) }
    }
  }

  private func checkFilledIn(_ count: Int32, before: Int32?, attempt: Int) {
    later(attempt) { [self] in
      withCount { [self] now in
        guard let now, let before, now != count else {
          // GTK leaves the caret before it.
          return moveCaret(to: count) { [self] _ in done(.success(())) }
        }
        guard attempt + 1 < Self.patience.count else {
          let held = "the program has \(now) of \(count) characters"
          guard now == before else { return fail(.failed, held, outcome: "was cut") }
          // Its characters are not read: as many as before may be others.
          return now > 0 ? fail(.failed, held, outcome: "may be changed") : fail(.failed, Self.nothingChanged)
        }
        checkFilledIn(count, before: before, attempt: attempt + 1)
      }
    }
  }

  /// Asks for the length of the text; nil: the program does not tell.
  private func withCount(_ next: @escaping (Int32?) -> Void) {
    bus.get(field.element, AccessibilityNames.text, "CharacterCount") { result in
      guard case .success(.int32(let count)?) = result else { return next(nil) }
      next(count)
    }
  }
}
