internal import BridgeSupport
package import DBus
internal import DBusTypes
internal import DaemonClient
package import EventLoop
internal import FocusContract
package import ProgramSupport

/// Tells the daemon which element has focus in the programs on the accessibility bus.
package final class Bridge {
  static let name = BusName(known: "org.focusd.Bridge1.Accessibility")
  /// How many elements of a program stay fields after they lost focus, the focused one included.
  static let keptElements = 16
  /// How long whoever has written into what is gone may still be answered.
  static let answerTime = Duration.seconds(1)

  let loop: EventLoop
  let log: Log
  private(set) var options: BridgeOptions
  private(set) var ignored: ProgramList
  private let sessionBus: Connection.Bus
  private let main: Link
  private let status: AccessibilityStatus
  let ownPrograms: OwnPrograms
  /// Called when the session bus is gone.
  package var onEnd: ((String) -> Void)?

  // The accessibility bus, while there is one, and what is known of the programs on it.
  var bus: ProgramBus? { status.bus }
  var listener: EventListener?
  var applications: [BusName: Application] = [:]
  var tracker = FocusTracker()
  /// The timers of the tracker's last steps.
  var timers: [TimerID] = []
  var timersEpoch: UInt64 = 0
  /// The field that should have focus in the daemon, as programs tell.
  var shown: ElementField?
  /// The tracker's epoch when an element was read last.
  var readEpoch: UInt64 = 0
  /// Where the field is that has focus, as the daemon tells.
  private var focusedPath: ObjectPath?
  /// The fields, in the order in which they took focus.
  var kept: [ElementField] = []
  var lastNumber: UInt64 = 0
  var poll: TimerID?
  var refreshTimer: TimerID?
  /// The windows whose titles changed.
  var changedTitles: Set<ElementReference> = []
  /// How often it was looked for what should be shown, and when it is again, if it is.
  var looks: (timer: TimerID?, count: Int)?
  /// Whether the registry has yet to say which programs there are.
  var isRegistryUnread = true
  /// The element that is tried again.
  var retry: (element: ElementReference, timer: TimerID)?
  /// The element that should have focus and of which nothing could be read, and how often it was tried again.
  var failures: (element: ElementReference, count: Int)?
  var hideTimer: TimerID?
  /// When these programs are asked again which of their windows were closed.
  var closedTimer: TimerID?
  var closing: Set<BusName> = []
  var focusWaiters: [(element: ElementReference, timer: TimerID, done: FieldProperty.Completion)] = []
  /// The secret elements of the programs that the bridge knew before it began anew, and on which bus that was: no name comes
  /// twice on one.
  private var formerSecrets: [BusName: SecretElements] = [:]
  private var formerBus: String?
  /// The connection that has the registry's name.
  private var registry: BusName?

  /// Connects to the session bus and takes the bridge's name there.
  /// - Throws: `DBusError` if there is no bus, or if another process has the name.
  package init(_ bus: Connection.Bus, on loop: EventLoop, log: Log, _ options: BridgeOptions) throws(DBusError) {
    (self.loop, self.log, self.options, sessionBus) = (loop, log, options, bus)
    ignored = ProgramList(others: options.ignored, secret: options.secret)
    let daemon = try DaemonConnection(to: bus, timeout: .seconds(25))
    guard try daemon.connection.requestName(Self.name) else {
      throw DBusError(.failed, "another process owns \(Self.name): only one bridge can run")
    }
    let accessibility = MatchRule.nameOwnerChanges(of: AccessibilityStatus.busName)
    main = Link(
      on: loop,
      rules: OwnPrograms.rules + [accessibility, AccessibilityStatus.changes, .properties(of: Focus1.root)])
    status = AccessibilityStatus(daemon.connection, on: loop, enables: options.enables)
    ownPrograms = OwnPrograms(main)
    ownPrograms.onChange = { [weak self] in self?.ownProgramsChanged() }
    main.onEvent = { [weak self] in self?.handle($0) }
    status.onBus = { [weak self] in self?.connected($0) }
    status.onBusEnd = { [weak self] in self?.busEnded() }
    try main.open(daemon)
    status.begin()
  }

  /// Goes on with other options: looks at all programs anew if they differ.
  package func apply(_ options: BridgeOptions) {
    guard options != self.options else { return }
    self.options = options
    ignored = ProgramList(others: options.ignored, secret: options.secret)
    status.enables = options.enables
    if !options.enables { status.restore() }
    disconnect()
    status.begin()
  }

  /// Puts accessibility back to what it was, and takes all fields away.
  package func end() {
    status.restore()
    disconnect()
    main.stop()
  }

  private func handle(_ event: Link.Event) {
    switch event {
    case .arrived: ownPrograms.begin()
    case .left: ownPrograms.end()
    case .signal(let signal):
      guard let path = signal.focusedField else { return ownPrograms.received(signal) }
      let before = focused
      focusedPath = path
      focusMoved(from: before)
      listen()
    case .other(let message):
      status.received(message)
      nameChanged(message)
    case .closed: onEnd?("lost the connection to the bus")
    case .refused(let error): log.error("\(error)")
    case .call(let message): main.refuse(message, of: Self.name.text)
    }
  }

  /// The field that has focus, as the daemon tells, if it is an element's.
  var focused: ElementField? {
    focusedPath.flatMap { path in kept.first { publisher(of: $0)?.path(of: $0.number) == path } }
  }

  private func nameChanged(_ message: Message) {
    guard let change = message.nameOwnerChange else { return }
    guard change.name == AccessibilityStatus.busName else {
      return ownPrograms.ownerChanged(change.name, to: change.now)
    }
    if change.now != nil { status.ownerChanged() }
  }

  private func ownProgramsChanged() {
    for application in applications.values where !application.connections.all.isEmpty {
      switch ownPart(of: application) {
      case .none: break
      case .terminals: for field in application.fields.values where field.snapshot.role == .terminal { remove(field) }
      case .whole:
        log.debug("\(application.name) registers fields of its own")
        remove(application, programHasLeft: false)
      }
    }
    for field in kept where field.place.isShown == ownPrograms.hasWindows {
      var place = field.place
      place.isShown = !ownPrograms.hasWindows
      publish(field.snapshot, at: place, in: field)
    }
    settle()
    lookAgainLater(isNew: true)
  }

  /// Whether the program registers fields of its own.
  func isOwn(_ application: Application) -> Bool { ownPart(of: application) == .whole }

  /// Whether an element is a terminal in which a program runs that registers fields.
  func isOwn(_ snapshot: ElementSnapshot, of application: Application) -> Bool {
    snapshot.role == .terminal && ownPart(of: application) == .terminals
  }

  private func ownPart(of application: Application) -> OwnPrograms.Part {
    guard let process = application.process else { return .none }
    return ownPrograms.part(of: process, among: Set(applications.values.compactMap(\.process)))
  }

  /// A connection for the fields of one window.
  func connection() -> WindowConnection {
    WindowConnection(to: sessionBus, on: loop) { [log] in log.debug("a field was refused: \($0.name)") }
  }

  // MARK: The accessibility bus

  private func connected(_ bus: ProgramBus) {
    if bus.connection.serverID != formerBus { formerSecrets = [:] }
    formerBus = bus.connection.serverID
    let listener = EventListener(bus)
    listener.onLearned = { [weak self] name in
      guard let self else { return }
      for field in followed where field.element.application == name { changed(field.element, .all, isName: false) }
    }
    self.listener = listener
    bus.connection.onMessage = { [weak self, weak bus] message in
      guard message.kind == .signal else { return }
      // What is asked because of one event goes out in one write.
      bus?.connection.writeTogether { self?.received(message) }
    }
    for rule in Self.rules { bus.connection.changeMatch(.add, rule) }
    bus.connection.askOwner(of: AccessibilityNames.registry) { [weak self] in self?.registry = try? $0.get() }
    registerEvents()
    log.info("serving as \(Self.name)")
    findWindows()
    lookAgainLater(isNew: true)
  }

  private static let rules: [MatchRule] =
    ["focused", "active"].map { detail in
      MatchRule(
        interface: AccessibilityNames.objectEvent, member: MemberName(known: "StateChanged"), arguments: [0: detail])
    } + [
      MatchRule(
        sender: AccessibilityNames.registry, path: AccessibilityNames.root, interface: AccessibilityNames.objectEvent,
        member: MemberName(known: "ChildrenChanged")),
      MatchRule(interface: AccessibilityNames.objectEvent, member: MemberName(known: "ActiveDescendantChanged")),
      .departures, .nameOwnerChanges(of: AccessibilityNames.registry),
    ]
    // GTK 4 spells them so.
    + ["Activate", "Deactivate", "Destroy", "activate", "deactivate", "destroy"].map { member in
      MatchRule(interface: AccessibilityNames.windowEvent, member: MemberName(known: member))
    }

  private func registerEvents() {
    // Qt knows events only if they are spelled so.
    let events = [
      "Object:StateChanged:focused", "Object:StateChanged:active", "Object:ActiveDescendantChanged", "Window:Activate",
      "Window:Deactivate", "Window:Destroy",
    ]
    for event in events { bus?.register(event) }
  }

  private func busEnded() {
    log.info(
      "the connection to the accessibility bus is closed: the bus has ended, or a program sent too long a message")
    disconnect()
  }

  private func disconnect() {
    for application in applications.values {
      // Secret once, secret for good.
      if !application.secrets.paths.isEmpty { formerSecrets[application.name] = application.secrets }
      application.close()
    }
    applications = [:]
    kept = []
    shown = nil
    stopTimers()
    for waiter in focusWaiters {
      loop.cancel(waiter.timer)
      waiter.done(.failure(.elementGone))
    }
    focusWaiters = []
    tracker = FocusTracker()
    failures = nil
    listener = nil
    status.close()
  }

  // MARK: Events

  private func received(_ message: Message) {
    guard let sender = message.sender, let path = message.path, let member = message.member?.text else { return }
    if sender == .bus {
      if let change = message.nameOwnerChange { nameChanged(change) }
      return
    }
    bus?.heard(sender)
    let element = ElementReference(sender, path)
    switch (message.interface, member) {
    // GTK 4 spells them so.
    case (AccessibilityNames.windowEvent, "Activate"), (AccessibilityNames.windowEvent, "activate"):
      application(sender).tellsWindows = true
      claim(.activated(element), element)
    case (AccessibilityNames.windowEvent, "Deactivate"), (AccessibilityNames.windowEvent, "deactivate"):
      resign(.deactivated(element), element)
    case (AccessibilityNames.windowEvent, "Destroy"), (AccessibilityNames.windowEvent, "destroy"):
      resign(.destroyed(element), element)
    case (AccessibilityNames.objectEvent, "StateChanged"):
      guard let (detail, value) = message.detail else { return }
      switch (detail, value) {
      case ("focused", 1): claim(.gained(element), element)
      case ("focused", _): resign(.lost(element), element)
      case ("active", 1): becameActive(element)
      case ("active", _): resign(.deactivated(element), element)
      default: changed(element, .all, isName: false)
      }
    case (AccessibilityNames.objectEvent, "ChildrenChanged") where path == AccessibilityNames.root:
      guard sender == registry, let child = message.child else { return }
      if message.detail?.name == "remove" { return departed(child.application) }
      appeared(child.application)
      lookAgainLater(isNew: true)
    case (AccessibilityNames.objectEvent, "ActiveDescendantChanged"):
      if let item = message.child, item.application == sender { itemBecameActive(item) }
    case (AccessibilityNames.objectEvent, _):
      changed(element, message.aspects, isName: message.detail?.name == "accessible-name")
    default: break
    }
  }

  private func nameChanged(_ change: NameOwnerChange) {
    let name = change.name
    guard name != AccessibilityNames.registry else {
      registry = change.now
      if change.now != nil {
        registerEvents()
        listener?.registerAgain()
        lookAgainLater(isNew: true)
      }
      return
    }
    guard change.now == nil else { return }
    // What it has answered last is taken first.
    defer { bus?.forget(name) }
    formerSecrets[name] = nil
    guard let application = applications[name] else { return }
    applications[name] = nil
    remove(application, programHasLeft: true)
    take(.left(name))
  }

  func application(_ name: BusName) -> Application {
    if let application = applications[name] { return application }
    let application = Application(name, secrets: formerSecrets[name] ?? SecretElements())
    applications[name] = application
    return application
  }
}
