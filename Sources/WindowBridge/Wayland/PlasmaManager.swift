/// KDE Plasma's windows: `plasma-window-management.xml` of plasma-wayland-protocols.
final class PlasmaManager: WaylandManager {
  /// What a window is, or can be.
  private enum State {
    static let active: UInt32 = 1 << 0
    static let minimized: UInt32 = 1 << 1
    static let fullscreen: UInt32 = 1 << 3
    static let actions: [UInt32: WindowAction] = [1 << 8: .close, 1 << 9: .minimize, 1 << 11: .fullscreen]
    /// Neither the task bar nor the window switcher shows it.
    static let isSkipped: UInt32 = 1 << 12 | 1 << 18
  }

  private enum Request {
    static let getDesktop = 0
    static let getWindow = 2
    static let setState = 0
    static let close = 4
    static let destroy = 7
  }

  /// The first version that names windows by UUID when they come.
  private static let oldestVersion: UInt32 = 13
  private static let mostDesktops = 256
  /// Virtual desktops of one window: it has a workspace only if it is on one.
  private static let mostPlaces = 16

  private let display: WaylandDisplay
  private let manager: UInt32
  private let desktops: UInt32?
  /// The identifiers of virtual desktops by their objects, and their names by their identifiers.
  private var desktopIDs: [UInt32: String] = [:]
  private var desktopNames: [String: String] = [:]
  /// The identifiers of the virtual desktops that a window is on.
  private var places: [UInt32: [String]] = [:]
  var windows: WaylandWindows

  /// Follows the windows of `display`; nil if it does not offer to tell.
  init?(_ display: WaylandDisplay, _ windows: WaylandWindows) {
    guard display.offers(.plasmaManager, version: Self.oldestVersion) else { return nil }
    self.display = display
    self.windows = windows
    // First, so that their names are known before the windows on them.
    desktops = display.bind(.plasmaDesktops)
    guard let manager = display.bind(.plasmaManager) else { return nil }
    self.manager = manager
  }

  func received(_ event: WaylandEvent, _ object: UInt32, _ arguments: WaylandArguments) throws(FramingError) {
    switch event {
    case .window:
      let uuid = arguments.text(1)
      let window = display.create(.plasmaWindow) {
        display.send(manager, Request.getWindow, [.number($0), .string(uuid)])
      }
      try windows.add(window, number: WindowID(uuid: uuid).number)
    case .closed:
      display.destroy(object, Request.destroy)
      places[object] = nil
      windows.remove(object)
    case .done: windows.complete(object)
    case .desktop: desktopCame(arguments.text(0))
    case .desktopRemoved: desktopLeft(arguments.text(0))
    case .name: named(object, arguments.text(0))
    default:
      change(object, event, arguments)
      // All of its beginning is told as one.
      if windows.isComplete(object) { windows.complete(object) }
    }
  }

  private func change(_ object: UInt32, _ event: WaylandEvent, _ arguments: WaylandArguments) {
    switch event {
    case .title: windows.change(object) { $0.window.title = arguments.text(0, limit: WindowText.titleLength) }
    case .application: windows.change(object) { $0.window.application = WindowText.name(arguments.text(0)) }
    case .process:
      let process = arguments.number(0)
      windows.change(object) { $0.window.process = process > 1 ? process : nil }
    case .states: windows.change(object) { Self.setStates(&$0, arguments.number(0)) }
    case .menu:
      let menus = MenuAddresses([.kdeBusName: arguments.text(0), .kdeMenubar: arguments.text(1)])
      windows.change(object) { $0.window.menus = menus }
    case .entered:
      let id = arguments.text(0)
      if windows[object] != nil, places[object]?.contains(id) != true, places[object]?.count ?? 0 < Self.mostPlaces {
        places[object, default: []].append(id)
      }
      place(object)
    case .left:
      places[object]?.removeAll { $0 == arguments.text(0) }
      place(object)
    default: break
    }
  }

  private static func setStates(_ entry: inout WaylandWindows.Entry, _ states: UInt32) {
    entry.isActive = states & State.active != 0
    entry.isMinimized = states & State.minimized != 0
    entry.isFullscreen = states & State.fullscreen != 0
    // Those that come and go with the state of a window would make its field another each time.
    for (flag, action) in State.actions where states & flag != 0 { entry.window.actions.insert(action) }
    entry.window.kind = states & State.isSkipped == State.isSkipped ? .panel : .ordinary
  }

  // MARK: Virtual desktops

  private func desktopCame(_ id: String) {
    guard let desktops, desktopIDs.count < Self.mostDesktops, !desktopIDs.values.contains(id) else { return }
    let object = display.create(.plasmaDesktop) {
      display.send(desktops, Request.getDesktop, [.number($0), .string(id)])
    }
    desktopIDs[object] = id
  }

  private func desktopLeft(_ id: String) {
    // There is no request that destroys one.
    for (object, other) in desktopIDs where other == id {
      desktopIDs[object] = nil
      display.destroy(object, nil)
    }
    desktopNames[id] = nil
  }

  private func named(_ object: UInt32, _ name: String) {
    guard let id = desktopIDs[object] else { return }
    desktopNames[id] = WindowText.name(name)
    for window in windows.objects where places[window]?.contains(id) == true {
      place(window)
      if windows.isComplete(window) { windows.complete(window) }
    }
  }

  private func place(_ object: UInt32) {
    let ids = places[object] ?? []
    windows.change(object) { $0.window.workspace = ids.count == 1 ? ids.first.flatMap { desktopNames[$0] } : nil }
  }

  // MARK: Commands

  func raise(_ object: UInt32) -> String? {
    set(object, State.active, true)
    return nil
  }

  func perform(_ action: WindowAction, _ object: UInt32, _ entry: WaylandWindows.Entry) {
    switch action {
    case .close: display.send(object, Request.close)
    case .fullscreen: set(object, State.fullscreen, !entry.isFullscreen)
    case .minimize: set(object, State.minimized, true)
    case .float: break
    }
  }

  private func set(_ object: UInt32, _ state: UInt32, _ value: Bool) {
    display.send(object, Request.setState, [.number(state), .number(value ? state : 0)])
  }
}
