/// The windows of compositors with wlroots' `wlr-foreign-toplevel-management-unstable-v1`, and of COSMIC, whose protocol is
/// made after it: neither tells processes or workspaces.
final class ToplevelManager: WaylandManager {
  /// The opcodes of requests: of a window, or with COSMIC of the manager, with the window as an argument.
  private struct Requests {
    let activate: Int
    let close: Int
    let minimize: Int
    let restore: Int
    let fullscreen: Int
    let leaveFullscreen: Int
    /// Of the window itself.
    let destroy: Int
  }

  private static let wlr = Requests(
    activate: 4, close: 5, minimize: 2, restore: 3, fullscreen: 8, leaveFullscreen: 9, destroy: 7)
  private static let cosmic = Requests(
    activate: 2, close: 1, minimize: 5, restore: 6, fullscreen: 7, leaveFullscreen: 8, destroy: 0)

  /// States of a window, which are numbers.
  private enum State {
    static let minimized: UInt32 = 1
    static let active: UInt32 = 2
    static let fullscreen: UInt32 = 3
  }

  private static let capabilities: [UInt32: WindowAction] = [1: .close, 4: .minimize, 5: .fullscreen]

  private let display: WaylandDisplay
  private let window: WaylandInterface
  private let requests: Requests
  /// COSMIC's manager, which takes the requests.
  private let manager: UInt32?
  private let seat: UInt32?
  private var actions: Set<WindowAction> = []
  var windows: WaylandWindows

  /// Follows the windows of `display`; nil if it does not offer to tell.
  init?(_ display: WaylandDisplay, _ windows: WaylandWindows) {
    self.display = display
    self.windows = windows
    if display.offers(.wlrManager) {
      (window, requests, manager) = (.wlrWindow, Self.wlr, nil)
      actions = display.offers(.wlrManager, version: 2) ? [.close, .minimize, .fullscreen] : [.close, .minimize]
    } else if display.offers(.cosmicInfo) {
      // First, so that it says what can be done before there are windows.
      (window, requests, manager) = (.cosmicWindow, Self.cosmic, display.bind(.cosmicManager))
    } else {
      return nil
    }
    seat = display.bind(.seat)
    _ = display.bind(window == .wlrWindow ? .wlrManager : .cosmicInfo)
  }

  func received(_ event: WaylandEvent, _ object: UInt32, _ arguments: WaylandArguments) throws(FramingError) {
    switch event {
    case .window:
      let object = arguments.number(0)
      try display.adopt(object, window)
      try windows.add(object)
      windows.change(object) { $0.window.actions = actions }
    case .title: windows.change(object) { $0.window.title = arguments.text(0, limit: WindowText.titleLength) }
    case .application: windows.change(object) { $0.window.application = WindowText.name(arguments.text(0)) }
    case .states:
      let states = arguments.list(0)
      windows.change(object) { entry in
        entry.isActive = states.contains(State.active)
        entry.isMinimized = states.contains(State.minimized)
        entry.isFullscreen = states.contains(State.fullscreen)
      }
    case .done: windows.complete(object)
    case .closed:
      windows.remove(object)
      display.destroy(object, requests.destroy)
    case .capabilities: actions = Set(arguments.list(0).compactMap { Self.capabilities[$0] })
    case .finished: display.lost("tells no more of its windows")
    default: break
    }
  }

  private func send(_ object: UInt32, _ opcode: Int, _ arguments: [WaylandArgument] = []) {
    if window == .wlrWindow {
      display.send(object, opcode, arguments)
    } else if let manager {
      display.send(manager, opcode, [.number(object)] + arguments)
    }
  }

  func raise(_ object: UInt32) -> String? {
    guard let seat, window == .wlrWindow || manager != nil else { return "the compositor does not offer that" }
    // Some compositors give the keyboard to a window that stays hidden.
    if windows[object]?.isMinimized == true { send(object, requests.restore) }
    send(object, requests.activate, [.number(seat)])
    return nil
  }

  func perform(_ action: WindowAction, _ object: UInt32, _ entry: WaylandWindows.Entry) {
    switch action {
    case .close: send(object, requests.close)
    case .minimize: send(object, requests.minimize)
    case .fullscreen where entry.isFullscreen: send(object, requests.leaveFullscreen)
    case .fullscreen:
      let anyOutput: UInt32 = 0
      send(object, requests.fullscreen, [.number(anyOutput)])
    case .float: break
    }
  }
}
