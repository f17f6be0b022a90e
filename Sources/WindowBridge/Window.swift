internal import DBusTypes

/// Names a window as its window manager does, for as long as the window is there.
package struct WindowID: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The window manager's number: an X window, a container of sway or i3, a window of niri, an address of Hyprland's, what
  /// Plasma's UUID of the window hashes to; the bridge's own if the window manager has none.
  package let number: UInt64

  package init(_ number: UInt64) { self.number = number }

  /// The window that Plasma names by a UUID, which FNV-1a makes a number.
  package init(uuid: String) {
    number = uuid.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  /// The id of the window's field, such as `w5`: the same for every bridge that sees the window.
  package var description: String { "w\(number)" }

  package static func < (left: WindowID, right: WindowID) -> Bool { left.number < right.number }
}

/// What a window manager can do to a window.
package enum WindowAction: String, Sendable, CaseIterable {
  case close = "Close"
  case fullscreen = "Fullscreen"
  case float = "Float"
  case minimize = "Minimize"
}

/// Where a window's program has its menus and actions on the session bus, by the names of GTK and KDE.
package struct MenuAddresses: Hashable, Sendable {
  /// One of the addresses.
  package enum Part: String, Sendable, CaseIterable {
    case gtkApplicationID = "gtk-application-id"
    case gtkBusName = "gtk-unique-bus-name"
    case gtkApplication = "gtk-application-object-path"
    case gtkWindow = "gtk-window-object-path"
    case gtkMenubar = "gtk-menubar-object-path"
    case gtkAppMenu = "gtk-app-menu-object-path"
    /// What a module for GTK exports of programs without an application of GTK's.
    case unity = "unity-object-path"
    case kdeBusName = "kde-appmenu-service-name"
    case kdeMenubar = "kde-appmenu-object-path"

    var isPath: Bool { rawValue.hasSuffix("-path") }
  }

  /// The most bytes of a path; a bus name is shorter by its syntax.
  private static let pathLength = 1024

  /// The addresses that are known, each a valid bus name or object path.
  package private(set) var parts: [Part: String] = [:]

  /// Takes what is valid of `parts`.
  package init(_ parts: [Part: String] = [:]) {
    for (part, text) in parts { self[part] = text }
  }

  /// An address, nil if the program does not tell it: what is no bus name or object path is not taken.
  package subscript(part: Part) -> String? {
    get { parts[part] }
    set { parts[part] = newValue.flatMap { Self.isValid($0, part) ? $0 : nil } }
  }

  private static func isValid(_ text: String, _ part: Part) -> Bool {
    if part.isPath { return text.utf8.count <= pathLength && text != "/" && (try? ObjectPath(text)) != nil }
    return (try? BusName(text)) != nil
  }
}

/// A top-level window, as its window manager describes it.
package struct Window: Hashable, Sendable {
  /// What a window is for.
  package enum Kind: Sendable {
    case ordinary
    /// A bar or a dock: it may take the keyboard, and what was in front stays there.
    case panel
    /// What lies behind all windows: with it in front, no window is.
    case backdrop
  }

  package var title = ""
  /// The identifier of its application, or nil if that is unknown.
  package var application: String?
  /// The process, or nil if that is unknown.
  package var process: UInt32?
  /// The workspace that it is on; nil if it is on all of them, or on none.
  package var workspace: String?
  package var kind = Kind.ordinary
  package var actions: Set<WindowAction> = []
  /// Never published: only `org.focusd.Bridge1.Windows.Menus` tells them.
  package var menus = MenuAddresses()

  package init(
    title: String = "", application: String? = nil, process: UInt32? = nil, workspace: String? = nil,
    kind: Kind = .ordinary, actions: Set<WindowAction> = [], menus: MenuAddresses = MenuAddresses()
  ) {
    self.title = title
    self.application = application
    self.process = process
    self.workspace = workspace
    self.kind = kind
    self.actions = actions
    self.menus = menus
  }
}

extension Window {
  /// Whether its field can show it as `other`: not with other commands, nor if the window manager has given its name to a window
  /// of another program.
  func isShown(as other: Window) -> Bool {
    actions == other.actions && (process == nil || other.process == nil || process == other.process)
  }
}

/// All windows, and which of them is in front.
package struct Desktop: Hashable, Sendable {
  package var windows: [WindowID: Window] = [:]
  /// The window that has the keyboard, nil if none has.
  package var front: WindowID?

  package init(windows: [WindowID: Window] = [:], front: WindowID? = nil) {
    self.windows = windows
    self.front = front
  }
}

/// Which windows become fields, and which of those is in front.
package struct WindowSelection {
  /// Applications whose windows are left out, without regard to case.
  private var ignored: Set<String>
  private var front: WindowID?

  package init(ignoring applications: some Sequence<String>) { ignored = Set(applications.map { $0.lowercased() }) }

  /// Leaves out the windows of `applications`, and of no others, from now on.
  package mutating func ignore(_ applications: some Sequence<String>) {
    ignored = Set(applications.map { $0.lowercased() })
  }

  private func isChosen(_ window: Window) -> Bool {
    window.kind == .ordinary && window.application.map { !ignored.contains($0.lowercased()) } ?? true
  }

  /// The windows of `desktop` that become fields.
  ///
  /// While a window that is left out has the keyboard, such as a launcher or a bar, the one before it stays in front.
  package mutating func choose(_ desktop: Desktop) -> Desktop {
    let chosen = desktop.windows.filter { isChosen($0.value) }
    let next = desktop.front.flatMap { desktop.windows[$0] }
    if next == nil || next?.kind == .backdrop {
      front = nil
    } else if let id = desktop.front, chosen[id] != nil {
      front = id
    } else if let id = front, chosen[id] == nil {
      front = nil
    }
    return Desktop(windows: chosen, front: front)
  }
}

extension Desktop {
  /// Whether nothing but titles is different from `other`.
  func hasOnlyOtherTitles(than other: Desktop) -> Bool {
    guard front == other.front, windows.count == other.windows.count else { return false }
    return windows.allSatisfy { id, window in
      guard var before = other.windows[id] else { return false }
      before.title = window.title
      return before == window
    }
  }
}
