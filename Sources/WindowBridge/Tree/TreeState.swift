package import BridgeJSON

/// The windows of sway or i3, from the tree and from the events that follow it.
package struct TreeState {
  package private(set) var desktop = Desktop()
  /// The workspace that has focus, or one in which a window has it; nil if that is unknown.
  private var current: String?

  package init() {}

  /// Takes over the answer to `GET_TREE`.
  package mutating func tree(_ root: JSON) {
    (desktop, current) = (Desktop(), nil)
    if !visit(root, workspace: nil) {
      desktop.front = Self.lastFocused(in: root).flatMap { desktop.windows[$0] == nil ? nil : $0 }
    }
  }

  /// The window that had focus last: in sway, nothing has it while a launcher or a lock has the keyboard.
  private static func lastFocused(in node: JSON) -> WindowID? {
    if let id = id(of: node) { return id }
    guard let next = node["focus"]?.elements.first?.integer else { return nil }
    let children = (node["nodes"]?.elements ?? []) + (node["floating_nodes"]?.elements ?? [])
    return children.first { $0["id"]?.integer == next }.flatMap(lastFocused)
  }

  /// Takes over a node and what is in it.
  /// - Returns: whether any of them has focus, which may be a workspace.
  private mutating func visit(_ node: JSON, workspace: String?) -> Bool {
    let type = node["type"]?.text
    // The bars of i3.
    guard type != "dockarea" else { return false }
    let workspace = type == "workspace" ? Self.name(ofWorkspace: node) : workspace
    var hasFocus = node["focused"]?.isTrue == true
    if hasFocus { current = workspace }
    if let id = Self.id(of: node) {
      desktop.windows[id] = Self.window(node, workspace: workspace)
      if hasFocus { desktop.front = id }
    }
    for key in ["nodes", "floating_nodes"] {
      for child in node[key]?.elements ?? [] where visit(child, workspace: workspace) { hasFocus = true }
    }
    return hasFocus
  }

  /// The workspace's name, nil for the one of hidden windows, the scratchpad.
  private static func name(ofWorkspace node: JSON) -> String? {
    let name = node["name"]?.text
    return name == "__i3_scratch" ? nil : WindowText.name(name)
  }

  /// Takes over an event of type `window`.
  /// - Returns: whether the tree must be read again.
  package mutating func windowEvent(_ event: JSON) -> Bool {
    guard let change = event["change"]?.text, let container = event["container"] else { return true }
    guard let id = Self.id(of: container) else {
      // Several windows in one container have focus together: none is in front.
      if change == "focus" { desktop.front = nil }
      return true
    }
    if change == "close" {
      desktop.windows[id] = nil
      if desktop.front == id { desktop.front = nil }
      return true
    }
    let known = desktop.windows[id]
    desktop.windows[id] = Self.window(container, workspace: known?.workspace)
    if change == "focus" {
      desktop.front = id
      // No event tells that it came from the scratchpad, or by a swap, unlike that another workspace has focus.
      return known?.workspace == nil || known?.workspace != current
    }
    return known == nil || !["title", "fullscreen_mode", "urgent", "mark"].contains(change)
  }

  /// Takes over an event of type `workspace`; the tree must be read again.
  package mutating func workspaceEvent(_ event: JSON) {
    guard event["change"]?.text == "focus", let workspace = event["current"] else { return }
    current = Self.name(ofWorkspace: workspace)
    // sway and i3 tell which window comes to the front, but not that a workspace is empty.
    let isEmpty = ["nodes", "floating_nodes"].allSatisfy { workspace[$0]?.elements.isEmpty ?? true }
    if isEmpty { desktop.front = nil }
  }

  /// The window that a container is; nil for a container of others.
  private static func id(of node: JSON) -> WindowID? {
    guard let number = node["id"]?.number, ["con", "floating_con"].contains(node["type"]?.text) else { return nil }
    // sway tells a process of each window, i3 an X window.
    let isWindow = node["pid"]?.integer != nil || node["window"]?.integer != nil
    return isWindow ? WindowID(number) : nil
  }

  private static func window(_ node: JSON, workspace: String?) -> Window {
    Window(
      title: WindowText.cut(node["name"]?.text ?? "", limit: WindowText.titleLength),
      application: WindowText.name(node["app_id"]?.text)
        ?? WindowText.name(node["window_properties"]?["class"]?.text),
      process: node["pid"]?.process, workspace: workspace, actions: [.close, .fullscreen, .float])
  }

  /// The command that does `action` to a window.
  package static func command(_ action: WindowAction, on window: WindowID) -> String? {
    switch action {
    case .close: "[con_id=\(window.number)] kill"
    case .fullscreen: "[con_id=\(window.number)] fullscreen toggle"
    case .float: "[con_id=\(window.number)] floating toggle"
    case .minimize: nil
    }
  }

  /// The command that brings a window to the front.
  package static func raiseCommand(_ window: WindowID) -> String { "[con_id=\(window.number)] focus" }

  /// Why a command was refused, from the answer to `RUN_COMMAND`; nil if it was not.
  package static func refusal(_ answer: JSON?) -> String? {
    guard let results = answer?.elements, let failed = results.first(where: { $0["success"]?.isTrue != true }) else {
      return answer == nil ? "the answer of the window manager is not JSON" : nil
    }
    return WindowText.cut(failed["error"]?.text ?? "the window manager refuses", limit: WindowText.titleLength)
  }
}
