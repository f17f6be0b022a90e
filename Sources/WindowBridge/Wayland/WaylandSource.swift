package import EventLoop
package import ProgramSupport

/// A Wayland compositor that tells of its windows: KDE Plasma's, those with wlroots' protocol, or COSMIC's.
package final class WaylandSource: WindowSource {
  /// An order that is not carried out yet.
  private struct Order {
    let window: WindowID
    let isDone: (WaylandWindows.Entry) -> Bool
    let timer: TimerID
    let completion: (String?) -> Void
  }

  private let path: String
  private let loop: EventLoop
  private let log: Log
  private let display: WaylandDisplay
  private var manager: (any WaylandManager)?
  /// What the bridge knows.
  private var told = Desktop()
  /// Whether all windows that were there when the connection began are known.
  private var isSettled = false
  private var hasSettled = false
  private var timer: TimerID?
  private var orders: [UInt64: Order] = [:]
  private var lastOrder: UInt64 = 0
  /// The last number of a window that has none of its compositor's: a new connection gives none of them again.
  private var lastNumber: UInt64 = 0

  package var onChange: ((Desktop) -> Void)?
  package var onEnd: ((String) -> Void)?
  package var isLasting: Bool {
    get { display.isLasting }
    set { display.isLasting = newValue }
  }
  /// Whether it ended because the compositor, which answers, does not tell.
  package private(set) var isRefused = false
  /// Whether it ended because the compositor had not answered within `patience`.
  package private(set) var isUnanswered = false
  /// How long the first answer may take.
  package var patience = Duration.seconds(2)

  /// Follows the compositor that listens at `path`.
  package init(path: String, on loop: EventLoop, log: Log) {
    self.path = path
    self.loop = loop
    self.log = log
    display = WaylandDisplay(path: path, on: loop, log: log)
  }

  package func start() throws {
    display.onGlobals = { [weak self] in self?.choose() }
    display.onEvent = { [weak self] event, object, arguments in
      try self?.manager?.received(event, object, arguments)
      self?.tell()
    }
    display.onTurn = { [weak self] in self?.tell(isTurnOver: true) }
    display.onConnect = { [weak self] in self?.connected() }
    display.onLost = { [weak self] in self?.lost() }
    display.onForgotten = { [weak self] in self?.change(to: Desktop()) }
    display.onEnd = { [weak self] in self?.onEnd?($0) }
    try display.connect()
  }

  package func stop() {
    if let timer { loop.cancel(timer) }
    timer = nil
    display.end()
  }

  private func connected() {
    after(patience) { source in
      source.isUnanswered = !source.hasSettled
      source.display.lost("does not answer")
    }
  }

  private func after(_ time: Duration, _ body: @escaping (WaylandSource) -> Void) {
    if let timer { loop.cancel(timer) }
    timer = loop.schedule(after: time) { [weak self] in
      guard let self else { return }
      timer = nil
      body(self)
    }
  }

  private func choose() {
    let windows = WaylandWindows(after: lastNumber)
    manager = PlasmaManager(display, windows) ?? ToplevelManager(display, windows)
    guard manager != nil else {
      // One that takes the place of another is worth another look at all that may be there.
      isRefused = !hasSettled
      return end(Self.refusal(isPlasma: display.isPlasma))
    }
    // After the first all windows are named, and after the second described.
    display.sync { [weak self] in self?.display.sync { [weak self] in self?.settled() } }
  }

  private static func refusal(isPlasma: Bool) -> String {
    isPlasma
      ? "Plasma shows its windows only to programs with a desktop file that says so; see focusd-windows(8), DESKTOPS"
      : "the Wayland compositor does not tell other programs which window is in front, as GNOME's, which needs its "
        + "extension; see focusd-windows(8)"
  }

  private func settled() {
    log.debug("all windows of the Wayland compositor are known")
    (isSettled, hasSettled) = (true, true)
    if let desktop = manager?.windows.desktop { change(to: desktop) }
    display.told()
    // One that only begins well is waited for longer and longer.
    after(Reconnection.grace) { $0.display.succeeded() }
  }

  /// Tells what is new; that no window is in front only if none follows, as in each switch.
  private func tell(isTurnOver: Bool = false) {
    guard isSettled, let manager else { return }
    let isBetween = manager.windows.desktop.front == nil && told.front != nil
    if !isBetween || isTurnOver, manager.windows.takeChange() { change(to: manager.windows.desktop) }
    if !orders.isEmpty { carriedOut(manager.windows) }
  }

  private func change(to desktop: Desktop) {
    guard desktop != told else { return }
    told = desktop
    onChange?(desktop)
  }

  private func lost() {
    if let timer { loop.cancel(timer) }
    (timer, isSettled) = (nil, false)
    lastNumber = manager?.windows.lastNumber ?? lastNumber
    manager = nil
    for number in orders.keys.sorted() { end(order: number, "the window manager is gone") }
    if !hasSettled { end("the Wayland compositor at \(path) does not tell of its windows") }
  }

  private func end(_ reason: String) {
    if let timer { loop.cancel(timer) }
    timer = nil
    manager = nil
    display.end()
    onEnd?(reason)
  }

  // MARK: Commands

  package func raise(_ window: WindowID, _ completion: @escaping (String?) -> Void) {
    guard let manager, let object = manager.windows.object(window) else {
      return completion("the window was closed")
    }
    completion(manager.raise(object))
  }

  package func perform(_ action: WindowAction, on window: WindowID, _ completion: @escaping (String?) -> Void) {
    guard let manager, let object = manager.windows.object(window), let entry = manager.windows[object] else {
      return completion("the window was closed")
    }
    manager.perform(action, object, entry)
    switch action {
    // A program may ask first, or refuse.
    case .close, .float: completion(nil)
    case .minimize: wait(for: window, { $0.isMinimized }, completion)
    case .fullscreen: wait(for: window, { $0.isFullscreen != entry.isFullscreen }, completion)
    }
  }

  /// Waits until an order is carried out: no protocol answers, and some compositors do not minimize.
  private func wait(
    for window: WindowID, _ isDone: @escaping (WaylandWindows.Entry) -> Bool, _ completion: @escaping (String?) -> Void
  ) {
    lastOrder += 1
    let number = lastOrder
    let timer = loop.schedule(after: SocketQuestion.patience) { [weak self] in
      self?.end(order: number, "the compositor did not do so within \(SocketQuestion.patience)")
    }
    orders[number] = Order(window: window, isDone: isDone, timer: timer, completion: completion)
    if let manager { carriedOut(manager.windows) }
  }

  private func carriedOut(_ windows: WaylandWindows) {
    for (number, order) in orders.sorted(by: { $0.key < $1.key }) {
      guard let entry = windows.object(order.window).flatMap({ windows[$0] }) else {
        end(order: number, "the window was closed")
        continue
      }
      if order.isDone(entry) { end(order: number, nil) }
    }
  }

  private func end(order number: UInt64, _ refusal: String?) {
    guard let order = orders.removeValue(forKey: number) else { return }
    loop.cancel(order.timer)
    order.completion(refusal)
  }
}
