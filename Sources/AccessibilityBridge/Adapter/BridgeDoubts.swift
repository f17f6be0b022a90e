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
    let follow = { (other: ElementReference?, isLate: Bool) -> Void in
      if let other, other != element { goElsewhere(.gained(other)) } else { goOn(!isLate) }
    }
    let toolkit = application.toolkit
    if toolkit.isFiller(snapshot) {
      findContent(of: element, on: bus, follow)
    } else if snapshot.role.isPane || (toolkit.hasFocusProxies && snapshot.role == .comboBox) {
      findFocus(in: element, of: window, on: bus, follow)
    } else if toolkit.isInClosedMenu(snapshot) {
      goElsewhere(.doubted(element))
    } else if toolkit.mayHaveItem(snapshot) {
      findItem(of: element, on: bus, follow)
    } else if toolkit.mayHaveParts(snapshot) {
      findText(of: element, on: bus, follow)
    } else if toolkit.mayLackFocus(snapshot) {
      findEntry(of: application, on: bus) { [weak self] keeper in
        if let keeper { return goElsewhere(.kept(keeper)) }
        // GTK 3 may tell focus before the state.
        guard let self, toolkit.viewTellsFocus(snapshot) else { return goOn(true) }
        findView(of: element, in: application, after: tracker.earlier.last, on: bus) { isSure in
          if let isSure { goOn(isSure) } else { goElsewhere(.doubted(element)) }
        }
      }
    } else if toolkit.isComboBoxButton(snapshot) {
      findComboBox(of: element, on: bus, follow)
    } else {
      goOn(true)
    }
  }

  /// Hands over what has focus in a pane, which is in `window`; nil if nothing has, or (`isLate`) that is not known.
  private func findFocus(
    in pane: ElementReference, of window: ElementReference?, on bus: ProgramBus,
    _ handler: @escaping (ElementReference?, _ isLate: Bool) -> Void
  ) {
    let isOver = { [weak self] in self?.tracker.desired != pane }
    let take = { (outcome: FocusSearch.Outcome) -> Void in handler(outcome.element, outcome.isLate) }
    FocusSearch.find(in: pane, on: bus, .editableFirst, isOver: isOver) { [weak self] outcome in
      // Firefox has a window of its own in one of GTK, of which a pane says that it has focus.
      guard case .nothing = outcome, let front = self?.tracker.window, front.application == pane.application,
        let window, window != front
      else { return take(outcome) }
      FocusSearch.find(in: front, on: bus, .editableFirst, isOver: isOver, take)
    }
  }

  /// Hands over what has focus in a filler, unless that is one, too; nil if nothing has, or (`isLate`) that is not known.
  private func findContent(
    of filler: ElementReference, on bus: ProgramBus,
    _ handler: @escaping (ElementReference?, _ isLate: Bool) -> Void
  ) {
    let isOver = { [weak self] in self?.tracker.desired != filler }
    FocusSearch.find(in: filler, on: bus, .deepest, isOver: isOver) { outcome in
      guard let found = outcome.element else { return handler(nil, outcome.isLate) }
      bus.role(of: found) { answer in
        guard case .success(let number) = answer else { return handler(nil, answer.isLate) }
        let role = ElementRole(rawValue: number)
        handler(role == .filler || role.mayPassFocus ? nil : found, false)
      }
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
    var left = candidates
    let answers = Answers { handler(left.last) }
    for candidate in candidates {
      let leaveOut = { left.removeAll { $0 == candidate } }
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
  /// Hands over nil if none of these has focus; else whether that is known: it counts as known if the nearest does not tell. If
  /// none of them says that it can have focus, as Qt 5's views do not, one of them had it before the item, or an item of it,
  /// `last`, had.
  func findView(
    of item: ElementReference, in application: Application, after last: ElementReference?, on bus: ProgramBus,
    above: [ElementReference] = [], canHave: Bool = false, _ handler: @escaping (_ isSure: Bool?) -> Void
  ) {
    let end = { [weak self] (above: [ElementReference], canHave: Bool) in
      guard let self, !canHave, let view = above.first else { return handler(nil) }
      let before = tracker.earlier.last { application.fields[$0]?.snapshot.role.isItem != true }
      let hasItem = application.lastItem.map { $0.item == last && $0.view == view } == true
      guard hasItem || before.map(above.contains) == true else { return handler(nil) }
      application.lastItem = (item, view)
      handler(true)
    }
    let unknown = { above.isEmpty ? handler(true) : end(above, canHave) }
    bus.parent(of: above.last ?? item) { [weak self] answer in
      guard case .success(let view?) = answer, view.application == item.application else {
        return answer.isLate ? handler(false) : unknown()
      }
      bus.states(of: view) { [weak self] answer in
        switch answer {
        case .success(let states) where states.contains(.focused): handler(true)
        case .success(let states):
          let (above, canHave) = (above + [view], canHave || states.contains(.focusable))
          guard above.count < 4 else { return end(above, canHave) }
          self?.findView(
            of: item, in: application, after: last, on: bus, above: above, canHave: canHave, handler)
        case .failure(let error): error.isLate ? handler(false) : unknown()
        }
      }
    }
  }
}
