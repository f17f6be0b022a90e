/// The messages that wait: a page that floods is told as often as its tab may, with the newest of what it tells.
package struct MessageQueue {
  /// What a message tells of; of each, only the newest waits.
  private enum Subject: Hashable {
    case tab(UInt64)
    case front
    case focus(tab: UInt64)
    case element(ElementID)
  }

  /// The most that wait: more than the tabs and elements that are known.
  private static let most = 64

  /// The tab in front, whose user may type, and all others together.
  private var frontRate = MessageRate(perSecond: 40, burst: 40)
  private var backRate = MessageRate(perSecond: 10, burst: 10)
  private var urgent: [BrowserMessage] = []
  private var waiting: [Subject: BrowserMessage] = [:]
  private var order: [Subject] = []
  /// How long the next message must wait; nil: none does.
  package private(set) var delay: Duration?

  package init() {}

  /// How many messages wait.
  package var count: Int { urgent.count + waiting.count }

  /// Adds a message; those of tabs and elements that `state` does not know are dropped.
  package mutating func add(_ message: BrowserMessage, in state: BrowserState) {
    switch message {
    case .closed, .gone, .reply:
      // What is gone needs no news, and a state that waits is older than a reply's.
      waiting = waiting.filter { !message.supersedes($0.value) }
      order.removeAll { waiting[$0] == nil }
      if case .reply(_, _, let id?, let element?) = message { update(id, element) }
      urgent.append(message)
    case .tab(let tab, _): put(.tab(tab), message)
    case .front:
      // After the tab that it names.
      order.removeAll { $0 == .front }
      waiting[.front] = nil
      put(.front, message)
    case .focus(let tab, let id, let element):
      guard isKnown(tab, in: state) else { return }
      // The element may have been told already; the order of what is told of different tabs does not matter.
      waiting[.element(id)] = nil
      order.removeAll { $0 == .element(id) }
      put(.focus(tab: tab), .focus(tab: tab, id, element))
    case .blur(let tab):
      guard isKnown(tab, in: state) else { return }
      put(.focus(tab: tab), message)
    case .state(let id, let element):
      if !update(id, element), state.elements[id] != nil { put(.element(id), message) }
    }
  }

  /// Takes the next message that may be told at `now`; nil: none, and `delay` tells when to ask again.
  package mutating func next(in state: BrowserState, at now: SuspendingClock.Instant = .now) -> BrowserMessage? {
    delay = nil
    if !urgent.isEmpty { return urgent.removeFirst() }
    var front = state.frontTab
    if case .front(let tab)? = waiting[.front] { front = tab }
    for subject in order {
      guard let message = waiting[subject] else { continue }
      let tab = message.tab(in: state)
      let isFront = tab == nil || tab == front
      let wait = isFront ? frontRate.admit(at: now) : backRate.admit(at: now)
      guard let wait else {
        waiting[subject] = nil
        order.removeAll { $0 == subject }
        return message
      }
      delay = min(delay ?? wait, wait)
    }
    return nil
  }

  private mutating func put(_ subject: Subject, _ message: BrowserMessage) {
    if waiting.updateValue(message, forKey: subject) == nil { order.append(subject) }
    if order.count > Self.most { waiting[order.removeFirst()] = nil }
  }

  private func isKnown(_ tab: UInt64, in state: BrowserState) -> Bool {
    state.tabs[tab] != nil || waiting[.tab(tab)] != nil
  }

  /// Lets an element that waits to take focus do so with what it shows now.
  /// - Returns: whether it waits.
  @discardableResult
  private mutating func update(_ id: ElementID, _ element: PageElement) -> Bool {
    for case .focus(let tab, id, _) in waiting.values {
      waiting[.focus(tab: tab)] = .focus(tab: tab, id, element)
      return true
    }
    return false
  }
}

extension BrowserMessage {
  /// The tab that it is about; nil for what is of the browser.
  fileprivate func tab(in state: BrowserState) -> UInt64? {
    switch self {
    case .front, .reply, .gone: nil
    case .tab(let tab, _), .closed(let tab), .focus(let tab, _, _), .blur(let tab): tab
    case .state(let id, _): state.elements[id]?.tab
    }
  }

  /// Whether an older message says nothing any more.
  fileprivate func supersedes(_ older: BrowserMessage) -> Bool {
    switch self {
    case .closed(let tab):
      switch older {
      case .tab(tab, _), .focus(tab, _, _), .blur(tab): true
      default: false
      }
    case .gone(let document):
      switch older {
      case .focus(_, let id, _), .state(let id, _): id.document == document
      default: false
      }
    case .reply(_, _, let id?, _?):
      if case .state(id, _) = older { true } else { false }
    default: false
    }
  }
}
