import BusSupport
import DBusTypes
import TestSupport
import Testing

/// What stock programs and the bridge send on both buses: all messages count, those of the daemon and the programs too.
@Suite struct TrafficTests {
  @Test(arguments: TextTests.Kit.here) func eachStepCostsFewMessages(_ kit: TextTests.Kit) async throws {
    try await RealDesktop.with { desktop in
      let first = try await desktop.script("entries", kit.rawValue, "First", title: "First")
      try await desktop.waits(for: "Text.Content", .string("entry 0"))
      try await desktop.session.subscribe()
      // The first field of a program has it tell its events, once.
      try await desktop.xdotool("key", "Tab")
      try await desktop.tells("entry 1")
      let traffic = try await Traffic(desktop)

      let seen = try await traffic.expect("a new element", atMost: 40, 14, within: 18) { number in
        try await desktop.xdotool("key", "Tab")
        try await desktop.tells("entry \(number + 2)")
      }
      let (here, back) = ("entry \(seen + 1)", "entry \(seen)")
      let turns = try await traffic.expect("a kept element", atMost: 25, 7) { number in
        try await desktop.xdotool("key", number % 2 == 0 ? "shift+Tab" : "Tab")
        try await desktop.tells(number % 2 == 0 ? back : here)
      }
      let text = turns % 2 == 0 ? here : back
      let end = DBusValue.int32(Int32(text.count))
      try await desktop.xdotool("key", "End")
      try await desktop.waits(for: "Text.Selection", .structure([end, end]))
      let typed = try await traffic.expect("a key", atMost: 16, 3) { number in
        try await desktop.xdotool("type", "x")
        try await desktop.tells(text + String(repeating: "x", count: number + 1))
      }
      let second = try await desktop.script("entries", kit.rawValue, "Second", title: "Second")
      try await desktop.waits(for: "Text.Content", .string("entry 0"))
      try await traffic.waitsForDeactivations(1)
      try await traffic.expect("another program", atMost: 30, .max) { number in
        let title = number % 2 == 0 ? "^First$" : "^Second$"
        try await desktop.xdotool("search", "--onlyvisible", "--name", title, "windowfocus")
        try await desktop.tells(number % 2 == 0 ? text + String(repeating: "x", count: typed) : "entry 0")
        // Qt tells it a tenth of a second later, and nothing at all if the window is back by then.
        try await traffic.waitsForDeactivations(number + 2)
      }
      for program in [first, second] { try await program.stop() }
    }
  }
}

extension RealDesktop {
  /// Waits until the last text that was told is `text`.
  fileprivate func tells(_ text: String) async throws {
    try await session.signals("'\(text)'") { signals in
      signals.values(of: "org.focusd.Text.Content").last == .string(text) ? true : nil
    }
  }
}

/// Counts the messages on both buses.
private struct Traffic {
  private let monitors: [ManagedProcess]
  private let probes: [Peer]

  init(_ desktop: RealDesktop) async throws {
    let addresses = [desktop.launcher.address, desktop.desktop.bus.address]
    var (monitors, probes): ([ManagedProcess], [Peer]) = ([], [])
    for address in addresses {
      let monitor = try await desktop.desktop.start(["/usr/bin/dbus-monitor", "--address", address])
      try await monitor.line("monitor")
      monitors.append(monitor)
      probes.append(try await Peer(to: address))
    }
    (self.monitors, self.probes) = (monitors, probes)
  }

  /// Takes a step until one costs no more messages than these on the accessibility bus and on the session bus, and
  /// returns how many it took: on a busy machine a program's event may come late, and cost one more reading.
  @discardableResult
  func expect(
    _ what: String, atMost accessibility: Int, _ session: Int, within tries: Int = 40,
    _ step: (Int) async throws -> Void
  ) async throws -> Int {
    var costs: [[Int]] = []
    var before = try await counts("before")
    for number in 0..<tries {
      try await step(number)
      let after = try await counts("step\(number)")
      costs.append(zip(after, before).map { $0 - $1 })
      if zip(costs[number], [accessibility, session]).allSatisfy({ $0 <= $1 }) { return number + 1 }
      before = after
    }
    Issue.record("\(what) costs more than \(accessibility) and \(session) messages: \(costs)")
    return tries
  }

  /// Waits until programs have told `count` times that a window is not in front any more.
  func waitsForDeactivations(_ count: Int) async throws {
    _ = try await monitors[0].progress.wait(for: "\(count) deactivations") { progress in
      progress.output.count { $0.contains("Event.Window") && $0.lowercased().contains("=deactivate") } >= count
        ? true : nil
    }
  }

  /// How many messages there were, but for those that this sends.
  private func counts(_ mark: String) async throws -> [Int] {
    var counts: [Int] = []
    for (monitor, probe) in zip(monitors, probes) {
      let start = monitor.progress.now.output.count
      // A call to nobody, and the bus's answer.
      _ = try? await probe.askBus("GetNameOwner", [.string("demo." + mark)])
      try await monitor.line(from: start, mark) { $0.contains("demo." + mark) }
      let messages = monitor.progress.now.output.filter {
        // Texts of more than one line follow some of them.
        $0.contains(" sender=") && !$0.contains("\(probe.name) ")
      }
      // GTK 3 and Qt ask the registry about each key that is pressed or released, whoever listens.
      counts.append(messages.count - 2 * messages.count { $0.contains("member=NotifyListeners") })
    }
    return counts
  }
}
