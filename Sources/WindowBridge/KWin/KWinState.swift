package import BridgeJSON

/// The windows of KWin, as the script in it tells them.
package struct KWinState {
  private struct Entry {
    let uuid: String
    let isMinimized: Bool
  }

  package private(set) var desktop = Desktop()
  private var entries: [WindowID: Entry] = [:]
  /// The window that was said to be in front last, also if it is not told yet.
  private var active: WindowID?

  package init() {}

  /// Takes over a window.
  /// - Returns: false if there are too many.
  package mutating func window(_ window: JSON) -> Bool {
    guard let uuid = WindowText.name(window["id"]?.text) else { return true }
    let id = WindowID(uuid: uuid)
    guard entries[id] != nil || entries.count < WaylandWindows.most else { return false }
    entries[id] = Entry(uuid: uuid, isMinimized: window["minimized"]?.isTrue == true)
    let before = desktop.windows[id]?.actions ?? []
    let actions = WindowAction.allCases.filter { window[$0.rawValue.lowercased()]?.isTrue == true }
    desktop.windows[id] = Window(
      title: WindowText.cut(window["title"]?.text ?? "", limit: WindowText.titleLength),
      application: WindowText.name(window["application"]?.text), process: window["pid"]?.process,
      workspace: WindowText.name(window["workspace"]?.text),
      kind: window["kind"]?.text == "panel" ? .panel : window["kind"]?.text == "backdrop" ? .backdrop : .ordinary,
      // Those that come and go would make its field another each time.
      actions: before.union(actions))
    settle()
    return true
  }

  package mutating func gone(_ uuid: String) {
    let id = WindowID(uuid: uuid)
    entries[id] = nil
    desktop.windows[id] = nil
    if active == id { active = nil }
    settle()
  }

  /// Takes over which window is in front; nothing for none.
  package mutating func front(_ uuid: String) {
    active = uuid.isEmpty ? nil : WindowID(uuid: uuid)
    settle()
  }

  private mutating func settle() { desktop.front = active.flatMap { entries[$0] == nil ? nil : $0 } }

  package func uuid(_ id: WindowID) -> String? { entries[id]?.uuid }
  package func isMinimized(_ id: WindowID) -> Bool { entries[id]?.isMinimized == true }
}
