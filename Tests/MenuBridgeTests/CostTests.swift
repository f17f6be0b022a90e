import BusSupport
import DBusTypes
import TestSupport
import Testing

/// What the bridge sends on both buses because a window of a stock program comes to the front.
@Suite(
  .enabled(
    if: RealStage.canRun("/usr/bin/mousepad", "/usr/bin/featherpad"), "needs mousepad, featherpad: .ci/setup test"))
struct CostTests {
  @Test func firstSightCostsFewMessagesAndASwitchNone() async throws {
    try await RealStage.with { stage in
      let traffic = try await Traffic(stage)
      let files = (try stage.file("one"), try stage.file("two"))
      let editor = try await stage.start(["/usr/bin/mousepad", files.0], window: Self.name(files.0))
      try await stage.has("Edit.Undo")
      let byGTK = try await traffic.firstSights("first") { $0.session > 0 && $0.total <= 12 }
      #expect(byGTK.isMet, "org.gtk: \(byGTK.counts)")

      let other = try await stage.start(["/usr/bin/featherpad", files.1], window: Self.name(files.1))
      try await stage.has("Edit.Undo")
      let byBar = try await traffic.firstSights("second") { $0.accessibility > 100 && $0.total <= 400 }
      #expect(byBar.isMet, "a menu bar: \(byBar.counts)")

      var costs: [Int] = []
      for number in 0..<8 {
        try await stage.front(Self.name(number % 2 == 0 ? files.0 : files.1))
        try await stage.has("Edit.Undo")
        costs.append(try await traffic.count("switch\(number)", ofAll: true).total)
      }
      // A program that enables something else meanwhile makes the bridge tell it.
      #expect(costs.min() == 0, "switches: \(costs)")
      for program in [editor, other] { try await program.stop() }
    }
  }

  private static func name(_ file: String) -> String { file.split(separator: "/").last.map(String.init) ?? "" }
}

/// Counts the messages that the bridge sends on both buses.
private final class Traffic {
  struct Count: CustomStringConvertible {
    var session = 0
    var accessibility = 0

    var total: Int { session + accessibility }
    var description: String { "\(session) on the session bus, \(accessibility) on the accessibility bus" }
  }

  private let stage: RealStage
  private var buses: [(monitor: ManagedProcess, probe: Peer, seen: Int)] = []

  init(_ stage: RealStage) async throws {
    self.stage = stage
    for address in [stage.desktop.bus.address, stage.accessibility] {
      let monitor = try await stage.desktop.start(["/usr/bin/dbus-monitor", "--address", address])
      try await monitor.line("monitor")
      buses.append((monitor, try await Peer(to: address), 0))
    }
  }

  /// Counts what it costs until the program in front has `Edit.Undo`, with bridges to which it is new, until `isFew`.
  ///
  /// A program that is busy, as when its window has just come, is late for one bridge, and then asked twice.
  func firstSights(_ mark: String, isFew: (Count) -> Bool) async throws -> (counts: [Count], isMet: Bool) {
    var counts: [Count] = []
    for number in 0..<5 {
      try await stage.startBridgeAgain()
      try await stage.has("Edit.Undo")
      counts.append(try await count("\(mark)\(number)"))
      if counts.contains(where: isFew) { return (counts, true) }
    }
    return (counts, false)
  }

  /// How many messages it has sent to programs since the last count; if `ofAll`, to the daemon and to the buses as well.
  func count(_ mark: String, ofAll: Bool = false) async throws -> Count {
    var counts: [Int] = []
    for index in buses.indices {
      let (monitor, probe, seen) = buses[index]
      let own = try await names(of: stage.bridge.processID, probe)
      let programs = try await names(of: nil, probe).subtracting(try await owners(probe))
      // A call to nobody, after all that was sent before.
      _ = try? await probe.askBus("GetNameOwner", [.string("demo." + mark)])
      try await monitor.line(from: seen, mark) { $0.contains("demo." + mark) }
      let lines = monitor.progress.now.output
      counts.append(
        lines[seen...].count { line in
          guard line.contains(" sender="), own.contains(where: { line.contains("sender=\($0) ") }) else { return false }
          return ofAll || programs.contains { line.contains("destination=\($0) ") }
        })
      buses[index].seen = lines.count
    }
    return Count(session: counts[0], accessibility: counts[1])
  }

  /// The unique names of a process, or of all.
  private func names(of process: Int32?, _ probe: Peer) async throws -> Set<String> {
    guard case .array(let names)? = try await probe.askBus("ListNames").first else { return [] }
    var found: Set<String> = []
    for name in names.compactMap(\.basicText) where name.hasPrefix(":") {
      guard let process else {
        found.insert(name)
        continue
      }
      let owner = try? await probe.askBus("GetConnectionUnixProcessID", [.string(name)])
      if owner == [.uint32(UInt32(process))] { found.insert(name) }
    }
    return found
  }

  /// The unique names of what are no programs: the daemon, the window bridge and the registry.
  private func owners(_ probe: Peer) async throws -> Set<String> {
    var found: Set<String> = []
    for name in [Focus1.name, "org.focusd.Bridge1.Windows", "org.a11y.Bus", "org.a11y.atspi.Registry"] {
      if let owner = try? await probe.askBus("GetNameOwner", [.string(name)]), let text = owner.first?.basicText {
        found.insert(text)
      }
    }
    return found
  }
}
