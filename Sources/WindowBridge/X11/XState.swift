/// The windows of an X session, from the properties that an EWMH window manager and its clients set.
package struct XState {
  /// One client's window.
  private struct Client {
    var properties: [XAtom: XProperty] = [:]
    /// The process as the server knows it; 0 if it does not.
    var process: UInt32 = 0
    /// What has not been answered for the first time; nothing waits for the menus and for what is allowed.
    var missing = XAtom.ofClient.subtracting(XAtom.menus.keys).subtracting([.allowedActions])
    var isProcessMissing = true
    /// The window, described again when something of it is another; nil until all is known.
    var window: Window?

    var isComplete: Bool { missing.isEmpty && !isProcessMissing }
  }

  /// Which atom each number is.
  private let atoms: [UInt32: XAtom]
  /// The name of this machine: another's process numbers mean nothing here.
  private let machine: String
  private var root: [XAtom: XProperty] = [:]
  private var clients: [UInt32: Client] = [:]
  private var workspaces: [String] = []
  /// What the window manager does, to any window.
  private var actions: Set<WindowAction> = []

  /// Creates a state without windows.
  package init(atoms: [UInt32: XAtom], machine: String) {
    self.atoms = atoms
    self.machine = machine
  }

  /// The windows that the window manager has.
  package var windows: [UInt32] { root[.clientList]?.numbers ?? [] }

  /// Where i3 listens, if it is the window manager.
  package var i3Socket: String? { root[.i3Socket]?.text(limit: WindowText.titleLength) }

  /// Takes over a property of the root window.
  /// - Returns: the windows that have come, whose properties are not known.
  package mutating func setRoot(_ atom: XAtom, _ value: XProperty?) -> [UInt32] {
    // A window manager that restarts can still do what it could do.
    guard value != nil || atom != .supported else { return [] }
    root[atom] = value
    guard atom == .clientList else {
      if atom != .activeWindow, atom != .currentDesktop { describeAll() }
      return []
    }
    let current = Set(windows)
    clients = clients.filter { current.contains($0.key) }
    let new = current.filter { clients[$0] == nil }.sorted()
    for window in new { clients[window] = Client() }
    return new
  }

  /// Takes over a property of a client's window.
  package mutating func setClient(_ window: UInt32, _ atom: XAtom, _ value: XProperty?) {
    clients[window]?.properties[atom] = value
    clients[window]?.missing.remove(atom)
    describe(window)
  }

  /// Forgets a client whose window is gone, whatever the list of windows says until it is another.
  package mutating func removeClient(_ window: UInt32) { clients[window] = nil }

  /// Takes over the process of a client, as the server knows it; 0 if it does not.
  package mutating func setProcess(_ window: UInt32, _ process: UInt32) {
    clients[window]?.process = process
    clients[window]?.isProcessMissing = false
    describe(window)
  }

  /// Whether the active window, if it is a client's, is known: it is in a moment.
  package var isSettled: Bool {
    root[.activeWindow]?.numbers.first.flatMap { clients[$0] }?.isComplete ?? true
  }

  /// The windows of which all is known.
  package var desktop: Desktop {
    var desktop = Desktop()
    for (number, client) in clients { desktop.windows[WindowID(UInt64(number))] = client.window }
    let active = WindowID(UInt64(root[.activeWindow]?.numbers.first ?? 0))
    desktop.front = desktop.windows[active] == nil ? nil : active
    return desktop
  }

  /// The number of the workspace that a window is on; nil if that is shown, or not known.
  package func workspaceBehind(of window: UInt32) -> UInt32? {
    guard let current = root[.currentDesktop]?.numbers.first, let index = workspaceIndex(clients[window]) else {
      return nil
    }
    return index == current ? nil : index
  }

  /// The number of a client's workspace; nil for one that is on all of them.
  private func workspaceIndex(_ client: Client?) -> UInt32? {
    client?.properties[.desktop]?.numbers.first.flatMap { $0 == .max ? nil : $0 }
  }

  private mutating func describeAll() {
    workspaces = root[.desktopNames]?.names ?? []
    let supported = Set((root[.supported]?.numbers ?? []).compactMap { atoms[$0] })
    actions = []
    if supported.contains(.closeWindow) { actions.insert(.close) }
    if supported.contains(.stateFullscreen) { actions.insert(.fullscreen) }
    if supported.contains(.actionMinimize) { actions.insert(.minimize) }
    if i3Socket != nil { actions.insert(.float) }
    for window in Array(clients.keys) { describe(window) }
  }

  private mutating func describe(_ window: UInt32) {
    guard let client = clients[window], client.isComplete else { return }
    let description = description(of: client)
    clients[window]?.window = description
  }

  /// Whether the window manager does `action` to a window, as far as it says so (EWMH, `_NET_WM_ALLOWED_ACTIONS`).
  package func allows(_ action: WindowAction, on window: UInt32) -> Bool {
    guard let allowed = clients[window]?.properties[.allowedActions]?.numbers.compactMap({ atoms[$0] }) else {
      return true
    }
    return switch action {
    case .close: allowed.contains(.actionClose)
    // xfwm4 leaves that out, and moving, of a window that is not shown now.
    case .fullscreen: allowed.contains(.actionFullscreen) || !allowed.contains(.actionMove)
    case .minimize: allowed.contains(.actionMinimize)
    case .float: true
    }
  }

  private func description(of client: Client) -> Window {
    func text(_ atom: XAtom, _ limit: Int) -> String? { client.properties[atom]?.text(limit: limit) }
    let classes = client.properties[.class]?.names ?? []
    let types = (client.properties[.type]?.numbers ?? []).compactMap { atoms[$0] }
    var window = Window(actions: actions)
    window.title = text(.name, WindowText.titleLength) ?? text(.oldName, WindowText.titleLength) ?? ""
    // The instance comes first, the class second.
    window.application = classes.dropFirst().first.flatMap(WindowText.name) ?? classes.first.flatMap(WindowText.name)
    window.process = process(of: client)
    if let index = workspaceIndex(client) {
      let name = workspaces.indices.contains(Int(index)) ? WindowText.name(workspaces[Int(index)]) : nil
      window.workspace = name ?? String(UInt64(index) + 1)
    }
    for (atom, part) in XAtom.menus { window.menus[part] = text(atom, WindowText.titleLength) }
    if types.contains(.typeDock) { window.kind = .panel }
    if types.contains(.typeDesktop) { window.kind = .backdrop }
    return window
  }

  private func process(of client: Client) -> UInt32? {
    if client.process > 1 { return client.process }
    guard let claimed = client.properties[.process]?.numbers.first, claimed > 1 else { return nil }
    let machine = client.properties[.machine]?.text(limit: WindowText.nameLength)
    return machine == nil || machine == self.machine ? claimed : nil
  }
}
