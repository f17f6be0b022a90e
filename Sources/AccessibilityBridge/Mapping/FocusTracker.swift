package import BridgeSupport
package import DBusTypes

/// Which element should have focus, from what programs tell: gains and losses in any order, twice, late, or never.
///
/// A loss counts only if no newer event comes within a grace period: toolkits tell gains before the losses that belong to
/// them, and some never tell that focus went back. So the element is searched for in the window in front, too.
package struct FocusTracker {
  /// What happened.
  package enum Event: Hashable, Sendable {
    case gained(ElementReference)
    /// Its program told that it has focus, and what contains it says that it has not.
    case doubted(ElementReference)
    /// An element that had focus before has it still, whatever was told since.
    case kept(ElementReference)
    case lost(ElementReference)
    case activated(ElementReference)
    case deactivated(ElementReference)
    case destroyed(ElementReference)
    /// A program left the bus.
    case left(BusName)
    /// What a `wait` was for.
    case waited(epoch: UInt64)
    /// What a `search` found.
    case found(ElementReference?, epoch: UInt64, isLast: Bool)
  }

  /// What must be done.
  package enum Step: Hashable, Sendable {
    /// Focus should be on that element; nil: on none.
    case desire(ElementReference?)
    /// Tell `waited` later.
    case wait(Duration, epoch: UInt64)
    /// Tell `found` of the window's focused element, unless `isOver`.
    case search(ElementReference, after: Duration, epoch: UInt64, isLast: Bool)
    /// The window is gone, and all in it.
    case forget(window: ElementReference)
  }

  private enum Pending {
    case blur
    case deactivation
  }

  package static let blurGrace = Duration.milliseconds(60)
  package static let deactivationGrace = Duration.milliseconds(120)
  /// Windows may tell nothing of what is focused in them, at first or ever.
  package static let searches: [Duration] = [.milliseconds(80), .milliseconds(200), .milliseconds(500)]

  /// The element that should have focus.
  package private(set) var desired: ElementReference?
  /// The window in front.
  package private(set) var window: ElementReference?
  /// How often another window came to the front.
  package private(set) var fronts = 0
  /// Counts events: what waited for an older one is over.
  package private(set) var epoch: UInt64 = 0
  private var pending: Pending?
  /// The element that was doubted, and for which its window has been searched.
  package private(set) var doubted: ElementReference?
  /// Whether the element had focus before its window came to the front.
  private var isStale = false
  /// What had focus before in the window in front, newest last.
  package private(set) var earlier: [ElementReference] = []
  private static let mostEarlier = 8

  package init() {}

  /// Whether a loss may still turn out not to count.
  package var isWaiting: Bool { pending != nil }

  /// Whether newer events have ended what began in `epoch`.
  package func isOver(_ epoch: UInt64) -> Bool { epoch != self.epoch }

  package mutating func take(_ event: Event) -> [Step] {
    switch event {
    case .gained(let element): return focus(element)
    case .doubted(let element): return doubt(element)
    case .kept(let element):
      begin()
      earlier = Array(earlier.prefix { $0 != element })
      (desired, doubted) = (element, nil)
      return [.desire(element)]
    case .lost(let element):
      // What a window that leaves loses does not bring it back.
      guard element == desired, pending != .deactivation else { return [] }
      guard isBehind else { return wait(.blur, Self.blurGrace) }
      // What is searched for in the window in front goes on.
      pending = .blur
      return [.wait(Self.blurGrace, epoch: epoch)]
    case .activated(let window):
      begin()
      isStale = window != self.window
      if isStale { fronts += 1 }
      self.window = window
      return Self.searches.map { delay in
        .search(window, after: delay, epoch: epoch, isLast: delay == Self.searches.last)
      }
    case .deactivated(let window):
      let isInFront = self.window == window
      guard isInFront || (self.window == nil && desired?.application == window.application) else { return [] }
      return wait(.deactivation, Self.deactivationGrace)
    case .destroyed(let window): return [.forget(window: window)] + take(.deactivated(window))
    case .left(let application): return leave(application)
    case .waited(let epoch): return isOver(epoch) ? [] : waited()
    case .found(let element, let epoch, let isLast):
      guard !isOver(epoch) else { return [] }
      if let element { return focus(element) }
      return foundNothing(isLast)
    }
  }

  /// Whether another program's window is in front of the element that should have focus.
  private var isBehind: Bool {
    guard let window, let desired else { return false }
    return window.application != desired.application
  }

  /// Lets go of an element behind the window in front, in which the search goes on.
  private mutating func letGo() -> [Step] {
    (pending, desired, doubted, earlier) = (nil, nil, nil, [])
    return [.desire(nil)]
  }

  private mutating func begin() {
    epoch += 1
    pending = nil
  }

  private mutating func focus(_ element: ElementReference?) -> [Step] {
    begin()
    isStale = false
    note(desired, before: element)
    desired = element
    if doubted != element { doubted = nil }
    return [.desire(element)]
  }

  /// Remembers `old` as what had focus before `new`.
  private mutating func note(_ old: ElementReference?, before new: ElementReference?) {
    guard let new, new.application == old?.application else {
      earlier = []
      return
    }
    earlier.removeAll { $0 == new || $0 == old }
    if let old, old != new { earlier = earlier.suffix(Self.mostEarlier - 1) + [old] }
  }

  /// Goes back to what had focus before, or else searches the window once; the element stays if that finds it again.
  private mutating func doubt(_ element: ElementReference) -> [Step] {
    guard element == desired else { return [] }
    if let before = earlier.popLast() {
      begin()
      desired = before
      return [.desire(before)]
    }
    guard let window, window.application == element.application, window != element, doubted != element else {
      return []
    }
    begin()
    doubted = element
    isStale = true
    return [.search(window, after: .zero, epoch: epoch, isLast: true)]
  }

  private mutating func wait(_ event: Pending, _ grace: Duration) -> [Step] {
    begin()
    pending = event
    return [.wait(grace, epoch: epoch)]
  }

  private mutating func waited() -> [Step] {
    switch pending {
    case .deactivation:
      window = nil
      return focus(nil)
    case .blur where isBehind: return letGo()
    case .blur:
      guard let window, window.application == desired?.application, window != desired else { return focus(nil) }
      begin()
      isStale = true
      return [.search(window, after: .zero, epoch: epoch, isLast: true)]
    case nil: return []
    }
  }

  /// Without a focused element, the window itself is what has focus.
  private mutating func foundNothing(_ isLast: Bool) -> [Step] {
    guard let window, window != desired else { return [] }
    guard desired?.application != window.application || (isStale && isLast) else { return [] }
    (desired, pending, isStale) = (window, nil, false)
    return [.desire(window)]
  }

  private mutating func leave(_ application: BusName) -> [Step] {
    let wasInFront = window?.application == application
    if wasInFront { window = nil }
    // What had focus before it came to the front may be behind by now, and says nothing.
    guard wasInFront || desired?.application == application else { return [] }
    return isBehind ? letGo() : focus(nil)
  }
}
