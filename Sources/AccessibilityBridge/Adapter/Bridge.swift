package import DBus
internal import DBusTypes
package import EventLoop
internal import FocusClient
internal import FocusContract
package import ProgramSupport

/// What the bridge was told on its command line.
package struct BridgeOptions {
  /// Programs that are never looked into, beside those that keep secrets.
  package var ignored: [String] = []
  /// Whether terminals show their text.
  package var showsTerminals = false
  /// Whether it turns accessibility on while it runs.
  package var enables = true

  package init() {}
}

/// Tells the daemon which element has focus in the programs on the accessibility bus.
package final class Bridge {
  static let name = BusName(known: "org.focusd.Bridge1.Accessibility")
  /// How many elements stay fields after they lost focus, the focused one included.
  static let keptElements = 16

  let loop: EventLoop
  let log: Log
  let options: BridgeOptions
  let ignored: ProgramList
  private let sessionBus: Connection.Bus
  private let main: Link
  private let status: AccessibilityStatus
  let ownPrograms: OwnPrograms
  /// Called when the session bus is gone.
  package var onEnd: ((String) -> Void)?

  // The accessibility bus, while there is one, and what is known of the programs on it.
  var bus: AccessibilityBus?
  var listener: EventListener?
  var applications: [BusName: Application] = [:]
  var tracker = FocusTracker()
  /// The timers of the tracker's last steps.
  var timers: [TimerID] = []
  /// The field that should have focus in the daemon.
  var shown: ElementField?
  /// The fields, in the order in which they took focus.
  var kept: [ElementField] = []
  var lastNumber: UInt64 = 0
  var poll: TimerID?
  var refreshTimer: TimerID?
  /// Whether the title of the window changed, too.
  var hasOtherTitle = false
  /// The element whose program did not answer in time, and how often it was tried again.
  var failures: (element: ElementReference, count: Int)?
  var retryTimer: TimerID?
  var focusWaiters: [(element: ElementReference, timer: TimerID, done: FieldProperty.Completion)] = []
  private var isConnecting = false

  /// Connects to the session bus and takes the bridge's name there.
  /// - Throws: `DBusError` if there is no bus, or if another process has the name.
  package init(_ bus: Connection.Bus, on loop: EventLoop, log: Log, _ options: BridgeOptions) throws(DBusError) {
    (self.loop, self.log, self.options, sessionBus) = (loop, log, options, bus)
    ignored = ProgramList(others: options.ignored)
    let daemon = try DaemonConnection(to: bus, timeout: .seconds(25))
    guard try daemon.connection.requestName(Self.name) else {
      throw DBusError(.failed, "another process owns \(Self.name): only one bridge can run")
    }
    let accessibility = MatchRule(
      sender: .bus, interface: .bus, member: MemberName(known: "NameOwnerChanged"),
      arguments: [0: AccessibilityStatus.busName.text])
    main = Link(on: loop, rules: OwnPrograms.rules + [accessibility])
    status = AccessibilityStatus(daemon.connection, on: loop, enables: options.enables)
    let connections = Box<(String) -> Bool>({ _ in false })
    ownPrograms = OwnPrograms(main) { connections.content($0) }
    connections.content = { [weak self] owner in self?.isOurs(owner) ?? false }
    ownPrograms.onChange = { [weak self] in self?.ownProgramsChanged() }
    main.onEvent = { [weak self] in self?.handle($0) }
    status.onAddress = { [weak self] in self?.connect(to: $0) }
    try main.open(daemon)
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
    case .signal(let signal): ownPrograms.received(signal)
    case .other(let message): nameChanged(message)
    case .closed: onEnd?("lost the connection to the bus")
    case .refused(let error): log.error("\(error)")
    case .call(let message): refuse(message)
    }
  }

  /// The connection that owns the name has no objects.
  private func refuse(_ message: Message) {
    guard message.wantsReply else { return }
    let error = DBusError(.unknownObject, "\(Self.name) has no objects")
    _ = try? main.daemon?.connection.send(message.reply(error))
  }

  private func nameChanged(_ message: Message) {
    guard message.sender == .bus, let (name, _, now) = message.nameChange else { return }
    guard name == AccessibilityStatus.busName.text else { return ownPrograms.ownerChanged(name, to: now) }
    if !now.isEmpty { status.ownerChanged() }
  }

  private func isOurs(_ owner: String) -> Bool {
    applications.values.contains { $0.connection?.link.daemon?.connection.uniqueName?.text == owner }
  }

  private func ownProgramsChanged() {
    for application in applications.values where application.connection != nil && isOwn(application) {
      log.debug("\(application.name) registers fields of its own")
      remove(application)
    }
    settle()
  }

  /// Whether the program registers fields of its own.
  func isOwn(_ application: Application) -> Bool { application.process.map(ownPrograms.contains) ?? false }

  /// A connection for one program's fields.
  func connection() -> ProgramConnection {
    ProgramConnection(to: sessionBus, on: loop) { [log] in log.debug("a field was refused: \($0.name)") }
  }

  // MARK: The accessibility bus

  private func connect(to address: String) {
    guard bus == nil, !isConnecting else { return }
    isConnecting = true
    Connection.open(address, on: loop, timeout: AccessibilityBus.changeTimeout) { [weak self] result in
      guard let self else { return }
      isConnecting = false
      switch result {
      case .success(let connection): connected(AccessibilityBus(connection, on: loop))
      case .failure: status.tryLater()
      }
    }
  }

  private func connected(_ bus: AccessibilityBus) {
    self.bus = bus
    listener = EventListener(bus)
    status.succeeded()
    bus.connection.onMessage = { [weak self, weak bus] message in
      guard message.kind == .signal else { return }
      // What is asked because of one event goes out in one write.
      bus?.connection.writeTogether { self?.received(message) }
    }
    bus.connection.onDisconnect = { [weak self] in
      // Not from within its own dispatching.
      self?.loop.schedule(after: .zero) { self?.disconnected() }
    }
    for rule in Self.rules { bus.connection.changeMatch(.add, rule) }
    registerEvents()
    log.info("serving as \(Self.name)")
    findWindows()
  }

  private static let rules: [MatchRule] = {
    let changed = MemberName(known: "NameOwnerChanged")
    return [
      MatchRule(
        interface: AccessibilityNames.objectEvent, member: MemberName(known: "StateChanged"), arguments: [0: "focused"]),
      MatchRule(
        sender: AccessibilityNames.registry, path: AccessibilityNames.root, interface: AccessibilityNames.objectEvent,
        member: MemberName(known: "ChildrenChanged")),
      MatchRule(sender: .bus, interface: .bus, member: changed, arguments: [2: ""]),
      MatchRule(
        sender: .bus, interface: .bus, member: changed, arguments: [0: AccessibilityNames.registry.text]),
    ]
      // GTK 4 spells them so.
      + ["Activate", "Deactivate", "Destroy", "activate", "deactivate", "destroy"].map { member in
        MatchRule(interface: AccessibilityNames.windowEvent, member: MemberName(known: member))
      }
  }()

  private func registerEvents() {
    // Qt knows events only if they are spelled so.
    for event in ["Object:StateChanged:focused", "Window:Activate", "Window:Deactivate", "Window:Destroy"] {
      bus?.register(event)
    }
  }

  private func disconnected() {
    guard bus != nil else { return }
    log.info("the accessibility bus is gone")
    disconnect()
    status.tryLater()
  }

  private func disconnect() {
    for application in applications.values { application.close(on: loop) }
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
    listener = nil
    let closed = bus
    bus = nil
    closed?.close()
    withExtendedLifetime(closed) {}
  }

  // MARK: Events

  private func received(_ message: Message) {
    guard let sender = message.sender, let path = message.path, let member = message.member?.text else { return }
    if sender == .bus {
      if let (name, _, now) = message.nameChange { nameChanged(name, now) }
      return
    }
    let element = ElementReference(sender, path)
    switch (message.interface, member) {
    case (AccessibilityNames.windowEvent, "Activate"), (AccessibilityNames.windowEvent, "activate"):
      take(.activated(element))
    case (AccessibilityNames.windowEvent, "Deactivate"), (AccessibilityNames.windowEvent, "deactivate"):
      take(.deactivated(element))
    case (AccessibilityNames.windowEvent, "Destroy"), (AccessibilityNames.windowEvent, "destroy"):
      take(.destroyed(element))
    case (AccessibilityNames.objectEvent, "StateChanged"):
      guard let (detail, value) = message.detail else { return }
      if detail == "focused" { take(value == 1 ? .gained(element) : .lost(element)) } else { changed(element) }
    case (AccessibilityNames.objectEvent, "ChildrenChanged") where path == AccessibilityNames.root:
      if let child = message.child { lookAt(application(child.application)) }
    case (AccessibilityNames.objectEvent, _): changed(element)
    default: break
    }
  }

  private func nameChanged(_ name: String, _ now: String) {
    guard name != AccessibilityNames.registry.text else {
      if !now.isEmpty {
        registerEvents()
        listener?.registerAgain()
      }
      return
    }
    guard now.isEmpty, let name = try? BusName(name), let application = applications[name] else { return }
    applications[name] = nil
    remove(application)
    take(.left(name))
  }

  func application(_ name: BusName) -> Application {
    if let application = applications[name] { return application }
    let application = Application(name)
    applications[name] = application
    return application
  }

  // MARK: Windows that were there before

  private func findWindows() {
    bus?.call(AccessibilityNames.registry, AccessibilityNames.root, AccessibilityNames.accessible, "GetChildren") {
      [weak self] answer in
      guard let self, case .success(let values) = answer, case .array(let children)? = values.first else { return }
      for child in children.prefix(256) {
        if let child = ElementReference(child) { lookAt(application(child.application)) }
      }
    }
  }

  /// Looks for a window in front, as long as none is known.
  private func lookAt(_ application: Application) {
    guard let bus, tracker.window == nil else { return }
    guard case .known = application.stage else {
      application.ask(bus, ignored: ignored) { [weak self] in
        guard let self else { return }
        if case .known = application.stage { lookAt(application) }
        settle()
      }
      return
    }
    bus.ask(application.root, "GetChildren") { [weak self] answer in
      guard case .success(let values) = answer, case .array(let windows)? = values.first else { return }
      for window in windows.prefix(64).compactMap({ ElementReference($0) }) { self?.lookAt(window) }
    }
  }

  private func lookAt(_ window: ElementReference) {
    bus?.ask(window, "GetState") { [weak self] answer in
      guard let self, tracker.window == nil, case .success(let values) = answer,
        ElementStates(values.first)?.contains(.active) == true
      else { return }
      take(.activated(window))
    }
  }
}
