package import DBus
internal import DBusTypes
internal import DaemonClient
package import EventLoop
internal import FocusContract
package import ProgramSupport

/// The bridge `org.focusd.Bridge1.Windows`: makes the daemon's windows follow a window manager.
package final class WindowBridge {
  /// The most processes of which it is remembered whether they are kernel threads.
  private static let mostProcesses = 4096
  /// How long changes of titles are collected.
  private static let coalescing = Duration.milliseconds(25)

  let source: any WindowSource
  let loop: EventLoop
  let log: Log
  let link: Link
  private let publisher: FieldPublisher
  let residents: Residents
  let programs: NamedPrograms
  private let accessibility: AccessibilityAddress
  var adoption = Adoption()
  var witness = WindowWitness()
  var witnessTimer: TimerID?
  private let processes: Processes
  /// Whether processes of windows are kernel threads; each is asked for once.
  private var areKernelThreads: [UInt32: Bool] = [:]
  private var selection: WindowSelection
  var desktop = Desktop()
  /// What the source told last.
  private var told = Desktop()
  var fields: [WindowID: WindowField] = [:]
  private var lastNumber: UInt64 = 0
  /// Whether this connection owns the bridge's name, so that its scenes are windows.
  var isOwner = false
  /// Which daemon is meant; the answers of one before it mean nothing.
  private var session = 0
  /// The window that the daemon was told is in front.
  var toldFront: WindowID?
  /// Whether it was this daemon that was told.
  var hasTold = false
  var blurTimer: TimerID?
  /// When the daemon is asked again for what it could not save.
  var retryTimer: TimerID?
  var unsavedBlurs: Set<WindowID> = []
  private var titleTimer: TimerID?
  private var hasServed = false
  /// Those who wait until a window is in front.
  var requests = FrontRequests()

  /// Called when the bridge owns its name and serves, the first time.
  package var onReady: (() -> Void)?
  /// Called when another program owns the bridge's name.
  package var onWaiting: (() -> Void)?
  /// Called with what makes it impossible to go on.
  package var onFailure: ((String) -> Void)?

  /// Creates a bridge between `source` and the daemon, without the windows of some applications.
  package init(
    _ source: any WindowSource, ignoring applications: [String] = [], processes: Processes = Processes(),
    on loop: EventLoop, log: Log
  ) {
    self.source = source
    self.loop = loop
    self.log = log
    self.processes = processes
    selection = WindowSelection(ignoring: applications)
    link = Link(
      on: loop,
      rules: [
        .fields, .fieldProperties, .nameOwnerChanges(of: Focus1.windowBridge), ProgramWindowInterface.rule,
        AccessibilityAddress.rule,
      ])
    publisher = FieldPublisher(link)
    residents = Residents(link, processes)
    programs = NamedPrograms(link, processes, log)
    accessibility = AccessibilityAddress(link)
    link.onEvent = { [weak self] in self?.received($0) }
    residents.onChange = { [weak self] in
      self?.tellAdoptions()
      self?.tellFront()
    }
    programs.onChange = { [weak self] in self?.tellAdoptions() }
    residents.windows.onActive = { [weak self] in self?.becameActive($0) }
    accessibility.onAddress = { [weak source] in source?.accessibilityBus = $0 }
    source.onChange = { [weak self] in self?.changed(to: $0) }
    source.onEnd = { [weak self] in self?.onFailure?($0) }
  }

  /// Begins, with the daemon of `bus`, now and whenever it comes back.
  /// - Throws: as the source does.
  package func start(on bus: Connection.Bus) throws {
    try source.start()
    link.connect(to: bus)
  }

  /// Leaves out the windows of `applications`, and of no others, from now on.
  package func ignore(_ applications: [String]) {
    selection.ignore(applications)
    take()
  }

  // MARK: The daemon

  private func received(_ event: Link.Event) {
    switch event {
    case .arrived:
      claimName()
      accessibility.begin()
    case .left: left()
    case .signal(let signal): residents.received(signal)
    case .call(let message): called(message)
    case .refused(let error): onFailure?("the bus refuses to send the daemon's signals: \(error.message)")
    case .other(let message):
      nameChanged(message)
      residents.received(message)
      accessibility.received(message)
    case .closed: break
    }
  }

  private func called(_ message: Message) {
    guard message.path == MenuInterface.path else { return publisher.called(message) }
    let reply = MenuInterface.reply(to: message) { path in
      fields.values.first { $0.path == path }.flatMap { field in
        desktop.windows[field.id].map { ($0.menus, $0.process == nil ? field.program : nil) }
      }
    }
    if message.wantsReply, let reply { link.send(reply) }
  }

  private func left() {
    session += 1
    isOwner = false
    residents.end()
    programs.end()
    publisher.daemonLeft()
    if let retryTimer { loop.cancel(retryTimer) }
    (retryTimer, unsavedBlurs) = (nil, [])
    for field in fields.values { (field.path, field.adopted, field.program) = (nil, nil, nil) }
    log.info("focusd is gone; waiting for it")
  }

  /// Before any window: only the scenes of the name's owner are windows.
  private func claimName() {
    session += 1
    let session = session
    link.daemon?.connection.askForName(Focus1.windowBridge) { [weak self] result in
      guard let self, session == self.session else { return }
      switch result {
      case .success(true): begin()
      case .success(false): waitForName()
      // The connection's end is told otherwise.
      case .failure(let error) where error.name == .disconnected: break
      case .failure(let error): onFailure?("cannot own \(Focus1.windowBridge): \(error.message)")
      }
    }
  }

  /// Another bridge has the name, until it ends.
  private func waitForName() {
    toldFront = nil
    log.info("another program owns \(Focus1.windowBridge); waiting for it to end")
    onWaiting?()
  }

  private func nameChanged(_ message: Message) {
    guard !isOwner, let change = message.nameOwnerChange, change.name == Focus1.windowBridge, change.now == nil
    else { return }
    claimName()
  }

  private func begin() {
    isOwner = true
    hasTold = false
    let session = session
    for field in fields.values { (field.isRefused, field.adopted) = (false, nil) }
    publisher.registerAll()
    sync()
    for field in fields.values { awaitRegistration(field) }
    residents.begin { [weak self] own in
      guard let self, session == self.session else { return }
      // Of windows that were closed while the daemon was away.
      for path in own
      where !fields.values.contains(where: { $0.path == path || $0.id.description == path.elements.last ?? "" }) {
        link.call(.field(path, "Unregister")) { _ in }
      }
    }
    guard !hasServed else { return }
    hasServed = true
    onReady?()
    log.info("serving as \(Focus1.windowBridge)")
  }

  // MARK: Windows

  private func changed(to new: Desktop) {
    let before = told
    told = new
    if new.hasOnlyOtherTitles(than: before) { takeLater() } else { take() }
  }

  /// Takes what the source told last.
  private func take() {
    let chosen = selection.choose(withPrograms(told))
    guard chosen != desktop else { return }
    let front = desktop.front
    desktop = chosen
    if chosen.front != front { frontChanged() }
    if isOwner { sync() }
  }

  /// A program that counts in its title keeps nobody busy.
  private func takeLater() {
    guard titleTimer == nil else { return }
    titleTimer = loop.schedule(after: Self.coalescing) { [weak self] in
      guard let self else { return }
      titleTimer = nil
      take()
    }
  }

  /// The windows, without the processes that are kernel threads.
  ///
  /// Of an X11 window of a Flatpak, KWin reports the number that the process has within the Flatpak, and outside of it a kernel
  /// thread has that number.
  private func withPrograms(_ desktop: Desktop) -> Desktop {
    var desktop = desktop
    if areKernelThreads.count > Self.mostProcesses { areKernelThreads = [:] }
    for (id, window) in desktop.windows {
      guard let process = window.process else { continue }
      let isKernelThread = areKernelThreads[process] ?? processes.isKernelThread(process)
      areKernelThreads[process] = isKernelThread
      if isKernelThread { desktop.windows[id]?.process = nil }
    }
    return desktop
  }

  /// Makes the fields those of the windows.
  private func sync() {
    var residentsMoved = false
    for (id, field) in fields {
      guard let window = desktop.windows[id], field.published.isShown(as: window) else {
        remove(field)
        // By name another may be the only one now.
        residentsMoved = residentsMoved || field.published.process == nil
        continue
      }
      residentsMoved =
        residentsMoved || window.process != field.published.process
        || window.application != field.published.application
      publish(window, of: field)
    }
    // The one in front must not wait for the others.
    let new = desktop.windows.filter { fields[$0.key] == nil }.sorted { $0.key < $1.key }
    for (id, window) in new.filter({ $0.key == desktop.front }) + new.filter({ $0.key != desktop.front }) {
      lastNumber += 1
      let field = WindowField(id, number: lastNumber, window)
      fields[id] = field
      publisher.add(field.description(self, isNamed: true))
      awaitRegistration(field)
    }
    tellFront()
    if residentsMoved || !new.isEmpty || adoption.isUnsure { tellAdoptions() }
  }

  private func remove(_ field: WindowField) {
    fields[field.id] = nil
    if toldFront == field.id { toldFront = nil }
    publisher.remove(group: field.number)
    requests.fail(field.id, "the window was closed")
  }

  private func publish(_ window: Window, of field: WindowField) {
    let before = field.published.values
    field.published = window
    publisher.changed(field.number, from: before, to: window.values)
  }

  private func awaitRegistration(_ field: WindowField) {
    publisher.whenRegistered(field.number, id: field.number) { [weak self, weak field] result in
      guard let self, let field, fields[field.id] === field else { return }
      switch result {
      case .success(let path):
        field.path = path
        // A daemon that comes back remembers which window was in front, and that may be another now; if it is the same, what had
        // focus instead of it has it still.
        if desktop.front != field.id {
          blur(field)
        } else if toldFront == field.id, publisher.isRestored(field.number) {
          hasTold = true
        }
      case .failure(let error) where error.name == Focus1.fieldExists && !field.isRefused:
        field.isRefused = true
        publisher.remove(group: field.number)
        publisher.add(field.description(self, isNamed: false))
        return awaitRegistration(field)
      case .failure(let error) where error.name == Focus1.ioError: return awaitRegistration(field)
      case .failure(let error):
        field.isRefused = true
        log.error("focusd refuses the window \(field.id): \(error.message)")
      }
      tellAdoptions()
      tellFront()
    }
  }
}
