internal import BridgeSupport
internal import DBus
internal import DBusTypes
internal import EventLoop

/// Reads one element, in few rounds of questions that are asked at once.
final class ElementReader {
  typealias Outcome = Result<ElementSnapshot, DBusError>

  /// What is known before an element is read.
  struct Context {
    let toolkit: Toolkit
    let showsTerminals: Bool
    /// Whether it was secret before: then it is for good.
    let isSecret: Bool
    /// Where secret elements of the program are, or were.
    let secretPositions: Set<ElementSnapshot.Position>
    /// What was read before: what never changes is not asked again.
    let before: ElementSnapshot?
    /// What is asked again of an element that was read before.
    var aspects = ElementAspects.all
    let marks = ReadingMarks()
  }

  /// An object that was told of may be exported only later.
  private static let retries: [Duration] = [.milliseconds(30), .milliseconds(100)]

  private let bus: ProgramBus
  private let element: ElementReference
  private let context: Context
  private let handler: (Outcome) -> Void
  private var attempt = 0
  /// What was read before of the same object, as far as its role tells: a path may be another object's later.
  private var before: ElementSnapshot?
  /// The same, also if something was missing: what is not told again in time is as it was.
  private var known: ElementSnapshot?
  private var snapshot = ElementSnapshot(role: ElementRole(rawValue: 0))
  private var aspects: ElementAspects
  private var error: DBusError?

  private init(
    _ bus: ProgramBus, _ element: ElementReference, _ context: Context, _ handler: @escaping (Outcome) -> Void
  ) {
    (self.bus, self.element, self.context, self.handler) = (bus, element, context, handler)
    // What is missing is asked for again.
    before = context.before?.isIncomplete == true ? nil : context.before
    known = context.before
    aspects = before == nil ? .all : context.aspects
  }

  /// Reads `element`, and calls `handler` once.
  static func read(
    _ element: ElementReference, on bus: ProgramBus, _ context: Context, _ handler: @escaping (Outcome) -> Void
  ) {
    ElementReader(bus, element, context, handler).begin()
  }

  /// Whether all is read that may change.
  private var isWhole: Bool { aspects.isSuperset(of: .all) }

  /// The role decides what may be asked next.
  private func begin() {
    error = nil
    context.marks.begin = bus.answers(of: element.application)
    context.marks.text = context.marks.begin
    if let before, !isWhole, !before.isSecret {
      snapshot = before
      return readContents()
    }
    snapshot = ElementSnapshot(role: ElementRole(rawValue: 0))
    let proof = SecretProof()
    let answers = Answers { [self] in identified(proof) }
    proof.askRole(of: element, on: bus, answers)
    bus.states(
      of: element,
      answers.expect { [self] answer in
        if case .success(let states) = answer {
          snapshot.states = states
        } else {
          snapshot.isIncomplete = true
          if answer.isLate, let known { snapshot.states = known.states }
        }
      })
    // An entry keeps its name unless it tells that it does not, and a button may not.
    if let before, before.text != nil, !aspects.contains(.name) {
      snapshot.name = before.name
    } else {
      text("Name", \.name, answers)
    }
    if let before {
      (snapshot.interfaces, snapshot.actions) = (before.interfaces, before.actions)
      (snapshot.description, snapshot.position) = (before.description, before.position)
    } else {
      if context.toolkit.replacesElements { askPosition(answers) }
      askInterfaces(answers)
      text("Description", \.description, answers)
    }
    // A page may call an entry a password only from now on.
    if before == nil || context.toolkit.tellsInputType { proof.askAttributes(of: element, on: bus, answers) }
    answers.finish()
  }

  private func askInterfaces(_ answers: Answers) {
    bus.ask(
      element, "GetInterfaces",
      answers.expect { [self] answer in
        switch answer {
        case .success(let values):
          guard case .array(let names)? = values.first else {
            error = DBusError(.failed, "the program told no interfaces")
            return
          }
          snapshot.interfaces = ElementSnapshot.Interfaces(names: names.compactMap(\.basicText))
        case .failure(let problem): error = problem
        }
      })
  }

  private func askPosition(_ answers: Answers) {
    var (parent, index): (ElementReference?, Int32?)
    let take = answers.expect { (_: Void) in }
    let asked = Answers { [self] in
      if let parent, let index { snapshot.position = ElementSnapshot.Position(parent: parent, index: index) }
      take(())
    }
    bus.parent(
      of: element,
      asked.expect { result in
        if case .success(let found) = result { parent = found }
      })
    bus.ask(
      element, "GetIndexInParent",
      asked.expect { answer in
        if case .success(let values) = answer, case .int32(let number)? = values.first { index = number }
      })
    asked.finish()
  }

  private func text(_ property: String, _ place: WritableKeyPath<ElementSnapshot, String>, _ answers: Answers) {
    bus.get(
      element, AccessibilityNames.accessible, property,
      answers.expect { [self] result in
        guard case .success(.string(let text)?) = result else {
          guard result.isLate else { return }
          snapshot.isIncomplete = true
          if let known { snapshot[keyPath: place] = known[keyPath: place] }
          return
        }
        snapshot[keyPath: place] = context.toolkit.isClassName(text) ? "" : ElementValues.kept(text)
      })
  }

  private func identified(_ proof: SecretProof) {
    if let error = error ?? proof.error {
      guard error.isOfMissingObject, attempt < Self.retries.count else { return handler(.failure(error)) }
      return tryAgain()
    }
    snapshot.role = proof.role ?? .passwordText
    if let known, known.role != snapshot.role { return readAnew() }
    switch proof.outcome() {
    case .secret: snapshot.isSecret = true
    // A button has nothing to hide.
    case .suspect where snapshot.interfaces.contains(.text) || snapshot.interfaces.contains(.editableText):
      (snapshot.isSecret, snapshot.isSuspect) = (true, !context.isSecret)
    case .plain, .suspect, .changed, .failed: snapshot.isSecret = context.isSecret || isInPlaceOfSecret
    }
    readContents()
  }

  /// Whether it is the entry that a page has in place of one that was secret, as when it shows the password.
  private var isInPlaceOfSecret: Bool {
    snapshot.interfaces.contains(.editableText) && snapshot.position.map(context.secretPositions.contains) == true
  }

  /// Reads what the element holds, and ends.
  private func readContents() {
    let answers = Answers { [self] in
      if let error { return handler(.failure(error)) }
      if isWhole { judgeRange() }
      handler(.success(snapshot))
    }
    if aspects.contains(.text) { readText(answers) }
    if aspects.contains(.value) { readRange(answers) }
    if isWhole || aspects.contains(.text) { readActions(answers) }
    answers.finish()
  }

  /// The path is another object's, or the object another one.
  private func readAnew() {
    (before, known, aspects) = (nil, nil, .all)
    if attempt < Self.retries.count { tryAgain() } else { handler(.failure(.elementGone)) }
  }

  private func tryAgain() {
    bus.loop.schedule(after: Self.retries[attempt]) { [self] in begin() }
    attempt += 1
  }

  private func readText(_ answers: Answers) {
    guard snapshot.interfaces.contains(.text), !snapshot.isSecret,
      snapshot.role != .terminal || context.showsTerminals
    else { return }
    let take = answers.expect { (_: Void) in }
    TextReader.read(
      element, on: bus, context, snapshot.role, isMultiLine: snapshot.states.contains(.multiLine)
    ) { [self] outcome in
      switch outcome {
      case .text(let text, let isIncomplete):
        snapshot.text = text
        if isIncomplete { snapshot.isIncomplete = true }
      case .secret(let isSuspect): (snapshot.isSecret, snapshot.isSuspect, snapshot.text) = (true, isSuspect, nil)
      // Whoever waits for these answers is not told of them.
      case .changed: return readAnew()
      case .failed(let problem) where problem.isLate || problem.name == .disconnected: error = problem
      case .failed: (snapshot.text, snapshot.isIncomplete) = (nil, true)
      }
      take(())
    }
  }

  private func readRange(_ answers: Answers) {
    guard snapshot.interfaces.contains(.value), snapshot.role.range != nil, !snapshot.isSecret else { return }
    let range = known?.range
    // It was found to have none.
    if !isWhole, known != nil, range == nil, snapshot.role == .spinButton { return }
    snapshot.range = range ?? RangeReading(value: 0, minimum: 0, maximum: 0, step: 0)
    // The limits change with nothing that is told.
    for (property, place) in isWhole ? Self.rangeProperties : Array(Self.rangeProperties.prefix(1)) {
      bus.get(
        element, AccessibilityNames.value, property,
        answers.expect { [self] result in
          switch result {
          case .success(.double(let number)?): snapshot.range?[keyPath: place] = number
          case .failure(let error) where error.isLate:
            snapshot.isIncomplete = true
            if range == nil { snapshot.range = nil }
          case .success, .failure: break
          }
        })
    }
  }

  /// Corrects what toolkits tell for want of better.
  ///
  /// Qt's dates and times have no value, and its spin boxes and those of GTK 4 tell no step. Qt Quick's, which have no text, tell
  /// no limits. Java tells a step that is too small to change any value.
  private func judgeRange() {
    if snapshot.range?.step.isSubnormal == true { snapshot.range?.step = 0 }
    guard snapshot.role == .spinButton, let range = snapshot.range else { return }
    if context.toolkit.isQt, snapshot.interfaces.contains(.text), !(range.minimum < range.maximum) {
      snapshot.range = nil
    } else if range.step == 0, ActionName.step(snapshot.actions, isUp: true) == nil {
      // Not assigned at once: the text is read of what is being changed then, which ends the process.
      let step = range.shownStep(in: snapshot.text?.content) ?? 0
      snapshot.range?.step = step
    }
  }

  private static var rangeProperties: [(String, WritableKeyPath<RangeReading, Double>)] {
    [
      ("CurrentValue", \.value), ("MinimumValue", \.minimum), ("MaximumValue", \.maximum),
      ("MinimumIncrement", \.step),
    ]
  }

  private func readActions(_ answers: Answers) {
    guard snapshot.interfaces.contains(.action) else { return }
    var same: [String]?
    // Some are named by the element's state, as "check" and "uncheck"; of a text, only an editor's change, and their number.
    if let before, !isWhole || before.text != nil {
      guard ActionName.areEditing(before.actions) else { return }
      same = before.actions
    }
    bus.actions(
      of: element, before: same,
      answers.expect { [self] answer in
        switch answer {
        case .success(let names): snapshot.actions = names
        case .failure(let error) where error.isLate:
          snapshot.isIncomplete = true
          if let known { snapshot.actions = known.actions }
        case .failure: break
        }
      })
  }
}

/// How many answers a program had given when it was asked: what it told before the next one is contained in that.
final class ReadingMarks {
  /// When the reading began, and when the text was asked for.
  var begin = 0
  var text = 0

  /// Whether an event about `aspects` is contained in what is read, if the program has given `answers` by then.
  func contains(_ aspects: ElementAspects, _ answers: Int) -> Bool {
    answers == (aspects == .text ? text : begin)
  }
}
