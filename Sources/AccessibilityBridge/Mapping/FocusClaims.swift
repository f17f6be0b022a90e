package import BridgeSupport

/// What a program claims of focus, until it is known whether its window is in front.
package struct FocusClaims {
  /// Oldest first.
  package private(set) var events: [FocusTracker.Event] = []
  /// How many of them the program is being asked about.
  private var asked = 0

  package init() {}

  /// Whether some are newer than those that the program is being asked about.
  package var hasNewer: Bool { events.count > asked }

  /// Adds a claim in place of the one of its kind that the program is not being asked about yet.
  package mutating func add(_ event: FocusTracker.Event) {
    // Programs tell some of them twice.
    guard events.last != event else { return }
    let older = events.indices.dropFirst(asked).last { events[$0].isActivation == event.isActivation }
    if let older { events.remove(at: older) }
    events.append(event)
  }

  /// Takes back what the program says is not so any more.
  package mutating func withdraw(_ element: ElementReference) {
    let isWithdrawn = { (event: FocusTracker.Event) in event == .activated(element) || event == .gained(element) }
    asked -= events.prefix(asked).count(where: isWithdrawn)
    events.removeAll(where: isWithdrawn)
  }

  /// The program is asked about the newest window and the newest element: these are in place of those before them.
  package mutating func ask() {
    let newest = [events.last { $0.isActivation }, events.last { !$0.isActivation }]
    events = events.last.map { last in newest.compactMap(\.self).filter { $0 != last } + [last] } ?? []
    asked = events.count
  }

  /// Drops those that the program was asked about.
  package mutating func refuse() {
    events.removeFirst(asked)
    asked = 0
  }
}

extension FocusTracker.Event {
  fileprivate var isActivation: Bool { if case .activated = self { true } else { false } }
}
