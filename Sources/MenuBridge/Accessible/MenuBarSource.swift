internal import BridgeSupport
internal import DBus
internal import DBusTypes
internal import EventLoop

/// The menu bar of a window as accessibility shows it.
final class MenuBarSource: MenuSource {
  /// The most children that are looked at for the menu bar: an editor's docks may come before it.
  private static let widest = 128
  /// How long it is read at first sight: with a program that is slow for each answer, all of them would take minutes.
  private static let longestReading = Duration.seconds(15)

  private let bus: ProgramBus
  private let frame: ElementReference
  private var bar: MenuElement?
  /// Whether items of closed menus tell that they are visible, so that others are hidden; nil before it is known.
  private var tellsVisible: Bool?
  /// Items that turned out to open menus when they were looked at.
  private var openers: Set<ElementReference> = []
  private(set) var isPartial = false
  /// What was read last, by id.
  private var elements: [String: (menus: [String], element: MenuElement)] = [:]

  init(_ bus: ProgramBus, frame: ElementReference) { (self.bus, self.frame) = (bus, frame) }

  func read(isWhole: Bool, timeout: Duration, _ done: @escaping (Result<[MenuItem], DBusError>) -> Void) {
    let (walk, wasKnown) = (MenuBarWalk(bus, isWhole: isWhole, asksStates: isWhole, timeout: timeout), bar != nil)
    var menu: MenuElement?
    var limit: TimerID?
    let next = Continuation { [self] in
      if let limit { bus.loop.cancel(limit) }
      walk.end()
      if walk.isLate { isPartial = true }
      if walk.tellsVisible { tellsVisible = true }
      let found = menu?.items(tellsVisible: tellsVisible == true) ?? []
      let items = found.filter { !openers.contains($0.element.reference) }
      // Some programs make their menu bar anew.
      if wasKnown, found.isEmpty, !isPartial {
        bar = nil
        return read(isWhole: isWhole, timeout: timeout, done)
      }
      let read = Dictionary(items.map { ($0.item.id, ($0.item.menus, $0.element)) }) { first, _ in first }
      // What could not be read is not gone: it is asked before it is run.
      elements = isPartial ? elements.merging(read) { $1 } : read
      done(.success(items.map(\.item)))
    }
    isPartial = false
    if !isWhole {
      limit = bus.loop.schedule(after: Self.longestReading) { [weak self] in
        self?.isPartial = true
        next.run()
      }
    }
    findBar(timeout) { [self] spent in
      guard let bar else { return next.run() }
      let found = MenuElement(bar.reference)
      menu = found
      walk.count(spent)
      walk.read(found, next.run)
    }
  }

  func forget(except ids: Set<String>) { elements = elements.filter { ids.contains($0.key) } }

  // MARK: The menu bar

  /// Finds the menu bar, with how many questions it took: GTK has it in a box of the window, which may scroll, Qt in the window
  /// itself.
  private func findBar(_ timeout: Duration, _ done: @escaping (Int) -> Void) {
    guard bar == nil else { return done(0) }
    search([frame], depth: 0, spent: 0, timeout, done)
  }

  private func search(
    _ places: [ElementReference], depth: Int, spent: Int, _ timeout: Duration, _ done: @escaping (Int) -> Void
  ) {
    guard !places.isEmpty else { return done(spent) }
    var children: [ElementReference] = []
    let answers = Answers { [self] in
      var found: [(reference: ElementReference, role: MenuRole)] = []
      let roles = Answers { [self] in
        if let first = found.first(where: { $0.role == .bar }) {
          bar = MenuElement(first.reference)
          return done(spent + places.count + children.count)
        }
        // What scrolls may hold much else, and is looked into last.
        let next =
          (depth < 2 ? found.filter { $0.role == .container } : []) + found.filter { $0.role == .scroll && depth < 3 }
        search(
          next.prefix(8).map(\.reference), depth: depth + 1, spent: spent + places.count + children.count, timeout, done
        )
      }
      for child in children.prefix(Self.widest) {
        bus.role(
          of: child, timeout: timeout,
          roles.expect { [self] answer in
            if answer.isLate { isPartial = true }
            if case .success(let number) = answer { found.append((child, MenuRole(number))) }
          })
      }
      roles.finish()
    }
    for place in places {
      bus.children(
        of: place, atMost: Self.widest, timeout: timeout,
        answers.expect { [self] answer in
          if answer.isLate { isPartial = true }
          // Another program's are not this window's, whatever its program says.
          children += ((try? answer.get()) ?? []).filter { $0.application == place.application }
        })
    }
    answers.finish()
  }

  // MARK: One item

  func look(at id: String, _ done: @escaping (Result<MenuItem, DBusError>) -> Void) {
    guard let (menus, known) = elements[id] else { return done(.failure(.itemGone(id))) }
    let now = MenuElement(known.reference)
    MenuBarWalk(bus, isWhole: false, asksStates: true, timeout: ProgramBus.changeTimeout).describe(now) { error in
      if let error, error.isLate { return done(.failure(error)) }
      guard error == nil, known.isSame(as: now) else { return done(.failure(.itemGone(id))) }
      guard !now.hasChildren else {
        self.openers.insert(known.reference)
        return done(.failure(.opensMenu(id)))
      }
      var item = now.item(in: menus)
      item.id = id
      self.checkPlace(of: known, id) { [self] place in
        guard case .success = place, item.isEnabled, now.isUnseen else { return done(place.map { item }) }
        findIfVisibleIsTold(besides: known) { isTold in
          // It is hidden: programs do nothing, and answer that they did it.
          item.isEnabled = !isTold
          done(.success(item))
        }
      }
    }
  }

  /// Asks the items of an item's menu whether they tell that they are visible, unless that is known.
  private func findIfVisibleIsTold(besides item: MenuElement, _ done: @escaping (Bool) -> Void) {
    guard tellsVisible == nil, let menu = item.parent else { return done(tellsVisible == true) }
    let timeout = ProgramBus.changeTimeout
    bus.children(of: menu, atMost: Self.widest, timeout: timeout) { [self] answer in
      let others = ((try? answer.get()) ?? []).filter { $0.application == menu.application }.map { MenuElement($0) }
      let answers = Answers { [self] in
        // What is not answered in time is asked again before the next run.
        if !others.isEmpty, others.allSatisfy({ $0.states != nil }) {
          tellsVisible = others.contains(where: \.isVisibleUnshown)
        }
        done(tellsVisible == true)
      }
      for other in others {
        bus.states(of: other.reference, timeout: timeout, answers.expect { other.states = try? $0.get() })
      }
      answers.finish()
    }
  }

  /// Checks that an element is still in its menu: programs take the items of one document out, and put in those of another,
  /// and both go on to exist.
  private func checkPlace(of element: MenuElement, _ id: String, _ done: @escaping (Result<Void, DBusError>) -> Void) {
    bus.ask(element.reference, "GetIndexInParent", timeout: ProgramBus.changeTimeout) { answer in
      switch answer {
      case .success(let values):
        if case .int32(let index)? = values.first, index < 0 { return done(.failure(.itemGone(id))) }
        done(.success(()))
      // Not every toolkit tells it.
      case .failure(let error): done(error.isLate ? .failure(error) : .success(()))
      }
    }
  }

  func run(_ id: String, _ done: @escaping (Result<Void, DBusError>) -> Void) {
    guard let element = elements[id]?.element else { return done(.failure(.itemGone(id))) }
    bus.run(0, of: element.reference, timeout: Self.patience, isOptional: true) { done($0.unlessRefused(id)) }
  }
}
