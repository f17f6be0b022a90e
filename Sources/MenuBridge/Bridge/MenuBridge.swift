internal import BridgeSupport
package import DBus
internal import DBusTypes
internal import DaemonClient
package import EventLoop
internal import FocusContract
package import ProgramSupport

/// The bridge `org.focusd.Bridge1.Menus`: gives each window a field with the commands of its program.
package final class MenuBridge {
  static let name = BusName(known: "org.focusd.Bridge1.Menus")
  /// How long the bus that programs are asked on may be gone, at first.
  private static let reconnection = Duration.seconds(1)

  let loop: EventLoop
  let log: Log
  let link: Link
  let publisher: FieldPublisher
  let fields: FieldFollower
  private(set) var ignored: ProgramList
  private let sessionBus: Connection.Bus
  /// The session bus, to ask programs on: what they owe or send is apart from what the daemon does.
  private(set) var programs: ProgramBus?
  private(set) var finder: SourceFinder?
  private let accessible: AccessiblePrograms
  var windows: [ObjectPath: WindowMenus] = [:]
  /// The languages that windows' programs are in.
  var catalogues: [String: Catalogue] = [:]
  var lastNumber: UInt64 = 0
  /// The owner of the window bridge's name.
  private(set) var windowBridge: BusName?
  private var focused: ObjectPath?
  /// The scene in front, and since when.
  private(set) var front: (scene: ObjectPath, since: SuspendingClock.Instant)?
  /// Called when the session bus is gone.
  package var onEnd: ((String) -> Void)?

  /// Connects to the session bus and takes the bridge's name there.
  /// - Throws: `DBusError` if there is no bus, or if another process has the name.
  package init(
    _ bus: Connection.Bus, ignoring programs: [String], on loop: EventLoop, log: Log
  ) throws(DBusError) {
    (self.loop, self.log, sessionBus) = (loop, log, bus)
    ignored = ProgramList(others: programs)
    let daemon = try DaemonConnection(to: bus, timeout: .seconds(25))
    guard try daemon.connection.requestName(Self.name) else {
      throw DBusError(.failed, "another process owns \(Self.name): only one bridge can run")
    }
    let names = [Focus1.windowBridge, AccessibilityStatus.busName].map(MatchRule.nameOwnerChanges(of:))
    link = Link(on: loop, rules: [.fields, .fieldProperties, .properties(of: Focus1.root)] + names)
    accessible = AccessiblePrograms(daemon.connection, on: loop)
    publisher = FieldPublisher(link)
    fields = FieldFollower(link)
    publisher.onError = { [log] in log.debug("a field was refused: \($0.name)") }
    fields.onChange = { [weak self] path, before, now in
      guard let self else { return }
      if now == nil { gone(path) }
      frontChanged()
      guard windowBridge != nil else { return }
      for origin in [before, now].compactMap(\.self) { contentsChanged(at: path, origin) }
    }
    link.onEvent = { [weak self] in self?.received($0) }
    connect()
    try link.open(daemon)
    accessible.begin()
    log.info("serving as \(Self.name)")
  }

  /// Never looks into `programs`, beside those that keep secrets, from now on; asks all others anew.
  package func ignore(_ programs: [String]) {
    ignored = ProgramList(others: programs)
    for window in windows.keys.map(\.self) { gone(window) }
    front = nil
    frontChanged()
  }

  /// Takes all fields away.
  package func end() {
    programs?.close()
    accessible.end()
    link.stop()
  }

  // MARK: The daemon

  private func received(_ event: Link.Event) {
    switch event {
    case .arrived: arrived()
    case .left:
      fields.end()
      publisher.daemonLeft()
      (focused, front) = (nil, nil)
    case .signal(.properties(let path, WindowKey.interface.text, _)): titleChanged(path)
    case .signal(let signal):
      guard let path = signal.focusedField else { return fields.received(signal) }
      focused = path
      frontChanged()
    case .call(let message): publisher.called(message)
    case .other(let message):
      guard let change = message.nameOwnerChange else { return }
      if change.name == AccessibilityStatus.busName, change.now != nil { accessible.ownerChanged() }
      guard change.name == Focus1.windowBridge else { return }
      windowBridge = change.now
      frontChanged()
    case .refused(let error): log.error("\(error)")
    case .closed: onEnd?("lost the connection to the bus")
    }
  }

  private func arrived() {
    publisher.registerAll()
    for menus in windows.values where publisher.contains(menus.number) { tellWhenRegistered(menus) }
    link.daemon?.connection.askOwner(of: Focus1.windowBridge) { [weak self] in
      guard let self, windowBridge == nil else { return }
      windowBridge = try? $0.get()
      frontChanged()
    }
    link.call(.focusedField()) { [weak self] result in
      guard let self, focused == nil, case .success(let path) = result else { return }
      focused = path
      frontChanged()
    }
    fields.begin { [weak self] in
      guard let self else { return }
      for window in windows.keys where fields.fields[window] == nil { gone(window) }
      // Of windows that were closed while the daemon was away.
      let own = link.daemon?.connection.uniqueName?.text
      let kept = Set(windows.values.compactMap { self.publisher.path(of: $0.number) })
      for (path, origin) in fields.fields where origin.owner == own && !kept.contains(path) {
        guard let parent = origin.parent, windows[parent] != nil else {
          link.call(.field(path, "Unregister")) { _ in }
          continue
        }
      }
      frontChanged()
    }
  }

  /// A field is gone, with it the menus of the window that it was.
  func gone(_ path: ObjectPath) {
    guard let menus = windows.removeValue(forKey: path) else { return }
    if menus.isPoor { followTitle(of: path, .remove) }
    menus.end()
    finder?.forget(path)
    publisher.remove(group: menus.number)
  }

  // MARK: In front

  /// The scene that the focused field is in.
  private var scene: ObjectPath? {
    guard var path = focused, fields.fields[path] != nil else { return nil }
    var depth = 0
    while let parent = fields.fields[path]?.parent, depth < Limits.fieldDepth * 2 {
      (path, depth) = (parent, depth + 1)
    }
    return path
  }

  private func frontChanged() {
    guard fields.hasRead else { return }
    let scene = scene
    guard scene != front?.scene else { return }
    front = scene.map { ($0, .now) }
    guard let scene else { return }
    // Where windows are known, other scenes are none, nor are those that were before.
    if let windowBridge {
      for window in windows.keys where fields.fields[window]?.owner != windowBridge.text { gone(window) }
      guard fields.fields[scene]?.owner == windowBridge.text else { return }
    }
    windows[scene]?.cameToFront()
    checkProcess(of: scene)
    look(at: scene)
  }

  // MARK: Programs

  private func connect() {
    guard let connection = try? Connection(to: sessionBus, timeout: .seconds(5)) else {
      loop.schedule(after: Self.reconnection) { [weak self] in self?.connect() }
      return
    }
    connection.attach(to: loop)
    connection.onMessage = { [weak self] message in
      guard message.kind == .signal else { return }
      for menus in self?.windows.values.map(\.self) ?? [] { menus.received(message) }
    }
    connection.onDisconnect = { [weak self] in
      // Not from within its own dispatching.
      self?.loop.schedule(after: Self.reconnection) { self?.disconnected() }
    }
    let bus = ProgramBus(connection, on: loop)
    programs = bus
    finder = SourceFinder(bus, accessible, self)
    front = nil
    frontChanged()
  }

  /// A program sent what no bus takes, or the bus is gone: what was known of all programs is not any more.
  private func disconnected() {
    let closed = programs
    (programs, finder) = (nil, nil)
    closed?.close()
    // The one in front was asked last, and its program may send that again.
    let asked = front.flatMap { windows[$0.scene] }
    for window in windows.keys.map(\.self) { gone(window) }
    if let asked { addAgain(asked) }
    connect()
  }

  /// Whether the program of a process is never looked into, as one is whose name is not known.
  func isIgnored(_ process: UInt32) -> Bool {
    let names = Processes().names(of: process)
    return names.isEmpty || ignored.contains(names)
  }
}

extension MenuBridge: WindowMenusDelegate {
  func isAlone(_ window: ObjectPath, of process: UInt32) -> Bool {
    !windows.contains { $0.key != window && $0.value.process == process }
  }

  func timeInFront(of window: ObjectPath) -> Duration? {
    guard let front, front.scene == window else { return nil }
    return SuspendingClock.now - front.since
  }

  func readTitle(of window: ObjectPath, _ done: @escaping (String?) -> Void) {
    link.call(.read(WindowKey.title.description, at: window)) { result in
      guard case .success(let reading?) = result, case .string(let title) = reading.value else { return done(nil) }
      done(title)
    }
  }
}
