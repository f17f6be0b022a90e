internal import DBusTypes

/// The commands of a menu *Edit*: ``FocusedValues/edit``.
public struct EditKeys: KeyGroup {
  static let interface = "org.focusd.Edit"
  var values: FocusedValues

  /// Undoes the last change: the command `org.focusd.Edit.Undo`.
  public var undo: FocusedCommand? {
    get { self["Undo"] }
    set { self["Undo"] = newValue }
  }

  /// Makes the change again that was undone last: the command `org.focusd.Edit.Redo`.
  public var redo: FocusedCommand? {
    get { self["Redo"] }
    set { self["Redo"] = newValue }
  }

  /// Moves the selection to the clipboard: the command `org.focusd.Edit.Cut`.
  public var cut: FocusedCommand? {
    get { self["Cut"] }
    set { self["Cut"] = newValue }
  }

  /// Copies the selection to the clipboard: the command `org.focusd.Edit.Copy`.
  public var copy: FocusedCommand? {
    get { self["Copy"] }
    set { self["Copy"] = newValue }
  }

  /// Inserts the content of the clipboard: the command `org.focusd.Edit.Paste`.
  public var paste: FocusedCommand? {
    get { self["Paste"] }
    set { self["Paste"] = newValue }
  }

  /// Selects everything: the command `org.focusd.Edit.SelectAll`.
  public var selectAll: FocusedCommand? {
    get { self["SelectAll"] }
    set { self["SelectAll"] = newValue }
  }

  /// Begins a search: the command `org.focusd.Edit.Find`.
  public var find: FocusedCommand? {
    get { self["Find"] }
    set { self["Find"] = newValue }
  }
}

/// The keys of the open document: ``FocusedValues/document``.
public struct DocumentKeys: KeyGroup {
  static let interface = "org.focusd.Document"
  var values: FocusedValues

  /// The open file's absolute path, for others to read: `org.focusd.Document.Path`, type `s`.
  public var path: String? {
    get { self["Path"] }
    set { self["Path"] = newValue }
  }

  /// Saves the document: the command `org.focusd.Document.Save`.
  public var save: FocusedCommand? {
    get { self["Save"] }
    set { self["Save"] = newValue }
  }

  /// Closes the document: the command `org.focusd.Document.Close`.
  public var close: FocusedCommand? {
    get { self["Close"] }
    set { self["Close"] = newValue }
  }
}

/// The keys of the focused shell: ``FocusedValues/shell``.
public struct ShellKeys: KeyGroup {
  static let interface = "org.focusd.Shell"
  var values: FocusedValues

  /// The line that is being edited: `org.focusd.Shell.Buffer`, type `s`.
  public var buffer: Binding<String>? {
    get { self["Buffer"] }
    set { self["Buffer"] = newValue }
  }

  /// The current directory, for others to read: `org.focusd.Shell.Directory`, type `s`.
  public var directory: String? {
    get { self["Directory"] }
    set { self["Directory"] = newValue }
  }

  /// Runs the line: the command `org.focusd.Shell.Accept`.
  public var accept: FocusedCommand? {
    get { self["Accept"] }
    set { self["Accept"] = newValue }
  }
}

/// The keys of the window in front: ``FocusedValues/window``.
public struct WindowKeys: KeyGroup {
  static let interface = "org.focusd.Window"
  var values: FocusedValues

  /// The window's title, for others to read: `org.focusd.Window.Title`, type `s`.
  public var title: String? {
    get { self["Title"] }
    set { self["Title"] = newValue }
  }

  /// The application's desktop file id, Wayland app id or X11 class: `org.focusd.Window.Application`, type `s`.
  public var application: String? {
    get { self["Application"] }
    set { self["Application"] = newValue }
  }

  /// The window's process, as the session sees it: `org.focusd.Window.ProcessId`, type `u`.
  public var processID: Int? {
    get { self["ProcessId", as: .uint32] }
    set { self["ProcessId", as: .uint32] = newValue }
  }

  /// The workspace that the window is on: `org.focusd.Window.Workspace`, type `s`.
  public var workspace: String? {
    get { self["Workspace"] }
    set { self["Workspace"] = newValue }
  }

  /// Closes the window: the command `org.focusd.Window.Close`.
  public var close: FocusedCommand? {
    get { self["Close"] }
    set { self["Close"] = newValue }
  }

  /// Makes the window fill the screen, or no longer: the command `org.focusd.Window.Fullscreen`.
  public var fullscreen: FocusedCommand? {
    get { self["Fullscreen"] }
    set { self["Fullscreen"] = newValue }
  }

  /// Makes the window float, or no longer: the command `org.focusd.Window.Float`.
  public var float: FocusedCommand? {
    get { self["Float"] }
    set { self["Float"] = newValue }
  }

  /// Minimizes the window: the command `org.focusd.Window.Minimize`.
  public var minimize: FocusedCommand? {
    get { self["Minimize"] }
    set { self["Minimize"] = newValue }
  }
}
