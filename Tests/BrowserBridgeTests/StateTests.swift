import BridgeJSON
import BrowserBridge
import Testing

/// What has focus after a browser's messages, and what others must be told.
@Suite struct StateTests {
  private static let shared = PageTab(title: "t", isShared: true)
  private static let button = PageElement(role: "button")

  private static func focus(_ tab: UInt64, _ document: UInt64, _ element: UInt64) -> BrowserMessage {
    .focus(tab: tab, ElementID(document, element), button)
  }

  @Test func focusFollowsTheTabInFront() {
    var state = BrowserState()
    let (one, two) = (ElementID(5, 1), ElementID(6, 1))
    // (a message, what it changes, what has focus after it)
    let cases: [(BrowserMessage, [BrowserState.Change], BrowserRequest.Target?)] = [
      (.front(1), [], nil), (.tab(1, Self.shared), [.tabAdded(1)], nil),
      (Self.focus(1, 5, 1), [.elementAdded(one)], nil), (.front(1), [.focusMoved], .element(one)),
      (.tab(2, Self.shared), [.tabAdded(2)], .element(one)), (Self.focus(2, 6, 1), [.elementAdded(two)], .element(one)),
      // A message that puts a known document into another tab, or names an unknown tab, is ignored.
      (Self.focus(1, 6, 1), [], .element(one)), (Self.focus(3, 7, 1), [], .element(one)),
      (.front(2), [.focusMoved], .element(two)), (.blur(tab: 1), [], .element(two)),
      (.blur(tab: 2), [.focusMoved], .tab(2)), (.front(1), [.focusMoved], .tab(1)),
      (Self.focus(1, 5, 1), [.focusMoved], .element(one)), (.front(nil), [.focusMoved], nil),
      (.front(1), [.focusMoved], .element(one)),
      (.gone(document: 5), [.focusMoved, .elementRemoved(one)], .tab(1)),
      (.state(one, PageElement(role: "link")), [], .tab(1)),
      (.state(two, PageElement(role: "link")), [.elementChanged(two)], .tab(1)),
      (.tab(1, PageTab(title: "other", isShared: true)), [.tabChanged(1)], .tab(1)),
      (.tab(1, PageTab(title: "other", isShared: true)), [], .tab(1)),
      // A page that is not shared any more shows nothing.
      (.tab(2, PageTab()), [.tabChanged(2), .elementRemoved(two)], .tab(1)), (Self.focus(2, 6, 1), [], .tab(1)),
      (.closed(1), [.focusMoved, .tabRemoved(1)], nil), (.closed(1), [], nil), (.front(2), [.focusMoved], .tab(2)),
    ]
    for (index, (message, changes, focus)) in cases.enumerated() {
      #expect(state.apply(message) == changes, "case \(index)")
      #expect(state.focus == focus, "case \(index)")
    }
  }

  @Test func whatWasUsedLastIsKept() {
    var state = BrowserState()
    _ = state.apply(.tab(0, Self.shared))
    _ = state.apply(.front(0))
    for tab in UInt64(1)...20 { _ = state.apply(.tab(tab, Self.shared)) }
    #expect(state.tabs.keys.sorted() == [0] + (14...20))
    for element in UInt64(1)...20 { _ = state.apply(Self.focus(0, 1, element)) }
    #expect(state.elements.keys.map(\.number).sorted() == Array(13...20))
    #expect(state.apply(.closed(0)).suffix(2) == [.elementRemoved(ElementID(1, 20)), .tabRemoved(0)])
    #expect(state.elements.isEmpty)
  }

  @Test func aSecretStaysSecret() {
    var state = BrowserState()
    let id = ElementID(1, 1)
    var open = PageElement(role: "textbox")
    open.content = .shown(.init(content: "hunter2", length: 7, selection: nil, caret: 0, selected: nil), .readWrite)
    _ = state.apply(.tab(1, Self.shared))
    _ = state.apply(.focus(tab: 1, id, PageElement(role: "password", content: .secret(.readWrite))))
    for message in [BrowserMessage.state(id, open), .focus(tab: 1, id, open), .reply(1, nil, id, open)] {
      _ = state.apply(message)
      #expect(state.elements[id]?.state.isSecret == true)
    }
  }

  @Test func aFloodIsToldAsOftenAsItsTabMay() {
    var state = BrowserState()
    for tab in UInt64(1)...2 { _ = state.apply(.tab(tab, Self.shared)) }
    _ = state.apply(.front(1))
    // (the tab that floods, the most that are told within a second)
    for (tab, most) in [(UInt64(1), 80), (2, 20)] {
      var queue = MessageQueue()
      let start = SuspendingClock.now
      var told = 0
      var last: ElementID?
      for number in 0..<6000 {
        let now = start + .microseconds(number * 166)
        queue.add(Self.focus(tab, 9, UInt64(number)), in: state)
        while let message = queue.next(in: state, at: now) {
          told += 1
          if case .focus(_, let id, _) = message { last = id }
        }
        #expect(queue.count <= 1)
      }
      #expect(told <= most, "tab \(tab)")
      // The newest is told in the end.
      if let delay = queue.delay, case .focus(_, let id, _)? = queue.next(in: state, at: start + .seconds(1) + delay) {
        last = id
      }
      #expect(last == ElementID(9, 5999), "tab \(tab)")
    }
  }

  @Test func aFloodBehindDelaysNothingInFront() {
    var state = BrowserState()
    for tab in UInt64(1)...2 { _ = state.apply(.tab(tab, Self.shared)) }
    _ = state.apply(.front(1))
    var queue = MessageQueue()
    let now = SuspendingClock.now
    for number in 0..<100 {
      queue.add(Self.focus(2, 9, UInt64(number)), in: state)
      while queue.next(in: state, at: now) != nil {}
    }
    queue.add(Self.focus(1, 5, 1), in: state)
    guard case .focus(1, _, _)? = queue.next(in: state, at: now) else {
      Issue.record("the tab in front waits")
      return
    }
    // The flooding tab comes to the front: what it tells comes after that.
    queue.add(.front(2), in: state)
    var order: [String] = []
    while let message = queue.next(in: state, at: now) {
      if case .front = message { order.append("front") } else { order.append("focus") }
    }
    #expect(order.contains("front"))
  }

  @Test func whatIsGoneIsNotToldLater() {
    var state = BrowserState()
    for tab in UInt64(1)...2 { _ = state.apply(.tab(tab, Self.shared)) }
    _ = state.apply(.front(1))
    var queue = MessageQueue()
    let now = SuspendingClock.now
    for number in 0..<20 {
      queue.add(Self.focus(2, 9, UInt64(number)), in: state)
      _ = queue.next(in: state, at: now)
    }
    #expect(queue.count == 1)
    queue.add(.gone(document: 9), in: state)
    guard case .gone? = queue.next(in: state, at: now) else {
      Issue.record("what is gone waits")
      return
    }
    #expect(queue.count == 0)
    // Focus within a tab counts as soon as the tab waits, and in no other.
    queue.add(Self.focus(3, 7, 1), in: state)
    queue.add(.blur(tab: 3), in: state)
    #expect(queue.count == 0)
    queue.add(.tab(3, Self.shared), in: state)
    queue.add(Self.focus(3, 7, 1), in: state)
    #expect(queue.count == 2)
    for tab in UInt64(10)...200 { queue.add(.tab(tab, Self.shared), in: state) }
    #expect(queue.count <= 64)
  }
}
