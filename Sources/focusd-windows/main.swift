internal import DBus
internal import EventLoop
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
    --source NAME         sway, hyprland, niri, wayland, gnome, kwin, x11 or i3
                          (default: the first that answers)
    --address ADDRESS     the bus of focusd (default: the session bus)
    --verbose             log each step to standard error, but never a title
    -h, --help            print this and exit
    --version             print the version and exit

  As a service of systemd it waits for a desktop, and follows the next one when
  that ends. Started by hand it follows the desktop that the environment names.

  Exit status: 0 terminated on request; 1 the window manager cannot be reached,
  or the environment names no bus; 2 usage error; 3 this desktop does not tell, or
  the environment names no display and no socket.

  """

private let options = ProgramOptions([
  .init("ignore", argument: "an application's identifier"),
  .init("source", argument: "sway, hyprland, niri, wayland, gnome, kwin, x11 or i3"),
  .init("address", argument: "the address of a bus"), .init("verbose"),
])

// KWin shows windows to programs whose path it may read. Beside what the daemon tells everybody, this one holds the titles of
// the windows that are left out.
ServiceProgram.main("focusd-windows", help: help, version: Version.current, options, holdsSecrets: false) { program in
  let settings = program.settings(.windows)
  let name = options.arguments(of: "source").last ?? settings.value(.source)
  if let name, !Session.names.contains(name) {
    program.fail("'--source' is one of \(Session.names.joined(separator: ", ")), not '\(name)'", status: 2)
    return WindowBridge?.none
  }
  guard case .address(let address) = try ServiceProgram.bus(options) else { return nil }
  let readiness = Readiness(program.manager)
  func start(_ source: any WindowSource) throws -> WindowBridge {
    let bridge = WindowBridge(
      source, ignoring: options.arguments(of: "ignore") + settings.names(.ignore), on: program.loop, log: program.log)
    program.onReload = { [weak program, weak bridge] in
      guard let program else { return }
      bridge?.ignore(options.arguments(of: "ignore") + program.settings(.windows).names(.ignore))
    }
    bridge.onFailure = { [weak program] in program?.fail($0) }
    bridge.onReady = { readiness.isReady = true }
    bridge.onWaiting = { readiness.isWaiting() }
    program.onEnd = { [weak source] in source?.stop() }
    try bridge.start(on: .address(address))
    return bridge
  }
  // A service waits for a desktop, and follows the next one when that ends.
  guard !program.manager.isPresent else {
    let follower = SessionFollower(
      name, bus: address, directory: Environment.value("XDG_RUNTIME_DIR"), variable: Environment.value,
      on: program.loop, log: program.log)
    follower.onStatus = { readiness.status = $0 }
    return try start(follower)
  }
  let sessions: [Session]
  do throws(Session.Unsupported) {
    let gnome = GNOMESource.isPresent(on: address) ? address : nil
    sessions = try Session.candidates(name, in: Environment.value, gnome: gnome)
  } catch {
    program.fail("\(error)", status: 3)
    return nil
  }
  let source = SourceList(sessions, on: program.loop, log: program.log)
  source.onChoice = { readiness.status = "Following \($0.name)" }
  let bridge = try start(source)
  bridge.onFailure = { [weak program, weak source] in program?.fail($0, status: source?.isRefused == true ? 3 : 1) }
  return bridge
}

/// What the service manager is told.
private final class Readiness {
  private let manager: ServiceManager
  /// Whether the bridge serves.
  var isReady = false { didSet { if isReady { manager.notify("READY=1\nSTATUS=\(status)") } } }
  /// What the bridge follows, or waits for.
  var status = "" { didSet { if isReady { manager.notify("STATUS=\(status)") } } }

  init(_ manager: ServiceManager) { self.manager = manager }

  /// Another bridge serves until it ends.
  func isWaiting() { manager.notify("READY=1\nSTATUS=Waiting for another window bridge to end") }
}
