internal import BridgeSupport
internal import DBus
internal import DBusTypes

/// Reads a menu bar from its elements, without opening it.
final class MenuBarWalk {
  /// The most questions at first sight, beside some that find the window, and in all.
  static let questions = (first: 380, whole: 24_576)
  private static let deepest = 8
  /// The most nested elements, those included that are no menus.
  private static let mostLevels = 32
  /// The most elements of one menu.
  private static let widest = 4096

  private let bus: ProgramBus
  private let isWhole: Bool
  /// At first sight, what is enabled does not matter: it is asked for again before an item is run.
  private let asksStates: Bool
  private let timeout: Duration
  private var left: Int
  private var isOver = false
  /// Whether the program did not answer something in time.
  private(set) var isLate = false
  /// Whether items of closed menus told that they are visible.
  private(set) var tellsVisible = false
  private var seen: Set<ElementReference> = []

  init(_ bus: ProgramBus, isWhole: Bool, asksStates: Bool, timeout: Duration) {
    (self.bus, self.isWhole, self.asksStates, self.timeout) = (bus, isWhole, asksStates, timeout)
    left = isWhole ? Self.questions.whole : Self.questions.first
  }

  /// Counts questions that were asked to find the menu bar.
  func count(_ questions: Int) { left -= questions }

  /// Asks nothing more.
  func end() { isOver = true }

  /// Reads what is in `menu`, and in the menus in it.
  func read(_ menu: MenuElement, depth: Int = 0, _ done: @escaping () -> Void) {
    guard depth < Self.deepest, menu.level < Self.mostLevels, seen.insert(menu.reference).inserted, spend() else {
      return done()
    }
    bus.children(of: menu.reference, atMost: Self.widest, timeout: timeout) { [self] answer in
      note(answer)
      guard case .success(let children) = answer else { return done() }
      menu.children = children.filter { $0.application == menu.reference.application }.map {
        MenuElement($0, level: menu.level + 1, in: menu.reference)
      }
      // Of the menus in the bar it is known whether they are hidden; what closed menus hold tells it in some toolkits.
      let isBar = depth == 0
      let answers = Answers { [self] in
        menu.children.removeAll { isBar && $0.isHidden }
        if !isBar, menu.children.contains(where: \.isVisibleUnshown) { tellsVisible = true }
        readMenus(in: menu, depth: depth, done)
      }
      for child in menu.children { describe(child, asksStates: asksStates || isBar, answers.expect { _ in }) }
      answers.finish()
    }
  }

  private func readMenus(in menu: MenuElement, depth: Int, _ done: @escaping () -> Void) {
    let menus = menu.children.filter { child in
      let isRead = child.role == .container || child.role == .menu || child.hasChildren
      return isRead && (isWhole || self.depth(in: child, depth) < 2)
    }
    guard isWhole else { return readInTurn(menus[...], depth: depth, done) }
    let answers = Answers(done)
    for child in menus {
      let ended = answers.expect { (_: MenuElement) in }
      read(child, depth: self.depth(in: child, depth)) { ended(child) }
    }
    answers.finish()
  }

  /// With few questions, the first menus are read whole rather than all in part.
  private func readInTurn(_ menus: ArraySlice<MenuElement>, depth: Int, _ done: @escaping () -> Void) {
    guard let first = menus.first else { return done() }
    read(first, depth: self.depth(in: first, depth)) { [self] in readInTurn(menus.dropFirst(), depth: depth, done) }
  }

  private func depth(in child: MenuElement, _ depth: Int) -> Int { child.role == .container ? depth : depth + 1 }

  /// Why an answer did not come, if it may come when it is asked for again.
  @discardableResult
  private func note(_ answer: Result<some Any, DBusError>) -> DBusError? {
    guard case .failure(let error) = answer, error.isLate else { return nil }
    isLate = true
    return error
  }

  private func spend(_ count: Int = 1) -> Bool {
    guard !isOver, left >= count else { return false }
    left -= count
    return true
  }

  /// Asks for what an item shows: all of it, or nothing if too few questions are left.
  func describe(_ element: MenuElement, _ done: @escaping (DBusError?) -> Void) {
    describe(element, asksStates: asksStates, done)
  }

  private func describe(_ element: MenuElement, asksStates: Bool, _ done: @escaping (DBusError?) -> Void) {
    // The role, the name, the keys, and whether anything is in it.
    let most = asksStates ? 5 : 4
    guard spend(most) else { return done(nil) }
    bus.role(of: element.reference, timeout: timeout) { [self] answer in
      note(answer)
      switch answer {
      case .success(let number): element.number = number
      case .failure(let error): return done(error)
      }
      guard !isOver, element.role == .item || element.role == .menu else {
        left += most - 1
        return done(nil)
      }
      var refusal: DBusError?
      let answers = Answers { [self] in
        // Few menus have keys, as Konsole's "New Tab": at first sight that is not asked.
        guard !isOver, element.role == .item, element.accelerator.isEmpty || asksStates, refusal == nil else {
          left += 1
          return done(refusal)
        }
        bus.get(element.reference, AccessibilityNames.accessible, "ChildCount", timeout: timeout) { answer in
          if case .success(.int32(let count)?) = answer { element.hasChildren = count > 0 }
          done(nil)
        }
      }
      bus.get(
        element.reference, AccessibilityNames.accessible, "Name", timeout: timeout,
        answers.expect { [self] answer in
          note(answer)
          switch answer {
          case .success(let value): if case .string(let text)? = value { element.label = MenuText.label(text) }
          case .failure(let error): refusal = error
          }
        })
      if asksStates {
        bus.states(
          of: element.reference, timeout: timeout,
          answers.expect { [self] answer in
            // What is not known yet is not disabled.
            refusal = note(answer) ?? refusal
            guard case .success(let states) = answer else { return }
            element.states = states
          })
      }
      bus.call(
        element.reference, AccessibilityNames.action, "GetKeyBinding", [.int32(0)], timeout: timeout,
        answers.expect { [self] (answer: ProgramBus.Answer) in
          refusal = note(answer) ?? refusal
          guard case .success(let values) = answer, case .string(let text)? = values.first else { return }
          element.accelerator = Accelerator.shown(atspi: MenuText.label(text))
        })
      answers.finish()
    }
  }
}
