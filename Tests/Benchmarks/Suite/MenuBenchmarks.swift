internal import DBus
internal import DBusTypes
internal import EventLoop
internal import Glibc
internal import TestSupport

/// The menu bridge with mousepad, which is GTK 3, before an X server of its own.
///
/// A command is timed from the start of `focusctl run` until the program says on the accessibility bus that its text has
/// changed.
func measureMenus(_ context: Group.Context, _ report: inout Report) async throws {
  for program in [
    "/usr/bin/Xvfb", "/usr/bin/openbox", "/usr/bin/xdotool", "/usr/bin/mousepad", EditorDesktop.launcher,
    context.programs + "/focusd-windows", context.programs + "/focusd-menus",
  ]
  where access(program, X_OK) != 0 {
    throw NotMeasured(description: "\(program) is missing")
  }
  try await context.withSession { session in
    let desktop = try await EditorDesktop(session)
    do {
      try await desktop.measure(context, &report)
      try await desktop.end()
    } catch {
      try await desktop.end()
      throw error
    }
  }
}

/// An X server with openbox, the two bridges, and editors.
private final class EditorDesktop {
  private static let letter = "x"
  static let launcher = "/usr/libexec/at-spi-bus-launcher"

  private let session: Session
  private let accessibility: Connection
  private let loop = EventLoop()
  private let environment: [String: String]
  private let keyboard: ManagedProcess
  private let bridge: ManagedProcess
  private var processes: [ManagedProcess]
  /// How often the letter has come into a text, or left it, as programs tell.
  private var changes = 0

  init(_ session: Session) async throws {
    self.session = session
    let server = try await session.bus.start(
      ["/usr/bin/Xvfb", "-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset"])
    environment = [
      "DISPLAY": ":" + (try await server.line("display number")), "GDK_BACKEND": "x11", "GSETTINGS_BACKEND": "memory",
      "GTK_USE_PORTAL": "0", "LANG": "de_DE.UTF-8", "NO_AT_BRIDGE": "0",
    ]
    let launcher = try await session.bus.start(
      ["/bin/sh", "-c", "exec \(Self.launcher) >/dev/null 2>&1"], extra: environment)
    let connection = try Connection(to: .address(session.bus.address))
    while try connection.owner(of: BusName("org.a11y.Bus")) == nil { usleep(5_000) }
    let reply = try connection.call(
      .methodCall(
        to: BusName("org.a11y.Bus"), path: ObjectPath("/org/a11y/bus"), interface: InterfaceName("org.a11y.Bus"),
        member: MemberName("GetAddress")))
    accessibility = try Connection(to: .address(try reply.arguments().first?.basicText ?? ""))
    let manager = try await session.bus.start(["/usr/bin/openbox", "--sm-disable"], extra: environment)
    let environment = environment
    try await eventually("openbox") {
      try await session.bus.start(["/usr/bin/xdotool", "get_num_desktops"], extra: environment).result().succeeded
    }
    let windows = try await session.bus.start([session.programs + "/focusd-windows"], extra: environment)
    bridge = try await session.bus.start([session.programs + "/focusd-menus"])
    _ = try await bridge.progress.wait(for: "the bridge") { $0.errors.first { $0.contains("serving") } }
    keyboard = try await session.bus.start(["/usr/bin/xdotool", "-"], extra: environment)
    processes = [keyboard, bridge, windows, manager, launcher, server]
    try followTexts()
  }

  private func followTexts() throws {
    _ = try accessibility.call(
      .methodCall(
        to: BusName("org.a11y.atspi.Registry"), path: ObjectPath("/org/a11y/atspi/registry"),
        interface: InterfaceName("org.a11y.atspi.Registry"), member: MemberName("RegisterEvent"),
        [.string("object:text-changed"), .strings([]), .string("")]))
    try accessibility.addMatch(
      MatchRule(interface: InterfaceName("org.a11y.atspi.Event.Object"), member: MemberName("TextChanged")))
    accessibility.attach(to: loop)
    accessibility.onMessage = { [weak self] message in
      // The status bar's text changes as well.
      guard message.kind == .signal, message.member?.text == "TextChanged", let values = try? message.arguments(),
        values.count > 3, values[3].variantContent == .string(Self.letter)
      else { return }
      self?.changes += 1
    }
  }

  /// Ends everything; what the launcher has started ends with its bus.
  func end() async throws {
    if let process = try? accessibility.processID(of: .bus) { kill(Int32(process), SIGTERM) }
    for process in processes { try await process.stop() }
  }

  /// Starts an editor, and waits until its commands are known.
  private func open(_ name: String) async throws {
    let file = session.bus.directory + "/\(name).txt"
    processes.insert(
      try await session.bus.start(["/usr/bin/mousepad", "--opening-mode=window", file], extra: environment), at: 0)
    // Not by the one that types, which would then send its keys to that window alone.
    let activated = try await session.bus.start(
      ["/usr/bin/xdotool", "search", "--sync", "--onlyvisible", "--name", name, "windowactivate", "--sync"],
      extra: environment
    ).result()
    guard activated.succeeded else { throw NotMeasured(description: "xdotool: \(activated)") }
    let session = Shell(session)
    try await eventually("the commands of \(name)") {
      guard try await session.said("get", "Window.Title").contains(name) else { return false }
      return try await session.said("commands").contains("org.focusd.Edit.Undo")
    }
  }

  func measure(_ context: Group.Context, _ report: inout Report) async throws {
    Report.printHead("the menu bridge", "ms")
    report.add(.menus, "private memory, idle: written to", written, "MiB")
    try await open("editor0")
    try await measureUndo(context.count(300, quick: 40), &report)
    for number in 1..<10 { try await open("editor\(number)") }
    report.add(.menus, "private memory, ten windows: written to", written, "MiB", .atMost(2))
    // All that is in a menu is read when it is asked for, and forgotten.
    for _ in 0..<10 { _ = try await Shell(session).said("menu") }
    report.add(.menus, "private memory, all items read: written to", written, "MiB", .atMost(2))
    // What the bridge asks at a first sight has been answered.
    for _ in 0..<400 { usleep(5_000) }
    let before = bridge.processorTime
    for _ in 0..<400 { usleep(5_000) }
    report.add(
      .menus, "processor time of two idle seconds", (bridge.processorTime - before) / .seconds(1), "s", .atMost(0))
  }

  private var written: Double { Memory(of: bridge.processID).written / 1024 }

  /// Types a letter and takes it back, again and again.
  private func measureUndo(_ count: Int, _ report: inout Report) async throws {
    var samples = Samples()
    let caller = Shell(session)
    for round in 0..<count + 5 {
      let typed = changes
      keyboard.send(line: "key --delay 0 " + Self.letter)
      try loop.turn(until: "a letter") { changes > typed }
      try await eventually("Undo") { try await caller.said("commands").contains(/Edit\.Undo +enabled/) }
      let (before, start) = (changes, ContinuousClock.now)
      let run = try await session.bus.start([session.programs + "/focusctl", "run", "Edit.Undo"])
      try loop.turn(until: "the change") { changes > before }
      if round >= 5 { samples.add((ContinuousClock.now - start) / .milliseconds(1)) }
      let result = try await run.result()
      guard result.succeeded else { throw NotMeasured(description: "focusctl run Edit.Undo: \(result)") }
    }
    report.add("menus", "run Edit.Undo to text changed", .free, samples)
    report.add(.menus, "focusctl run Edit.Undo to text changed", samples.median, "ms", .atMost(15))
  }
}

/// Runs `focusctl`.
private struct Shell: Sendable {
  private let bus: PrivateBus
  private let programs: String

  init(_ session: Session) { (bus, programs) = (session.bus, session.programs) }

  /// What it prints.
  func said(_ arguments: String...) async throws -> String {
    try await bus.start([programs + "/focusctl"] + arguments).result().output.joined(separator: "\n")
  }
}
