package import DBus
package import DBusTypes
package import EventLoop

/// The accessibility of the session: where its bus is, and whether programs are told to use it.
package final class AccessibilityStatus {
  package static let busName = BusName(known: "org.a11y.Bus")
  private static let path = ObjectPath(known: "/org/a11y/bus")
  private static let interface = "org.a11y.Status"
  /// The signals that `received` must be given.
  package static let changes = MatchRule(
    sender: busName, path: path, interface: .properties, member: .propertiesChanged, arguments: [0: interface])
  private static let firstDelay = Duration.milliseconds(500)
  private static let longestDelay = Duration.seconds(60)
  private static let mostFailures = 6
  /// How long each answer may take at the end.
  private static let endTimeout = Duration.seconds(2)

  private let connection: Connection
  private let loop: EventLoop
  /// Whether `begin` turns accessibility on.
  package var enables: Bool
  private var delay = AccessibilityStatus.firstDelay
  private var timer: TimerID?
  private var isAsking = false
  /// How often it could not be turned on in a row.
  private var failures = 0
  private let mark = EnabledMark()
  /// Whether it was off, and must be again.
  private var mustRestore = false
  /// Whether it was told lately that it may be off.
  private var isChanged = false
  /// How often it was asked whether it is on, and has not said.
  private var enabledQuestions = 0
  /// The accessibility bus, while there is one.
  package private(set) var bus: ProgramBus?
  private var isConnecting = false
  /// Whether there may be a bus, which is asked for or connected to just now.
  package var isBeginning: Bool { isAsking || isConnecting }
  /// Where it is, as far as was told last.
  private var address = ""
  /// Called when the bus is connected.
  package var onBus: ((ProgramBus) -> Void)?
  /// Called when the bus ended by itself, before it is closed; it is asked for again afterwards.
  package var onBusEnd: (() -> Void)?

  package init(_ connection: Connection, on loop: EventLoop, enables: Bool) {
    (self.connection, self.loop, self.enables) = (connection, loop, enables)
  }

  /// Asks for the bus until there is one, at first at once and later once a minute.
  package func begin() {
    if let timer { loop.cancel(timer) }
    timer = nil
    guard !isAsking else { return }
    isAsking = true
    ask(try? Self.addressQuestion()) { [weak self] answer in
      guard let self else { return }
      isAsking = false
      guard case .string(let address)? = (try? answer.get())?.first, !address.isEmpty else { return tryLater() }
      failures = 0
      // A bridge that was killed may have left it on.
      if enables { enable() } else if mark.isSet { mustRestore = true }
      // The bus of who offered it before may outlive that, without any program that starts from now on.
      if bus != nil, address != self.address {
        onBusEnd?()
        close()
      }
      connect(to: address)
    }
  }

  /// Closes the bus.
  package func close() {
    let closed = bus
    bus = nil
    closed?.close()
    withExtendedLifetime(closed) {}
  }

  private func connect(to address: String) {
    guard bus == nil else { return }
    self.address = address
    guard !isConnecting else { return }
    isConnecting = true
    Connection.open(address, on: loop, timeout: ProgramBus.changeTimeout) { [weak self] result in
      guard let self else { return }
      isConnecting = false
      // It was told meanwhile that the bus is elsewhere.
      guard address == self.address else { return connect(to: self.address) }
      guard case .success(let connection) = result else { return tryLater() }
      connected(ProgramBus(connection, on: loop))
    }
  }

  private func connected(_ bus: ProgramBus) {
    self.bus = bus
    delay = Self.firstDelay
    bus.connection.onDisconnect = { [weak self, weak bus] in
      // Not from within its own dispatching.
      self?.loop.schedule(after: .zero) { self?.ended(bus) }
    }
    onBus?(bus)
  }

  private func ended(_ bus: ProgramBus?) {
    guard let bus, bus === self.bus else { return }
    onBusEnd?()
    close()
    tryLater()
  }

  private func tryLater() {
    guard timer == nil else { return }
    timer = loop.schedule(after: delay) { [weak self] in self?.begin() }
    delay = min(delay * 2, Self.longestDelay)
  }

  /// Another connection offers accessibility.
  package func ownerChanged() {
    mustRestore = false
    delay = Self.firstDelay
    begin()
  }

  /// Turns it on again if it is off: GNOME turns it off when its magnifier is turned off.
  package func received(_ message: Message) {
    guard message.path == Self.path, message.isSignal(.properties, .propertiesChanged), !isChanged else { return }
    isChanged = true
    // Not at once, or two programs that want different things would do nothing else.
    loop.schedule(after: Self.firstDelay) { [weak self] in
      guard let self else { return }
      isChanged = false
      if enables { enable() }
    }
  }

  private static func property(_ name: String) -> [DBusValue] { [.string(interface), .string(name)] }

  private func enable() {
    enabledQuestions += 1
    ask(try? question("Get", Self.property("IsEnabled"))) { [weak self] answer in
      guard let self else { return }
      enabledQuestions -= 1
      switch (try? answer.get())?.first?.variantContent {
      case nil: enableLater()
      case .boolean(false) where enables: turnOn()
      case .boolean(true): mustRestore = mustRestore || mark.isSet
      default: break
      }
    }
  }

  /// Turns it on, unless that follows from listening to programs: since at-spi2-core 2.62, which tells of no screen reader any
  /// more, it is on while anybody listens, and to turn it on changes the user's setting alone.
  private func turnOn() {
    ask(try? question("Get", Self.property("ScreenReaderEnabled"))) { [weak self] answer in
      guard let self, enables else { return }
      if case .failure(let error) = answer, !error.isLate { return }
      // Before it is true: who finds it so later must know who it was.
      mark.set()
      mustRestore = true
      ask(try? question("Set", Self.property("IsEnabled") + [.variant(.boolean(true))])) { [weak self] answer in
        if case .failure = answer { self?.enableLater() }
      }
    }
  }

  /// Turns it on later: who offers it may be busy, or only starting.
  private func enableLater() {
    guard failures < Self.mostFailures else { return }
    loop.schedule(after: Self.firstDelay * (1 << failures)) { [weak self] in
      if let self, enables { enable() }
    }
    failures += 1
  }

  /// Puts back what `begin` changed, or a bridge before this one, unless another program needs it now; waits for it, six
  /// seconds at most.
  package func restore() {
    // What the answer would tell is known from the mark.
    guard mustRestore || (enabledQuestions > 0 && mark.isSet) else { return }
    mustRestore = false
    switch need() {
    case .told: return mark.remove()
    // It stays on, and the next bridge asks again.
    case .unknown: return
    case .none: break
    }
    let off = Self.property("IsEnabled") + [.variant(.boolean(false))]
    let answer = wait(connection) { () throws(DBusError) in try question("Set", off) }
    if case .success = answer { mark.remove() }
  }

  /// Whether something other than the bridge needs accessibility.
  private enum Need {
    case none
    /// A screen reader says so, whose setting it is then.
    case told
    /// A program listens, or no answer came in time.
    case unknown
  }

  private func need() -> Need {
    let reader = Self.property("ScreenReaderEnabled")
    let said = wait(connection) { () throws(DBusError) in try question("Get", reader) }
    if said.isLate { return .unknown }
    if (try? said.get())?.first?.variantContent == .boolean(true) { return .told }
    // Desktops say so of a screen reader that they start; one that a user starts only listens to programs, as Orca does.
    guard let bus else { return .none }
    let events = wait(bus.connection) { () throws(DBusError) in
      try OutgoingMessage.methodCall(
        to: AccessibilityNames.registry, path: AccessibilityNames.registryPath,
        interface: AccessibilityNames.registryInterface, member: MemberName(known: "GetRegisteredEvents"), [])
    }
    if events.isLate { return .unknown }
    guard case .array(let listeners)? = (try? events.get())?.first else { return .none }
    let own = bus.connection.uniqueName?.text
    let hasOthers = listeners.contains { listener in
      guard case .structure(let parts) = listener, case .string(let name)? = parts.first else { return false }
      return name != own
    }
    return hasOthers ? .unknown : .none
  }

  private func wait(
    _ connection: Connection, for question: () throws(DBusError) -> OutgoingMessage
  ) -> Result<[DBusValue], DBusError> {
    Result { () throws(DBusError) in try connection.call(question(), timeout: Self.endTimeout).arguments() }
  }

  /// Asks `owner`, which offers accessibility, where its bus is.
  package static func addressQuestion(to owner: BusName = busName) throws(DBusError) -> OutgoingMessage {
    try OutgoingMessage.methodCall(
      to: owner, path: path, interface: InterfaceName(known: "org.a11y.Bus"), member: MemberName(known: "GetAddress"),
      [])
  }

  private func question(_ member: String, _ arguments: [DBusValue]) throws(DBusError) -> OutgoingMessage {
    try OutgoingMessage.methodCall(
      to: Self.busName, path: Self.path, interface: .properties, member: MemberName(known: member), arguments)
  }

  private func ask(_ question: OutgoingMessage?, _ handler: @escaping (Result<[DBusValue], DBusError>) -> Void) {
    let asked: Void? = question.flatMap { question in
      try? connection.call(question) { result in
        handler(Result { () throws(DBusError) in try result.get().success().arguments() })
      }
    }
    guard asked == nil else { return }
    let error = DBusError(.disconnected, "the connection to the bus is closed")
    loop.schedule(after: .zero) { handler(.failure(error)) }
  }
}
