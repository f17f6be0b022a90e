/// What is known of a browser: the tabs and elements that were in front last, and what has focus.
package struct BrowserState {
  /// How many tabs stay known, the one in front included.
  package static let keptTabs = 8
  /// How many elements stay known after they lost focus, the focused one included.
  package static let keptElements = 8

  /// What a message changed.
  package enum Change: Equatable, Sendable {
    case tabAdded(UInt64)
    case tabChanged(UInt64)
    /// The tab is gone; its elements were removed before.
    case tabRemoved(UInt64)
    case elementAdded(ElementID)
    case elementChanged(ElementID)
    case elementRemoved(ElementID)
    case focusMoved
  }

  /// An element, and the tab that it is in.
  package struct Element: Equatable, Sendable {
    package let tab: UInt64
    package var state: PageElement
  }

  package private(set) var tabs: [UInt64: PageTab] = [:]
  package private(set) var elements: [ElementID: Element] = [:]
  /// The element that has focus in each tab.
  private var focusedElements: [UInt64: ElementID] = [:]
  private var front: UInt64?
  /// The tabs and elements as they were used, the newest last.
  private var tabOrder: [UInt64] = []
  private var elementOrder: [ElementID] = []

  package init() {}

  /// The tab in front; nil if the browser is behind others.
  package var frontTab: UInt64? { front }

  /// What has focus; nil if the browser is behind others.
  package var focus: BrowserRequest.Target? {
    guard let front, tabs[front] != nil else { return nil }
    return focusedElements[front].map { .element($0) } ?? .tab(front)
  }

  /// Takes over a message, but for replies.
  /// - Returns: what is different now, in the order in which others must be told.
  package mutating func apply(_ message: BrowserMessage) -> [Change] {
    let before = focus
    var changes: [Change] = []
    switch message {
    case .tab(let id, let tab): set(id, tab, &changes)
    case .front(let tab):
      // The extension tells of a tab before it is in front; if that did not arrive, the one before is in front no more.
      front = tab.flatMap { tabs[$0] == nil ? nil : $0 }
      if let front { use(front, &changes) }
    case .closed(let tab): remove(tab, &changes)
    case .focus(let tab, let id, let state):
      // A document stays in its tab.
      guard tabs[tab]?.isShared == true, elements[id]?.tab ?? tab == tab else { break }
      focusedElements[tab] = id
      set(id, Element(tab: tab, state: state), &changes)
      use(id, &changes)
    case .blur(let tab): focusedElements[tab] = nil
    case .state(let id, let state): update(id, state, &changes)
    case .gone(let document):
      for id in elementOrder where id.document == document { remove(id, &changes) }
    case .reply(_, _, let id, let state):
      if let id, let state { update(id, state, &changes) }
    }
    if focus != before {
      // What has focus is there before it takes focus, and goes after it lost it.
      let place = changes.firstIndex { $0.isRemoval } ?? changes.count
      changes.insert(.focusMoved, at: place)
    }
    return changes
  }

  private mutating func set(_ id: UInt64, _ tab: PageTab, _ changes: inout [Change]) {
    let before = tabs.updateValue(tab, forKey: id)
    guard before != tab else { return }
    changes.append(before == nil ? .tabAdded(id) : .tabChanged(id))
    if before == nil { use(id, &changes) }
    // A page that is not shared any more shows nothing.
    if !tab.isShared { for (element, known) in elements where known.tab == id { remove(element, &changes) } }
  }

  private mutating func set(_ id: ElementID, _ element: Element, _ changes: inout [Change]) {
    var element = element
    // Secret once, secret for good.
    if let before = elements[id]?.state, before.isSecret, !element.state.isSecret { element.state = before }
    let before = elements.updateValue(element, forKey: id)
    if before != element { changes.append(before == nil ? .elementAdded(id) : .elementChanged(id)) }
  }

  private mutating func update(_ id: ElementID, _ state: PageElement, _ changes: inout [Change]) {
    guard var element = elements[id] else { return }
    element.state = state
    set(id, element, &changes)
  }

  private mutating func use(_ id: UInt64, _ changes: inout [Change]) {
    tabOrder.removeAll { $0 == id }
    tabOrder.append(id)
    guard tabOrder.count > Self.keptTabs, let oldest = tabOrder.first(where: { $0 != front }) else { return }
    remove(oldest, &changes)
  }

  private mutating func use(_ id: ElementID, _ changes: inout [Change]) {
    elementOrder.removeAll { $0 == id }
    elementOrder.append(id)
    let shown = front.flatMap { focusedElements[$0] }
    guard elementOrder.count > Self.keptElements, let oldest = elementOrder.first(where: { $0 != shown }) else {
      return
    }
    remove(oldest, &changes)
  }

  private mutating func remove(_ id: ElementID, _ changes: inout [Change]) {
    guard let element = elements.removeValue(forKey: id) else { return }
    elementOrder.removeAll { $0 == id }
    if focusedElements[element.tab] == id { focusedElements[element.tab] = nil }
    changes.append(.elementRemoved(id))
  }

  private mutating func remove(_ id: UInt64, _ changes: inout [Change]) {
    for element in elementOrder where elements[element]?.tab == id { remove(element, &changes) }
    guard tabs.removeValue(forKey: id) != nil else { return }
    tabOrder.removeAll { $0 == id }
    focusedElements[id] = nil
    if front == id { front = nil }
    changes.append(.tabRemoved(id))
  }
}

extension BrowserState.Change {
  fileprivate var isRemoval: Bool {
    switch self {
    case .tabRemoved, .elementRemoved: true
    default: false
    }
  }
}
