internal import DBus
internal import EventLoop
internal import FocusClient
internal import FocusContract
internal import ProgramSupport
internal import WindowBridge

private let help = """
  focusd-windows: tells focusd which window is in front, as
  org.focusd.Bridge1.Windows

  Usage: focusd-windows [--ignore APPLICATION]... [--source NAME] [--verbose]
                        [--address ADDRESS]

  Each window is a field with the keys org.focusd.Window.Title, Application,
  ProcessId and Workspace, and the commands that the window manager has. Every
  program that may talk to focusd can read the titles of all windows.

    --ignore APPLICATION  leave out the windows of a launcher or a bar; the
                          window before stays in front
    --source NAME         x11, sway, i3, hyprland, niri, wayland or kwin (default:
                          the first that the environment names and that answers)
    --address ADDRESS     the bus of focusd (default: the session bus)
    --verbose             log each step to standard error, but never a title
    -h, --help            print this and exit
    --version             print the version and exit

  Exit status: 0 terminated on request; 1 the window manager cannot be reached,
  or the name is already owned; 2 usage error; 3 this desktop does not tell, or
  the environment names no display and no socket.

  """

private let options = ProgramOptions([
  .init("ignore", argument: "an application's identifier"),
  .init("source", argument: "x11, sway, i3, hyprland, niri, wayland or kwin"),
  .init("address", argument: "the address of a bus"), .init("verbose"),
])

ServiceProgram.main("focusd-windows", help: help, version: Version.current, options) { program in
  let name = options.arguments(of: "source").last
  if let name, !Session.names.contains(name) {
    program.fail("'--source' is one of \(Session.names.joined(separator: ", ")), not '\(name)'", status: 2)
    return WindowBridge?.none
  }
  let sessions: [Session]
  do throws(Session.Unsupported) {
    sessions = try Session.candidates(name, in: Environment.value)
  } catch {
    program.fail("\(error)", status: 3)
    return WindowBridge?.none
  }
  guard let bus = options.arguments(of: "address").last.map({ .address($0) }) ?? DaemonConnection.sessionBus else {
    program.fail("no session bus: neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set")
    return nil
  }
  let source = SourceList(sessions, on: program.loop, log: program.log)
  let bridge = WindowBridge(
    source, ignoring: options.arguments(of: "ignore"), on: program.loop, log: program.log)
  var state = "Waiting for focusd"
  source.onChoice = { [manager = program.manager] session in
    state = "Following \(session.name)"
    manager.notify("STATUS=\(state)")
  }
  bridge.onFailure = { [weak program, weak source] in program?.fail($0, status: source?.isRefused == true ? 3 : 1) }
  bridge.onReady = { [manager = program.manager] in manager.notify("READY=1\nSTATUS=\(state)") }
  bridge.onWaiting = { [manager = program.manager] in
    manager.notify("READY=1\nSTATUS=Waiting for another window bridge to end")
  }
  try bridge.start(on: bus)
  return bridge
}
