package import BridgeJSON

/// The windows of niri, from its event stream: <https://yalter.github.io/niri/niri_ipc/enum.Event.html>.
package struct NiriState: RequestState {
  package private(set) var desktop = Desktop()
  /// The workspace of each window, and the names of workspaces.
  private var homes: [WindowID: UInt64] = [:]
  private var names: [UInt64: String] = [:]

  package init() {}

  /// Takes over one event; an unknown one changes nothing.
  package mutating func event(_ event: JSON) {
    guard let name = event.keys.first, let content = event[name] else { return }
    switch name {
    case "WindowsChanged":
      (desktop, homes) = (Desktop(), [:])
      for window in content["windows"]?.elements ?? [] { set(window) }
    case "WindowOpenedOrChanged":
      if let window = content["window"] { set(window) }
    case "WindowClosed":
      guard let id = content["id"]?.number.map(WindowID.init) else { return }
      desktop.windows[id] = nil
      homes[id] = nil
      if desktop.front == id { desktop.front = nil }
    case "WindowFocusChanged": desktop.front = content["id"]?.number.map(WindowID.init)
    case "WorkspacesChanged":
      names = [:]
      for workspace in content["workspaces"]?.elements ?? [] {
        guard let id = workspace["id"]?.number else { continue }
        names[id] = WindowText.name(workspace["name"]?.text) ?? workspace["idx"]?.integer.map(String.init)
      }
      for (window, home) in homes { desktop.windows[window]?.workspace = names[home] }
    default: break
    }
  }

  private mutating func set(_ window: JSON) {
    guard let id = window["id"]?.number.map(WindowID.init) else { return }
    homes[id] = window["workspace_id"]?.number
    desktop.windows[id] = Window(
      title: WindowText.cut(window["title"]?.text ?? "", limit: WindowText.titleLength),
      application: WindowText.name(window["app_id"]?.text), process: window["pid"]?.process,
      workspace: homes[id].flatMap { names[$0] }, actions: [.close, .fullscreen, .float])
    if window["is_focused"]?.isTrue == true {
      desktop.front = id
    } else if desktop.front == id {
      desktop.front = nil
    }
  }

  /// What is sent to be told of all events.
  package static let subscription = Array("\"EventStream\"\n".utf8)

  package func request(_ action: WindowAction, on window: WindowID) -> [UInt8]? {
    switch action {
    case .close: Self.request("CloseWindow", window)
    case .fullscreen: Self.request("FullscreenWindow", window)
    case .float: Self.request("ToggleWindowFloating", window)
    case .minimize: nil
    }
  }

  package func raiseRequest(_ window: WindowID) -> [UInt8] { Self.request("FocusWindow", window) }

  private static func request(_ action: String, _ window: WindowID) -> [UInt8] {
    Array("{\"Action\":{\"\(action)\":{\"id\":\(window.number)}}}\n".utf8)
  }

  /// Why a request was refused, from niri's answer; nil if it was not.
  package static func refusal(_ answer: [UInt8]) -> String? {
    let answer = JSON(answer)
    if answer?["Ok"] != nil { return nil }
    return WindowText.cut(answer?["Err"]?.text ?? "the answer of niri cannot be read", limit: WindowText.titleLength)
  }
}
