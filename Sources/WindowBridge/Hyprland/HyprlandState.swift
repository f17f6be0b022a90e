package import BridgeJSON

/// The windows of Hyprland, from its list of clients and its events: <https://wiki.hypr.land/IPC/>.
package struct HyprlandState: RequestState {
  package private(set) var desktop = Desktop()
  /// The window that was said to be active last, also if the list of clients does not have it yet.
  private var active: WindowID?
  /// Whether requests are in Lua, as they are since Hyprland 0.55 if the settings are.
  private var speaksLua = false
  /// How many bytes of an event it tells.
  private static let longestEvent = 1024

  package init() {}

  /// Takes over the answer to `j/status`, which older versions do not know.
  package mutating func status(_ answer: JSON) { speaksLua = answer["configProvider"]?.text == "lua" }

  /// Takes over the answer to `j/clients`, which may be older than `events` that have come since it was asked for.
  package mutating func clients(_ list: JSON, before events: [String] = []) {
    desktop.windows = [:]
    for client in list.elements where client["mapped"]?.isTrue ?? true {
      guard let id = Self.id(client["address"]?.text) else { continue }
      desktop.windows[id] = Window(
        title: WindowText.cut(client["title"]?.text ?? "", limit: WindowText.titleLength),
        application: WindowText.name(client["class"]?.text), process: client["pid"]?.process,
        workspace: WindowText.name(client["workspace"]?["name"]?.text), actions: [.close, .fullscreen, .float])
    }
    for line in events { _ = event(line) }
    settle()
  }

  /// Takes over the answer to `j/activewindow`.
  package mutating func activeWindow(_ client: JSON) {
    active = Self.id(client["address"]?.text)
    settle()
  }

  /// Takes over one line of the event socket.
  /// - Returns: whether the list of clients must be read again.
  package mutating func event(_ line: String) -> Bool {
    // EVENT>>DATA
    guard let mark = line.firstIndex(of: ">"), line[mark...].hasPrefix(">>") else { return false }
    let data = line[mark...].dropFirst(2)
    let first = data.prefix { $0 != "," }
    switch line[..<mark] {
    case "activewindowv2":
      active = Self.id(String(first))
      settle()
      return active != nil && desktop.front == nil
    case "closewindow":
      guard let id = Self.id(String(first)) else { return true }
      desktop.windows[id] = nil
      if active == id { active = nil }
      settle()
      return false
    case "windowtitlev2":
      guard let id = Self.id(String(first)), desktop.windows[id] != nil else { return true }
      // A line is cut there.
      guard data.utf8.count < Self.longestEvent else { return true }
      let title = String(data.dropFirst(first.count + 1))
      desktop.windows[id]?.title = WindowText.cut(title, limit: WindowText.titleLength)
      return false
    case "openwindow", "movewindowv2", "renameworkspace", "windowtitle": return true
    default: return false
    }
  }

  private mutating func settle() { desktop.front = active.flatMap { desktop.windows[$0] == nil ? nil : $0 } }

  /// The window at an address, which answers write with `0x` and events without.
  private static func id(_ address: String?) -> WindowID? {
    guard let address else { return nil }
    let digits = address.hasPrefix("0x") ? address.dropFirst(2) : address[...]
    return UInt64(digits, radix: 16).flatMap { $0 == 0 ? nil : WindowID($0) }
  }

  package func request(_ action: WindowAction, on window: WindowID) -> [UInt8]? {
    let request: String? =
      switch action {
      case .close: dispatch("closewindow", "hl.dsp.window.close", window)
      // It works on the active window only.
      case .fullscreen:
        "[[BATCH]]\(raising(window));dispatch \(speaksLua ? "hl.dsp.window.fullscreen()" : "fullscreen 0")"
      case .float: dispatch("togglefloating", "hl.dsp.window.float", window)
      case .minimize: nil
      }
    return request.map { Array($0.utf8) }
  }

  package func raiseRequest(_ window: WindowID) -> [UInt8] { Array(raising(window).utf8) }

  private func raising(_ window: WindowID) -> String { dispatch("focuswindow", "hl.dsp.focus", window) }

  /// <https://wiki.hypr.land/Configuring/Basics/Dispatchers/>.
  private func dispatch(_ dispatcher: String, _ function: String, _ window: WindowID) -> String {
    let address = "address:0x" + String(window.number, radix: 16)
    return speaksLua ? "dispatch \(function)({ window = \"\(address)\" })" : "dispatch \(dispatcher) \(address)"
  }

  /// Why a request was refused, from the answer, which is `ok` for each part of it.
  package static func refusal(_ answer: [UInt8]) -> String? {
    let text = WindowText.text(answer, limit: WindowText.nameLength)
    let words = text.split { $0 == "\n" || $0 == " " }
    return !words.isEmpty && words.allSatisfy { $0 == "ok" } ? nil : text
  }
}
