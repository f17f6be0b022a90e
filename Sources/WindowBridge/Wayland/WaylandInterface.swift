/// The interfaces that the bridge uses, by their names.
package enum WaylandInterface: String, CaseIterable {
  case display = "wl_display"
  case registry = "wl_registry"
  case callback = "wl_callback"
  case seat = "wl_seat"
  case plasmaManager = "org_kde_plasma_window_management"
  case plasmaWindow = "org_kde_plasma_window"
  case plasmaDesktops = "org_kde_plasma_virtual_desktop_management"
  case plasmaDesktop = "org_kde_plasma_virtual_desktop"
  case wlrManager = "zwlr_foreign_toplevel_manager_v1"
  case wlrWindow = "zwlr_foreign_toplevel_handle_v1"
  case cosmicInfo = "zcosmic_toplevel_info_v1"
  case cosmicWindow = "zcosmic_toplevel_handle_v1"
  case cosmicManager = "zcosmic_toplevel_manager_v1"

  /// The newest version whose events are known; newer ones only add events at the end.
  package var version: UInt32 {
    switch self {
    case .plasmaManager: 20
    case .plasmaDesktops: 2
    case .wlrManager: 3
    // From its second version on, another protocol tells of titles.
    default: 1
    }
  }

  private static let tables = Dictionary(uniqueKeysWithValues: allCases.map { ($0, $0.table) })

  /// The event of an opcode, with the signature of its arguments; nil if it is not read.
  package func event(_ opcode: Int) -> (event: WaylandEvent, signature: String)? {
    guard let table = Self.tables[self], table.indices.contains(opcode) else { return nil }
    return table[opcode]
  }

  /// Its events in the order of their opcodes; nil is one that is not read.
  private var table: [(event: WaylandEvent, signature: String)?] {
    switch self {
    case .display: [(.error, "uus"), (.deleted, "u")]
    case .registry: [(.global, "usu")]
    case .callback: [(.done, "u")]
    case .seat: []
    case .plasmaManager: [nil, nil, nil, nil, (.window, "us")]
    case .plasmaWindow:
      [
        (.title, "s"), (.application, "s"), (.states, "u"), nil, nil, (.closed, ""), (.done, ""), nil, nil, nil,
        (.process, "u"), (.entered, "s"), (.left, "s"), (.menu, "ss"),
      ]
    case .plasmaDesktops: [(.desktop, "s"), (.desktopRemoved, "s")]
    case .plasmaDesktop: [nil, (.name, "s")]
    case .wlrManager: [(.window, "u"), (.finished, "")]
    case .wlrWindow: [(.title, "s"), (.application, "s"), nil, nil, (.states, "a"), (.done, ""), (.closed, "")]
    case .cosmicInfo: [(.window, "u"), (.finished, "")]
    case .cosmicWindow:
      [(.closed, ""), (.done, ""), (.title, "s"), (.application, "s"), nil, nil, nil, nil, (.states, "a")]
    case .cosmicManager: [(.capabilities, "a")]
    }
  }
}

/// What events tell, whatever each interface calls them.
package enum WaylandEvent {
  // Of the display, its registry and its callbacks.
  case error, deleted, global
  /// All before it is told.
  case done
  // Of windows and their managers.
  case window, finished, capabilities
  case title, application, process, states, menu, closed
  // Of virtual desktops, and windows on them.
  case desktop, desktopRemoved, name, entered, left
}
