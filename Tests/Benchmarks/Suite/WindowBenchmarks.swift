internal import DBus
internal import DBusTypes
internal import EventLoop
internal import Foundation
internal import TestSupport

/// The window bridge on an X server with openbox and two terminals.
///
/// A switch is asked for through the daemon, which asks the bridge, which asks the window manager: so the time has two more
/// hops than that of a switch by a key.
func measureWindows(_ context: Group.Context, _ report: inout Report) async throws {
  for program in [
    "/usr/bin/Xvfb", "/usr/bin/openbox", "/usr/bin/xterm", "/usr/bin/xdotool", context.programs + "/focusd-windows",
  ]
  where access(program, X_OK) != 0 {
    throw NotMeasured(description: "\(program) is missing")
  }
  try await PrivateBus.with { bus in
    let session = try await Session(bus, context.programs)
    var started: [ManagedProcess] = []
    func start(_ arguments: [String], _ environment: [String: String] = [:]) async throws -> ManagedProcess {
      let process = try await bus.start(arguments, extra: environment)
      started.append(process)
      return process
    }
    let server = try await start(["/usr/bin/Xvfb", "-displayfd", "1", "-nolisten", "tcp", "-noreset"])
    let display = ["DISPLAY": ":" + (try await server.line("display number"))]
    _ = try await start(["/usr/bin/openbox", "--sm-disable"], display)
    // It overlooks windows that come while it starts.
    try await eventually("openbox") {
      try await bus.start(["/usr/bin/xdotool", "get_num_desktops"], extra: display).result().succeeded
    }
    let bridge = try await start([context.programs + "/focusd-windows"], display)
    for title in ["one", "two"] {
      _ = try await start(["/usr/bin/xterm", "-T", title, "-e", "sleep", "1000"], display)
    }
    var windows: [String] = []
    try await eventually("two windows") {
      let list = try await bus.start([context.programs + "/focusctl", "list"]).result()
      windows = list.output.compactMap { $0.split(separator: " ").first.map(String.init) }
      return windows.count == 2
    }
    let switches = try Switches(bus.address, windows)
    Report.printHead("window switch", "ms")
    for mode in Mode.allCases {
      session.place(mode)
      let samples = try switches.time(context.count(500))
      report.add("window switch", "Field.Focus to Title told", mode, samples)
      if mode == .free { report.add(.windows, "Field.Focus to Title told", samples.median, "ms", .atMost(8)) }
    }
    // The last switch is still being handled.
    try await Task.sleep(for: .seconds(1))
    let before = bridge.processorTime
    try await Task.sleep(for: .seconds(context.isQuick ? 2 : 20))
    let used = bridge.processorTime - before
    report.add(.windows, "processor time at rest", Double(used.components.attoseconds) / 1e15, "ms", .atMost(0))
    let memory = Memory(of: bridge.processID)
    report.add(.windows, "private memory: written to", memory.written / 1024, "MiB")
    report.add(.windows, "with shared pages: all that is resident", memory.resident / 1024, "MiB")
    for process in started.reversed() {
      process.terminate()
      try await process.finish()
    }
    try await session.end()
  }
}

/// Switches between two windows, and waits until the title of the one in front is told.
private final class Switches {
  private let connection: Connection
  private let loop = EventLoop()
  private let windows: [String]
  private var told = 0

  init(_ address: String, _ windows: [String]) throws {
    connection = try Connection(to: .address(address))
    self.windows = windows
    try connection.addMatch(
      MatchRule(
        path: ObjectPath("/org/focusd/Focus1/focused"), interface: .properties, arguments: [0: "org.focusd.Window"]))
    connection.attach(to: loop)
    connection.onMessage = { [weak self] in if $0.kind == .signal { self?.told += 1 } }
  }

  /// Times `count` switches, in milliseconds.
  func time(_ count: Int) throws -> Samples {
    var samples = Samples()
    for round in 0..<count + 10 {
      let call = try OutgoingMessage.methodCall(
        to: BusName("org.focusd.Focus1"), path: ObjectPath("/org/focusd/Focus1/field/" + windows[round % 2]),
        interface: InterfaceName("org.focusd.Focus1.Field"), member: MemberName("Focus"))
      let (before, start) = (told, ContinuousClock.now)
      var end: ContinuousClock.Instant?
      var isAnswered = false
      try connection.call(call) { _ in isAnswered = true }
      try loop.turn(until: "the switch") {
        if told > before, end == nil { end = .now }
        // The first may be in front, and then nothing is told.
        return isAnswered && (end != nil || round == 0)
      }
      let taken = (end ?? .now) - start
      if round >= 10 { samples.add(Double(taken.components.attoseconds) / 1e15) }
    }
    return samples
  }
}
