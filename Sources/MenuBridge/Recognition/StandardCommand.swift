/// A command that all programs share, and what tells it among the items of a menu.
struct StandardCommand: Sendable {
  /// The whole key, such as `org.focusd.Edit.Undo`.
  let key: String
  /// The names that actions have for it in GTK and KDE, without their group (`win.`, `app.`), the best first.
  let actions: [String]
  /// Names that actions for it have, and those for something else too: its label must tell it as well.
  let ambiguousActions: [String]
  /// The labels that toolkits give it, untranslated, as `MenuLabel` compares them.
  let labels: [String]
  /// The keys that usually run it.
  let accelerators: [String]
  /// Whether an item that can be checked may be it.
  let mayBeChecked: Bool

  private init(
    _ key: String, actions: String, ambiguous: String = "", labels: String, accelerators: String = "",
    mayBeChecked: Bool = false
  ) {
    self.key = "org.focusd." + key
    self.actions = actions.split(separator: " ").map(String.init)
    ambiguousActions = ambiguous.split(separator: " ").map(String.init)
    self.labels = labels.split(separator: "|").map(String.init)
    self.accelerators = accelerators.split(separator: " ").map(String.init)
    self.mayBeChecked = mayBeChecked
  }

  /// The part of the key between `org.focusd.` and the last dot.
  var group: Substring { key.dropFirst("org.focusd.".count).prefix { $0 != "." } }

  /// The numbers in `all` of those that begin so after `org.focusd.`, such as `Edit.` or `Edit.Copy`.
  static func numbers(_ beginnings: String...) -> [Int] {
    all.indices.filter { number in
      beginnings.contains { all[number].key.dropFirst("org.focusd.".count).hasPrefix($0) }
    }
  }

  /// All of them.
  ///
  /// Delete and Trash are not among them: what they do differs too much, and cannot be undone everywhere.
  /// Names that mean something else in a known program are left out, such as `go-forward` (pages in Evince), or
  /// ambiguous: `file_new` opens a window in Dolphin, and `file_close` closes a tab there.
  static let all = [
    StandardCommand(
      "Edit.Undo", actions: "undo edit.undo edit-undo edit_undo", labels: "undo", accelerators: "Ctrl+Z"),
    StandardCommand(
      "Edit.Redo", actions: "redo edit.redo edit-redo edit_redo", labels: "redo", accelerators: "Ctrl+Shift+Z Ctrl+Y"),
    StandardCommand("Edit.Cut", actions: "cut edit.cut edit-cut edit_cut", labels: "cut", accelerators: "Ctrl+X"),
    StandardCommand("Edit.Copy", actions: "copy edit.copy edit-copy edit_copy", labels: "copy", accelerators: "Ctrl+C"),
    StandardCommand(
      "Edit.Paste", actions: "paste edit.paste edit-paste edit_paste", labels: "paste", accelerators: "Ctrl+V"),
    StandardCommand(
      "Edit.SelectAll", actions: "select-all edit.select-all edit-select-all edit_select_all", labels: "select all",
      accelerators: "Ctrl+A"),
    StandardCommand(
      "Edit.Find", actions: "find edit.find search.find edit-find edit_find", labels: "find", accelerators: "Ctrl+F",
      mayBeChecked: true),

    StandardCommand(
      "View.ZoomIn", actions: "zoom-in view.zoom-in view-zoom-in view_zoom_in", labels: "zoom in",
      accelerators: "Ctrl++ Ctrl+= Ctrl+Shift++"),
    StandardCommand(
      "View.ZoomOut", actions: "zoom-out view.zoom-out view-zoom-out view_zoom_out", labels: "zoom out",
      accelerators: "Ctrl+-"),
    StandardCommand(
      "View.ZoomReset",
      actions: "zoom-normal zoom-reset zoom-default zoom-original view.zoom-normal view_actual_size view_zoom_reset",
      labels: "normal size|actual size|reset zoom|zoom to 100%", accelerators: "Ctrl+0"),
    StandardCommand(
      "View.Fullscreen", actions: "fullscreen view.fullscreen toggle-fullscreen view-fullscreen",
      labels: "fullscreen|full screen|full screen mode", accelerators: "F11 Ctrl+Shift+F Ctrl+Shift+J",
      mayBeChecked: true),

    StandardCommand("Tab.New", actions: "new-tab new_tab file.new-tab", labels: "new tab", accelerators: "Ctrl+T"),
    StandardCommand(
      "Tab.Close", actions: "close-tab close_tab file.close-tab", ambiguous: "file_close", labels: "close tab",
      accelerators: "Ctrl+W"),
    StandardCommand(
      "Tab.Next", actions: "next-tab tab-next tab.next activate_next_tab", labels: "next tab",
      accelerators: "Ctrl+Tab Ctrl+PgDown"),
    StandardCommand(
      "Tab.Previous", actions: "previous-tab prev-tab tab-previous tab-prev tab.previous activate_prev_tab",
      labels: "previous tab", accelerators: "Ctrl+Shift+Tab Ctrl+PgUp"),

    StandardCommand("Navigation.Back", actions: "back go_back", labels: "back|go back", accelerators: "Alt+Left"),
    StandardCommand(
      "Navigation.Forward", actions: "forward go_forward", labels: "forward|go forward", accelerators: "Alt+Right"),
    StandardCommand(
      "Navigation.Reload", actions: "reload view_redisplay", labels: "reload|refresh", accelerators: "F5 Ctrl+R"),

    StandardCommand(
      "Application.Preferences", actions: "preferences edit.preferences edit-preferences options_configure",
      labels: "preferences"),
    StandardCommand(
      "Application.NewWindow", actions: "new-window file.new-window new_window", ambiguous: "file_new",
      labels: "new window",
      accelerators: "Ctrl+Shift+N Ctrl+N"),
    StandardCommand(
      "Application.Quit", actions: "quit file.quit file_quit", labels: "quit|exit", accelerators: "Ctrl+Q"),

    StandardCommand(
      "Document.New", actions: "new-document", ambiguous: "file_new", labels: "new",
      accelerators: "Ctrl+N"),
    StandardCommand(
      "Document.Open", actions: "open file.open file-open file_open", labels: "open", accelerators: "Ctrl+O"),
    StandardCommand(
      "Document.Save", actions: "save file.save file-save file_save", labels: "save", accelerators: "Ctrl+S"),
    StandardCommand(
      "Document.SaveAs", actions: "save-as file.save-as file-save-as file_save_as", labels: "save as",
      accelerators: "Ctrl+Shift+S"),
    StandardCommand(
      "Document.Print", actions: "print file.print file-print file_print", labels: "print", accelerators: "Ctrl+P"),
    StandardCommand(
      "Document.Close", actions: "file.close", ambiguous: "file_close", labels: "close", accelerators: "Ctrl+W"),
  ]

  /// The command of each action's name.
  static let byAction = index(all.map(\.actions))
  /// The command of each untranslated label.
  static let byLabel = index(all.map(\.labels))

  /// Labels of what is no standard command, and is in some languages called as one is: Quit as Eject, Zoom Out as Minimize.
  static let otherLabels: Set<String> = [
    "cancel", "discard", "eject", "finish", "lock", "maximize", "minimize", "next", "play", "previous", "properties",
    "record", "reset", "restore", "revert", "rewind", "stop", "unlock",
  ]

  private static func index(_ texts: [[String]]) -> [String: Int] {
    var index: [String: Int] = [:]
    for (number, texts) in texts.enumerated() {
      for text in texts { index[text] = number }
    }
    return index
  }
}
