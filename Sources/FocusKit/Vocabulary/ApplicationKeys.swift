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
  /// The address of the page that is shown, for others to read: `org.focusd.Document.Url`, type `s`.
  public let url = SharedKey<String>("org.focusd.Document.Url")
  /// The title of the page that is shown, for others to read: `org.focusd.Document.Title`, type `s`.
  public let title = SharedKey<String>("org.focusd.Document.Title")
  /// Begins a document: the command `org.focusd.Document.New`.
  public let new = SharedKey<FocusedCommand>("org.focusd.Document.New")
  /// Asks for a document and opens it: the command `org.focusd.Document.Open`.
  public let open = SharedKey<FocusedCommand>("org.focusd.Document.Open")
  /// Saves the document: the command `org.focusd.Document.Save`.
  public let save = SharedKey<FocusedCommand>("org.focusd.Document.Save")
  /// Asks for a name and saves the document there: the command `org.focusd.Document.SaveAs`.
  public let saveAs = SharedKey<FocusedCommand>("org.focusd.Document.SaveAs")
  /// Prints the document, or asks how: the command `org.focusd.Document.Print`.
  public let print = SharedKey<FocusedCommand>("org.focusd.Document.Print")
  /// Closes the document: the command `org.focusd.Document.Close`.
  public let close = SharedKey<FocusedCommand>("org.focusd.Document.Close")
}

/// The commands of a menu *View*: ``FocusedValues/view``.
public struct ViewKeys: Sendable {
  /// Shows everything larger: the command `org.focusd.View.ZoomIn`.
  public let zoomIn = SharedKey<FocusedCommand>("org.focusd.View.ZoomIn")
  /// Shows everything smaller: the command `org.focusd.View.ZoomOut`.
  public let zoomOut = SharedKey<FocusedCommand>("org.focusd.View.ZoomOut")
  /// Shows everything in its usual size: the command `org.focusd.View.ZoomReset`.
  public let zoomReset = SharedKey<FocusedCommand>("org.focusd.View.ZoomReset")
  /// Fills the screen, or no longer, as the program does it: the command `org.focusd.View.Fullscreen`.
  public let fullscreen = SharedKey<FocusedCommand>("org.focusd.View.Fullscreen")
}

/// The commands of a program's tabs: ``FocusedValues/tab``.
public struct TabKeys: Sendable {
  /// Opens a tab: the command `org.focusd.Tab.New`.
  public let new = SharedKey<FocusedCommand>("org.focusd.Tab.New")
  /// Closes the tab in front: the command `org.focusd.Tab.Close`.
  public let close = SharedKey<FocusedCommand>("org.focusd.Tab.Close")
  /// Shows the next tab: the command `org.focusd.Tab.Next`.
  public let next = SharedKey<FocusedCommand>("org.focusd.Tab.Next")
  /// Shows the previous tab: the command `org.focusd.Tab.Previous`.
  public let previous = SharedKey<FocusedCommand>("org.focusd.Tab.Previous")
}

/// The commands of a browser or a file manager: ``FocusedValues/navigation``.
public struct NavigationKeys: Sendable {
  /// Goes to the page before: the command `org.focusd.Navigation.Back`.
  public let back = SharedKey<FocusedCommand>("org.focusd.Navigation.Back")
  /// Goes to the page from which ``back`` came: the command `org.focusd.Navigation.Forward`.
  public let forward = SharedKey<FocusedCommand>("org.focusd.Navigation.Forward")
  /// Loads the page again: the command `org.focusd.Navigation.Reload`.
  public let reload = SharedKey<FocusedCommand>("org.focusd.Navigation.Reload")
}

/// The commands of the program in front: ``FocusedValues/application``.
public struct ApplicationKeys: Sendable {
  /// Shows the program's settings: the command `org.focusd.Application.Preferences`.
  public let preferences = SharedKey<FocusedCommand>("org.focusd.Application.Preferences")
  /// Opens a window: the command `org.focusd.Application.NewWindow`.
  public let newWindow = SharedKey<FocusedCommand>("org.focusd.Application.NewWindow")
  /// Ends the program: the command `org.focusd.Application.Quit`.
  public let quit = SharedKey<FocusedCommand>("org.focusd.Application.Quit")
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
