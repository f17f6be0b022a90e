internal import DBusTypes

/// The commands of a menu *Edit*: ``FocusedValues/edit``.
public struct EditKeys: Sendable {
  /// Undoes the last change: the command `org.focusd.Edit.Undo`.
  public let undo = SharedKey<FocusedCommand>("org.focusd.Edit.Undo")
  /// Makes the change again that was undone last: the command `org.focusd.Edit.Redo`.
  public let redo = SharedKey<FocusedCommand>("org.focusd.Edit.Redo")
  /// Moves the selection to the clipboard: the command `org.focusd.Edit.Cut`.
  public let cut = SharedKey<FocusedCommand>("org.focusd.Edit.Cut")
  /// Copies the selection to the clipboard: the command `org.focusd.Edit.Copy`.
  public let copy = SharedKey<FocusedCommand>("org.focusd.Edit.Copy")
  /// Inserts the content of the clipboard: the command `org.focusd.Edit.Paste`.
  public let paste = SharedKey<FocusedCommand>("org.focusd.Edit.Paste")
  /// Selects everything: the command `org.focusd.Edit.SelectAll`.
  public let selectAll = SharedKey<FocusedCommand>("org.focusd.Edit.SelectAll")
  /// Begins a search: the command `org.focusd.Edit.Find`.
  public let find = SharedKey<FocusedCommand>("org.focusd.Edit.Find")
}

/// The keys of the open document: ``FocusedValues/document``.
public struct DocumentKeys: Sendable {
  /// The open file's absolute path, for others to read: `org.focusd.Document.Path`, type `s`.
  public let path = SharedKey<String>("org.focusd.Document.Path")
  /// Saves the document: the command `org.focusd.Document.Save`.
  public let save = SharedKey<FocusedCommand>("org.focusd.Document.Save")
  /// Closes the document: the command `org.focusd.Document.Close`.
  public let close = SharedKey<FocusedCommand>("org.focusd.Document.Close")
}

/// The keys of the focused shell: ``FocusedValues/shell``.
public struct ShellKeys: Sendable {
  /// The line that is being edited: `org.focusd.Shell.Buffer`, type `s`.
  public let buffer = SharedKey<Binding<String>>("org.focusd.Shell.Buffer")
  /// The current directory, for others to read: `org.focusd.Shell.Directory`, type `s`.
  public let directory = SharedKey<String>("org.focusd.Shell.Directory")
  /// Runs the line: the command `org.focusd.Shell.Accept`.
  public let accept = SharedKey<FocusedCommand>("org.focusd.Shell.Accept")
}

/// The keys of the window in front: ``FocusedValues/window``.
public struct WindowKeys: Sendable {
  /// The window's title, for others to read: `org.focusd.Window.Title`, type `s`.
  public let title = SharedKey<String>("org.focusd.Window.Title")
  /// The application's desktop file id, Wayland app id or X11 class: `org.focusd.Window.Application`, type `s`.
  public let application = SharedKey<String>("org.focusd.Window.Application")
  /// The window's process, as the session sees it: `org.focusd.Window.ProcessId`, type `u`.
  public let processID = SharedKey<Int>("org.focusd.Window.ProcessId", as: .uint32)
  /// The workspace that the window is on: `org.focusd.Window.Workspace`, type `s`.
  public let workspace = SharedKey<String>("org.focusd.Window.Workspace")
  /// Closes the window: the command `org.focusd.Window.Close`.
  public let close = SharedKey<FocusedCommand>("org.focusd.Window.Close")
  /// Makes the window fill the screen, or no longer: the command `org.focusd.Window.Fullscreen`.
  public let fullscreen = SharedKey<FocusedCommand>("org.focusd.Window.Fullscreen")
  /// Makes the window float, or no longer: the command `org.focusd.Window.Float`.
  public let float = SharedKey<FocusedCommand>("org.focusd.Window.Float")
  /// Minimizes the window: the command `org.focusd.Window.Minimize`.
  public let minimize = SharedKey<FocusedCommand>("org.focusd.Window.Minimize")
}
