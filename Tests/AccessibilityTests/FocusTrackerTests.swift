import AccessibilityBridge
import BridgeSupport
import DBusTypes
import Testing

/// Events in the orders in which programs tell them, and what should have focus then.
@Suite struct FocusTrackerTests {
  private static func element(_ path: String, _ program: String = ":1.1") -> ElementReference {
    ElementReference(BusName(known: program), ObjectPath(known: path))
  }

  private let entry = element("/entry")
  private let button = element("/button")
  private let item = element("/item")
  private let window = element("/window")
  private let other = element("/window", ":1.2")

  /// A tracker whose grace periods pass when the test says.
  private struct Stage {
    var tracker = FocusTracker()
    var waits: [UInt64] = []
    var searches: [(ElementReference, UInt64, Bool)] = []
    var forgotten: [ElementReference] = []

    mutating func take(_ events: FocusTracker.Event...) {
      for event in events {
        for step in tracker.take(event) {
          switch step {
          case .desire: break
          case .wait(_, let epoch): waits.append(epoch)
          case .search(let window, _, let epoch, let isLast): searches.append((window, epoch, isLast))
          case .forget(let window): forgotten.append(window)
          }
        }
      }
    }

    /// Lets all waits pass, and all searches find `element`.
    mutating func pass(finding element: ElementReference? = nil) {
      while !waits.isEmpty || !searches.isEmpty {
        let (waits, searches) = (waits, searches)
        (self.waits, self.searches) = ([], [])
        for epoch in waits { take(.waited(epoch: epoch)) }
        for (_, epoch, isLast) in searches { take(.found(element, epoch: epoch, isLast: isLast)) }
      }
    }
  }

  @Test func aGainBeforeItsLossStays() {
    var stage = Stage()
    stage.take(.activated(window), .gained(entry), .gained(entry))
    #expect(stage.tracker.desired == entry)
    stage.take(.gained(button), .lost(entry))
    stage.pass()
    #expect(stage.tracker.desired == button)
  }

  /// The program that was in front tells its loss, or leaves, while the window in front is still searched.
  @Test(arguments: [true, false]) func aLossBehindEndsNoSearchInFront(isLost: Bool) {
    var stage = Stage()
    let entryInFront = Self.element("/entry", ":1.2")
    stage.take(.activated(window), .gained(entry))
    stage.pass()
    stage.take(.activated(other), isLost ? .lost(entry) : .left(entry.application))
    let waits = stage.waits
    stage.waits = []
    for epoch in waits { stage.take(.waited(epoch: epoch)) }
    #expect(stage.tracker.desired == nil)
    stage.pass(finding: entryInFront)
    #expect(stage.tracker.desired == entryInFront)
  }

  /// What the search found before the grace period is over stays.
  @Test func aLossBehindIsOverWithTheSearch() {
    var stage = Stage()
    stage.take(.activated(window), .gained(entry))
    stage.pass()
    stage.take(.activated(other), .lost(entry))
    for (_, epoch, isLast) in stage.searches { stage.take(.found(nil, epoch: epoch, isLast: isLast)) }
    #expect(stage.tracker.desired == other)
    stage.searches = []
    stage.pass()
    #expect(stage.tracker.desired == other)
  }

  @Test func aLossCountsAfterAGracePeriodOnly() {
    var stage = Stage()
    stage.take(.gained(entry), .lost(entry))
    #expect(stage.tracker.desired == entry)
    stage.take(.gained(entry))
    stage.pass()
    #expect(stage.tracker.desired == entry)
    stage.take(.lost(entry))
    stage.pass()
    #expect(stage.tracker.desired == nil)
  }

  /// Qt tells focus of the current item of a view without focus.
  @Test func anElementThatIsDoubtedGivesWayToTheOneBefore() {
    var stage = Stage()
    stage.take(.activated(window), .gained(entry), .gained(button), .gained(item), .doubted(item))
    #expect(stage.tracker.desired == button)
    stage.take(.doubted(item))
    #expect(stage.tracker.desired == button, "another has focus by now")
    stage.take(.doubted(button))
    #expect(stage.tracker.desired == entry)
    stage.take(.doubted(entry))
    #expect(stage.tracker.desired == entry, "there is no other")
    stage.pass(finding: entry)
    stage.take(.doubted(entry))
    #expect(stage.tracker.desired == entry && stage.searches.isEmpty, "its window has been searched")
    stage.take(.gained(Self.element("/entry", ":1.2")), .doubted(Self.element("/entry", ":1.2")))
    #expect(stage.tracker.desired == Self.element("/entry", ":1.2"), "another program's is not gone back to")
  }

  /// Kate's lists tell focus of their items before the bridge hears of the editor's.
  @Test(arguments: ["/entry", nil]) func theWindowOfAnElementThatIsDoubtedIsSearched(found: String?) {
    var stage = Stage()
    stage.take(.activated(window), .gained(item))
    stage.searches = []
    stage.take(.doubted(item))
    #expect(stage.searches.map(\.0) == [window])
    stage.pass(finding: found.map { Self.element($0) })
    #expect(stage.tracker.desired == (found == nil ? window : entry))
  }

  @Test func aMenuGivesFocusBackWithoutTellingIt() {
    var stage = Stage()
    stage.take(.activated(window), .gained(entry), .gained(item), .lost(item))
    stage.pass(finding: entry)
    #expect(stage.tracker.desired == entry)
  }

  @Test func aWindowThatTellsNothingIsSearchedAndElseHasFocusItself() {
    var stage = Stage()
    stage.take(.activated(window))
    #expect(stage.searches.count == 3)
    stage.pass(finding: button)
    #expect(stage.tracker.desired == button)
    stage.take(.activated(other))
    stage.pass()
    #expect(stage.tracker.desired == other)
    stage.take(.gained(entry), .lost(entry), .activated(window))
    stage.pass()
    #expect(stage.tracker.desired == window)
  }

  @Test func aNewerEventEndsASearch() {
    var stage = Stage()
    stage.take(.activated(window), .gained(entry))
    let late = stage.searches
    stage.searches = []
    for (_, epoch, isLast) in late { stage.take(.found(button, epoch: epoch, isLast: isLast)) }
    #expect(stage.tracker.desired == entry)
    #expect(late.allSatisfy { stage.tracker.isOver($0.1) })
  }

  @Test func anotherWindowOfTheProgramTakesOver() {
    var stage = Stage()
    let second = Self.element("/second")
    stage.take(.activated(window), .gained(entry), .activated(second), .deactivated(window))
    stage.pass(finding: button)
    #expect(stage.tracker.desired == button && stage.tracker.window == second)
    stage.take(.activated(window), .deactivated(second))
    stage.pass(finding: entry)
    #expect(stage.tracker.desired == entry)
  }

  @Test func aWindowThatLeavesTakesFocusAlong() {
    var stage = Stage()
    stage.take(.activated(window), .gained(entry), .deactivated(window))
    #expect(stage.tracker.desired == entry)
    stage.pass()
    #expect(stage.tracker.desired == nil && stage.tracker.window == nil)
    // A busy program tells its element's loss after that of its window.
    stage.take(.activated(window), .gained(entry), .deactivated(window), .lost(entry))
    stage.pass()
    #expect(stage.tracker.desired == nil && stage.tracker.window == nil)
    stage.take(.activated(window), .gained(entry), .destroyed(window))
    stage.pass()
    #expect(stage.tracker.desired == nil && stage.forgotten == [window])
    stage.take(.activated(window), .gained(entry), .left(BusName(known: ":1.2")))
    #expect(stage.tracker.desired == entry)
    stage.take(.left(BusName(known: ":1.1")))
    #expect(stage.tracker.desired == nil && stage.tracker.window == nil)
    // One comes to the front, and ends before it says what has focus in it.
    stage.take(.activated(window), .gained(entry), .deactivated(window), .activated(Self.element("/w", ":1.2")))
    #expect(stage.tracker.desired == entry)
    stage.take(.left(BusName(known: ":1.2")))
    #expect(stage.tracker.desired == nil && stage.tracker.window == nil)
  }

  /// Whatever comes, in whatever order: the last gain that nothing ended counts.
  @Test func aStormEndsOnTheLastGain() {
    var random = SystemRandomNumberGenerator()
    var stage = Stage()
    let elements = (0..<20).map { Self.element("/e\($0)", ":1.\($0 % 3)") }
    for _ in 0..<10_000 {
      let element = elements.randomElement(using: &random) ?? entry
      switch Int.random(in: 0..<5, using: &random) {
      case 0: stage.take(.lost(element))
      case 1: stage.take(.deactivated(element))
      case 2: stage.take(.activated(element))
      default: stage.take(.gained(element))
      }
    }
    stage.take(.gained(entry))
    stage.pass(finding: button)
    #expect(stage.tracker.desired == entry)
  }
}
