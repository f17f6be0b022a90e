internal import DBus
internal import DBusTypes

/// Which events are heard beside the moves of focus: those of the focused element alone, and the title of its window.
///
/// Without it, a program that writes a lot would keep the bus and the bridge busy.
final class EventListener {
  private static let events = [
    "Object:TextChanged", "Object:TextCaretMoved", "Object:TextSelectionChanged",
    "Object:PropertyChange:accessible-value", "Object:PropertyChange:accessible-name", "Object:StateChanged:checked",
    "Object:StateChanged:pressed", "Object:StateChanged:editable",
  ]
  /// What a secret element is not listened to for.
  private static let textEvents = events.prefix(3)

  private let bus: AccessibilityBus
  private var rules: Set<MatchRule> = []
  private var application: BusName?
  private var registered: Set<String> = []

  init(_ bus: AccessibilityBus) { self.bus = bus }

  /// Listens to `field`, and to nothing else.
  func follow(_ field: ElementField?) {
    let rules = field.map(Self.rules) ?? []
    for rule in self.rules.subtracting(rules) { bus.connection.changeMatch(.remove, rule) }
    for rule in rules.subtracting(self.rules) { bus.connection.changeMatch(.add, rule) }
    self.rules = rules
    let isSecret = field?.snapshot.isSecret == true
    register(
      field == nil ? [] : Set(isSecret ? Self.events.dropFirst(3) : Self.events[...]), of: field?.element.application)
  }

  /// The registry is another: programs must be told again.
  func registerAgain() {
    let events = registered
    registered = []
    register(events, of: application)
  }

  private func register(_ events: Set<String>, of application: BusName?) {
    let isSame = application == self.application
    for event in registered where !isSame || !events.contains(event) { bus.deregister(event) }
    if let application {
      for event in events where !isSame || !registered.contains(event) { bus.register(event, of: application) }
    }
    (self.application, registered) = (application, events)
  }

  private static func rules(_ field: ElementField) -> Set<MatchRule> {
    func rule(_ element: ElementReference, _ member: String?, _ detail: String? = nil) -> MatchRule {
      MatchRule(
        sender: element.application, path: element.path, interface: AccessibilityNames.objectEvent,
        member: member.map(MemberName.init(known:)), arguments: detail.map { [0: $0] } ?? [:])
    }
    var rules: Set<MatchRule> = []
    if let window = field.window { rules.insert(rule(window, "PropertyChange", "accessible-name")) }
    let isSecret = field.snapshot.isSecret
    rules.insert(rule(field.element, isSecret ? "StateChanged" : nil))
    return rules
  }
}
