/// The atoms that the bridge uses: ICCCM, EWMH, and those of i3, GTK and KDE.
package enum XAtom: String, CaseIterable, Sendable {
  case activeWindow = "_NET_ACTIVE_WINDOW"
  case clientList = "_NET_CLIENT_LIST"
  case currentDesktop = "_NET_CURRENT_DESKTOP"
  case desktopNames = "_NET_DESKTOP_NAMES"
  case supported = "_NET_SUPPORTED"
  case i3Socket = "I3_SOCKET_PATH"
  case name = "_NET_WM_NAME"
  case desktop = "_NET_WM_DESKTOP"
  case process = "_NET_WM_PID"
  case type = "_NET_WM_WINDOW_TYPE"
  case oldName = "WM_NAME"
  case `class` = "WM_CLASS"
  case machine = "WM_CLIENT_MACHINE"
  case typeDesktop = "_NET_WM_WINDOW_TYPE_DESKTOP"
  case typeDock = "_NET_WM_WINDOW_TYPE_DOCK"
  case closeWindow = "_NET_CLOSE_WINDOW"
  case state = "_NET_WM_STATE"
  case stateFullscreen = "_NET_WM_STATE_FULLSCREEN"
  case allowedActions = "_NET_WM_ALLOWED_ACTIONS"
  case actionMinimize = "_NET_WM_ACTION_MINIMIZE"
  case actionFullscreen = "_NET_WM_ACTION_FULLSCREEN"
  case actionMove = "_NET_WM_ACTION_MOVE"
  case actionClose = "_NET_WM_ACTION_CLOSE"
  case changeState = "WM_CHANGE_STATE"
  case utf8 = "UTF8_STRING"
  case gtkApplicationID = "_GTK_APPLICATION_ID"
  case gtkBusName = "_GTK_UNIQUE_BUS_NAME"
  case gtkApplication = "_GTK_APPLICATION_OBJECT_PATH"
  case gtkWindow = "_GTK_WINDOW_OBJECT_PATH"
  case gtkMenubar = "_GTK_MENUBAR_OBJECT_PATH"
  case gtkAppMenu = "_GTK_APP_MENU_OBJECT_PATH"
  case unity = "_UNITY_OBJECT_PATH"
  case accessibilityBus = "AT_SPI_BUS"
  case kdeBusName = "_KDE_NET_WM_APPMENU_SERVICE_NAME"
  case kdeMenubar = "_KDE_NET_WM_APPMENU_OBJECT_PATH"

  /// The properties of the root window that are followed.
  static let ofRoot: Set<XAtom> = [
    .activeWindow, .clientList, .currentDesktop, .desktopNames, .supported, .i3Socket,
  ]
  /// The properties of each window that are followed.
  static let ofClient: Set<XAtom> = Set(
    [.name, .oldName, .class, .machine, .process, .desktop, .type, .allowedActions] + menus.keys)

  /// The properties that tell where a window's menus are.
  static let menus: [XAtom: MenuAddresses.Part] = [
    .gtkApplicationID: .gtkApplicationID, .gtkBusName: .gtkBusName, .gtkApplication: .gtkApplication,
    .gtkWindow: .gtkWindow, .gtkMenubar: .gtkMenubar, .gtkAppMenu: .gtkAppMenu, .unity: .unity,
    .kdeBusName: .kdeBusName, .kdeMenubar: .kdeMenubar,
  ]
}

/// The value of a property.
package struct XProperty: Hashable, Sendable {
  package let bytes: [UInt8]
  /// Whether a text is in UTF-8; else it is in ISO 8859-1, or in the encoding COMPOUND_TEXT, which begins as that.
  package let isUTF8: Bool

  package init(_ bytes: [UInt8], isUTF8: Bool = true) {
    self.bytes = bytes
    self.isUTF8 = isUTF8
  }

  /// The numbers of a property of format 32, in the byte order of the machine.
  package init(_ numbers: [UInt32]) {
    self.init(numbers.flatMap { number in withUnsafeBytes(of: number) { Array($0) } })
  }

  package var numbers: [UInt32] {
    bytes.withUnsafeBytes { buffer in
      stride(from: 0, to: buffer.count - buffer.count % 4, by: 4).map {
        buffer.loadUnaligned(fromByteOffset: $0, as: UInt32.self)
      }
    }
  }

  /// The first text; nil for an empty one.
  func text(limit: Int) -> String? {
    let first = bytes.prefix { $0 != 0 }
    guard !first.isEmpty else { return nil }
    return text(first, limit: limit)
  }

  /// The texts, each of which ends with NUL.
  var names: [String] {
    var texts = bytes.split(separator: 0, omittingEmptySubsequences: false)
    if texts.last?.isEmpty == true { texts.removeLast() }
    return texts.map { text($0, limit: WindowText.nameLength) }
  }

  /// Whether a text that should be in another encoding is in UTF-8, as `WM_CLASS` of GTK is.
  private static func areUTF8(_ bytes: ArraySlice<UInt8>) -> Bool {
    let escape: UInt8 = 0x1b
    return bytes.contains { $0 >= 0x80 } && !bytes.contains(escape) && String(validating: bytes, as: UTF8.self) != nil
  }

  private func text(_ bytes: ArraySlice<UInt8>, limit: Int) -> String {
    isUTF8 || Self.areUTF8(bytes)
      ? WindowText.text(bytes, limit: limit) : WindowText.cut(CompoundText.text(bytes.prefix(limit)), limit: limit)
  }
}
