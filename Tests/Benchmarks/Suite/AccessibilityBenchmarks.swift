internal import DBus
internal import DBusTypes
internal import Glibc
internal import TestSupport

/// The accessibility bridge with a form of GTK 3 before an X server of its own.
///
/// Times are from the key that `xdotool` is told to press until `focusctl watch` prints the line, and so include both.
func measureAccessibility(_ context: Group.Context, _ report: inout Report) async throws {
  try await context.withSession { session in
    let form = try await AccessibleForm(session)
    do {
      try await form.measure(context, &report)
      try await form.end()
    } catch {
      try await form.end()
      throw error
    }
  }
}

/// A form with an entry, a number, a check box, a password and a slider, and what shows it.
private final class AccessibleForm {
  private static let launcher = "/usr/libexec/at-spi-bus-launcher"

  private let session: Session
  private let connection: Connection
  private let environment: [String: String]
  private let bridge: ManagedProcess
  private let keyboard: ManagedProcess
  private let focus: ManagedProcess
  private let text: ManagedProcess
  private var processes: [ManagedProcess]

  init(_ session: Session) async throws {
    self.session = session
    connection = try Connection(to: .address(session.bus.address))
    let server = try await session.bus.start(
      ["/usr/bin/Xvfb", "-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset"])
    let environment = [
      "DISPLAY": ":" + (try await server.line("display number")), "GSETTINGS_BACKEND": "memory", "GTK_USE_PORTAL": "0",
    ]
    self.environment = environment
    let launcher = try await session.bus.start(
      ["/bin/sh", "-c", "exec \(Self.launcher) >/dev/null 2>&1"], extra: environment)
    while try connection.owner(of: BusName("org.a11y.Bus")) == nil { usleep(5_000) }
    bridge = try await session.bus.start([session.programs + "/focusd-accessibility"])
    _ = try await bridge.progress.wait(for: "the bridge") { $0.errors.first { $0.contains("serving") } }
    let form = try await session.bus.start(
      [
        "/usr/bin/yad", "--title=Form", "--form", "--field=Name", "abc", "--field=Number:NUM", "5",
        "--field=Check:CHK", "TRUE", "--field=Password:H", "secret", "--field=Scale:SCL", "30", "--button=OK:0",
      ], extra: environment)
    keyboard = try await session.bus.start(["/usr/bin/xdotool", "-"], extra: environment)
    keyboard.send(line: "search --sync --onlyvisible --name ^Form$ windowfocus")
    focus = try await session.bus.start([session.programs + "/focusctl", "watch", "org.focusd.Element.Role"])
    text = try await session.bus.start([session.programs + "/focusctl", "watch", "org.focusd.Text.Content"])
    processes = [form, keyboard, focus, text, bridge, launcher, server]
    _ = try await focus.line("the entry") { $0.contains("textbox") }
  }

  /// Ends everything; what the launcher has started ends with its bus.
  func end() async throws {
    if let address = try? address(), let bus = try? Connection(to: .address(address)),
      let process = try? bus.processID(of: .bus)
    {
      kill(Int32(process), SIGTERM)
    }
    for process in processes { try await process.stop() }
  }

  private func address() throws -> String? {
    let reply = try connection.call(
      .methodCall(
        to: BusName("org.a11y.Bus"), path: ObjectPath("/org/a11y/bus"), interface: InterfaceName("org.a11y.Bus"),
        member: MemberName("GetAddress")))
    return try reply.arguments().first?.basicText
  }

  func measure(_ context: Group.Context, _ report: inout Report) async throws {
    Report.printHead("the accessibility bridge", "ms")
    try measureCalls(context, &report)
    try await measureKeys(
      "typing to watch", "key --delay 0 a", text, context.count(200, quick: 30), .atMost(45), &report)
    try await measureKeys(
      "Tab to watch", "key --delay 0 Tab", focus, context.count(300, quick: 60), .atMost(10), &report)
    let before = bridge.processorTime
    keyboard.send(line: "key --delay 2 " + Array(repeating: "Tab", count: 1500).joined(separator: " "))
    var seen = -1
    // Until nothing comes for half a second.
    while focus.progress.now.output.count != seen {
      seen = focus.progress.now.output.count
      for _ in 0..<100 { usleep(5_000) }
    }
    report.add(
      .accessibility, "processor time for 1,500 Tabs", seconds(bridge.processorTime - before), "s", .atMost(0.3))
    report.add(
      .accessibility, "private: written to", Memory(of: bridge.processID).written / 1024, "MiB", .atMost(4))
    let idle = bridge.processorTime
    for _ in 0..<400 { usleep(5_000) }
    report.add(
      .accessibility, "processor time of two idle seconds", seconds(bridge.processorTime - idle), "s", .atMost(0))
  }

  private func seconds(_ duration: Duration) -> Double { duration / .seconds(1) }

  private func measureCalls(_ context: Group.Context, _ report: inout Report) throws {
    var (gets, sets) = (Samples(), Samples())
    let key: [DBusValue] = [.string("org.focusd.Text"), .string("Content")]
    for index in 0..<context.count(1_000) {
      gets.add(try time("Get", key))
      if index % 4 == 0 { sets.add(try time("Set", key + [.variant(.string("text \(index)"))])) }
    }
    report.add("accessibility", "Get", .free, gets)
    report.add("accessibility", "Set with read-back", .free, sets)
    report.add(.accessibility, "Get through the daemon", gets.median, "ms", .atMost(0.5))
    report.add(.accessibility, "Set with read-back", sets.median, "ms", .atMost(8))
  }

  /// The milliseconds of one call of what has focus.
  private func time(_ member: String, _ arguments: [DBusValue]) throws -> Double {
    let call = try OutgoingMessage.methodCall(
      to: BusName("org.focusd.Focus1"), path: ObjectPath("/org/focusd/Focus1/focused"),
      interface: InterfaceName("org.freedesktop.DBus.Properties"), member: MemberName(member), arguments)
    let began = ContinuousClock.now
    _ = try connection.call(call)
    return (ContinuousClock.now - began) / .milliseconds(1)
  }

  private func measureKeys(
    _ name: String, _ command: String, _ watch: ManagedProcess, _ count: Int, _ limit: Limit, _ report: inout Report
  ) async throws {
    var samples = Samples()
    for _ in 0..<count {
      let seen = watch.progress.now.output.count
      let began = ContinuousClock.now
      keyboard.send(line: command)
      _ = try await watch.progress.wait(for: "a line") { $0.output.count > seen ? true : nil }
      samples.add((ContinuousClock.now - began) / .milliseconds(1))
    }
    report.add("accessibility", name, .free, samples)
    report.add(.accessibility, name, samples.median, "ms", limit)
  }
}
