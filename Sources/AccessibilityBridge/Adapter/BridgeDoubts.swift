internal import BridgeSupport
internal import DBus
internal import DBusTypes

/// Checks elements that report a focus which they may not have: panes, lists with items, buttons of combo boxes, items of closed
/// menus, items of views without focus or beside an entry that has it.
extension Bridge {
  /// Goes on if the element has focus as its program told, and is told whether that is sure.
  func checkFocus(
    of element: ElementReference, in window: ElementReference?, _ application: Application,
    _ outcome: ElementReader.Outcome, _ goOn: @escaping (_ isSure: Bool) -> Void
  ) {
    // A search for what nobody desires any more ends without an outcome.
    guard let bus, case .success(let snapshot) = outcome, tracker.desired == element else { return goOn(true) }
    let goElsewhere = { [weak self] (event: FocusTracker.Event) in
      guard let self, tracker.desired == element else { return goOn(true) }
      let steps = tracker.take(event)
      guard !steps.isEmpty else { return goOn(true) }
      application.checking = nil
      carryOut(steps)
    }
    let hasProxies = application.toolkit.hasFocusProxies
    let isFiller = application.toolkit.isFiller(snapshot)
    if snapshot.role.isPane || isFiller || (hasProxies && snapshot.role == .comboBox) {
      let isOver = { [weak self] in self?.tracker.desired != element }
      let take = { (outcome: FocusSearch.Outcome) -> Void in
        switch outcome {
        case .found(let other, _) where isFiller:
          bus.role(of: other) { answer in
            guard case .success(let number) = answer else { return goOn(!answer.isLate) }
            let role = ElementRole(rawValue: number)
            if role == .filler || role.mayPassFocus { goOn(true) } else { goElsewhere(.gained(other)) }
          }
        case .found(let other, _) where other != element: goElsewhere(.gained(other))
        case .found, .nothing: goOn(true)
        case .noAnswer: goOn(false)
        }
      }
      FocusSearch.find(in: element, on: bus, isFiller ? .deepest : .editableFirst, isOver: isOver) {
        [weak self] outcome in
        // Firefox has a window of its own in one of GTK, of which a pane says that it has focus.
        guard case .nothing = outcome, !isFiller, let front = self?.tracker.window,
          front.application == element.application,
          let window, window != front
        else { return take(outcome) }
        FocusSearch.find(in: front, on: bus, .editableFirst, isOver: isOver, take)
      }
    } else if application.toolkit.isInClosedMenu(snapshot) {
      goElsewhere(.doubted(element))
    } else if application.toolkit.mayHaveItem(snapshot) {
      findItem(of: element, on: bus) { item, isLate in
        if let item, item != element { goElsewhere(.gained(item)) } else { goOn(!isLate) }
      }
    } else if application.toolkit.mayHaveParts(snapshot) {
      findText(of: element, on: bus) { part, isLate in
        if let part, part != element { goElsewhere(.gained(part)) } else { goOn(!isLate) }
      }
    } else if application.toolkit.mayLackFocus(snapshot) {
      findEntry(of: application, on: bus) { [weak self] keeper in
        if let keeper { return goElsewhere(.kept(keeper)) }
        // GTK 3 may tell focus before the state.
        guard let self, hasProxies else { return goOn(true) }
        findView(of: element, on: bus) { isSure in
          if let isSure { goOn(isSure) } else { goElsewhere(.doubted(element)) }
        }
      }
    } else if application.toolkit.isComboBoxButton(snapshot) {
      findComboBox(of: element, on: bus) { comboBox, isLate in
        if let comboBox { goElsewhere(.gained(comboBox)) } else { goOn(!isLate) }
      }
    } else {
      goOn(true)
    }
  }

  /// Hands over an entry that still has focus, as it has while a list that is operated from it tells its items.
  private func findEntry(
    of application: Application, on bus: ProgramBus, _ handler: @escaping (ElementReference?) -> Void
  ) {
    // One that was never read may be an entry.
    let candidates = tracker.earlier.filter { element in
      application.fields[element].map { $0.shape.text.isEditable && !$0.snapshot.role.mayPassFocus } ?? true
    }
    let left = Box(candidates)
    let answers = Answers { handler(left.content.last) }
    for candidate in candidates {
      let leaveOut = { left.content.removeAll { $0 == candidate } }
      bus.states(
        of: candidate,
        answers.expect { answer in
          if (try? answer.get())?.isSuperset(of: [.focused, .editable]) != true { leaveOut() }
        })
      guard application.fields[candidate] == nil else { continue }
      bus.role(
        of: candidate,
        answers.expect { answer in
          guard case .success(let number) = answer, [.text, .entry].contains(ElementRole(rawValue: number)) else {
            return leaveOut()
          }
        })
    }
    answers.finish()
  }

  /// Looks whether the view that an item is in has focus, among what contains the item: in Dolphin, two levels above the list.
  ///
  /// Hands over nil if none of these has focus; else whether that is known: it counts as known if the nearest does not tell.
  func findView(
    of item: ElementReference, on bus: ProgramBus, level: Int = 1, _ handler: @escaping (_ isSure: Bool?) -> Void
  ) {
    let unknown: Bool? = level == 1 ? true : nil
    bus.get(item, AccessibilityNames.accessible, "Parent") { [weak self] answer in
      guard case .success(let parent) = answer, let view = ElementReference(parent) else {
        return handler(answer.isLate ? false : unknown)
      }
      bus.states(of: view) { [weak self] answer in
        switch answer {
        case .success(let states) where states.contains(.focused): handler(true)
        case .success where level < 4: self?.findView(of: view, on: bus, level: level + 1, handler)
        case .success: handler(nil)
        case .failure(let error): handler(error.isLate ? false : unknown)
        }
      }
    }
  }
}
