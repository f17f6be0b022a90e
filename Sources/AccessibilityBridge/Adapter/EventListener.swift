internal import BridgeSupport
internal import DBus
internal import DBusTypes
internal import EventLoop

/// Which events are heard beside the moves of focus: those of the elements that are shown, and the titles of windows.
///
/// Without it, a program that writes a lot would keep the bus and the bridge busy. Programs stay registered until they
/// have no fields, because each of them asks the registry anew whenever anything is registered.
final class EventListener {
  private static let events: Set<String> = [
    "Object:PropertyChange:accessible-value", "Object:PropertyChange:accessible-name", "Object:StateChanged:checked",
    "Object:StateChanged:pressed", "Object:StateChanged:editable",
  ]
  /// Only for programs whose text is shown.
  private static let textEvents: Set<String> = [
    "Object:TextChanged", "Object:TextCaretMoved", "Object:TextSelectionChanged",
  ]

  private static let mostLeftovers = 16
  /// How long a program may take to ask the registry, as Qt and GTK 4 do, when it was told that something is registered.
  private static let learning = Duration.milliseconds(100)

  private let bus: ProgramBus
  private var followed: Set<ElementReference> = []
  private var registered: [BusName: Set<String>] = [:]
  /// How many programs the registry still knows that have no fields any more.
  private var leftovers = 0
  /// Called when a program tells more than before; what has changed until then it may not have told.
  var onLearned: ((BusName) -> Void)?

  init(_ bus: ProgramBus) {
    self.bus = bus
    let names = MatchRule(
      interface: AccessibilityNames.objectEvent, member: MemberName(known: "PropertyChange"),
      arguments: [0: "accessible-name"])
    bus.connection.changeMatch(.add, names)
  }

  /// Hears the events of these elements, and of no others.
  func follow(_ elements: Set<ElementReference>) {
    for element in followed.subtracting(elements) { bus.connection.changeMatch(.remove, Self.rule(element)) }
    for element in elements.subtracting(followed) { bus.connection.changeMatch(.add, Self.rule(element)) }
    followed = elements
  }

  /// Makes a program tell what happens to an element of it, to its text if that is shown.
  func register(_ application: BusName, text: ElementShape.Text, hasText: Bool) {
    var events = Self.events.union(registered[application] ?? [])
    if case .shown = text {
      events.formUnion(Self.textEvents)
    } else if hasText, !events.isDisjoint(with: Self.textEvents) {
      // The registry forgets an event for all programs; the others are registered again when they are in front.
      for event in Self.textEvents { bus.deregister(event) }
      registered = registered.mapValues { $0.subtracting(Self.textEvents) }
      events.subtract(Self.textEvents)
    }
    register(events.subtracting(registered[application] ?? []), of: application)
    registered[application] = events
  }

  private func register(_ events: Set<String>, of application: BusName) {
    var left = events.count
    for event in events {
      bus.register(event, of: application) { [weak self] in
        left -= 1
        guard left == 0 else { return }
        self?.bus.loop.schedule(after: Self.learning) { self?.onLearned?(application) }
      }
    }
  }

  /// A program has no fields any more.
  func forget(_ application: BusName) {
    guard registered.removeValue(forKey: application) != nil else { return }
    leftovers += 1
    guard registered.isEmpty || leftovers > Self.mostLeftovers else { return }
    leftovers = 0
    for event in Self.events.union(Self.textEvents) { bus.deregister(event) }
    registerAgain()
  }

  /// The registry is another: programs must be told again.
  func registerAgain() {
    for (application, events) in registered { register(events, of: application) }
  }

  private static func rule(_ element: ElementReference) -> MatchRule {
    MatchRule(sender: element.application, path: element.path, interface: AccessibilityNames.objectEvent)
  }
}
