import BusSupport
import DBus
import DBusTypes
import Foundation
import TestSupport
import Testing

/// `kill -9` at random moments while clients write: what was acknowledged is there, once, and nothing went back.
@Suite(.serialized) struct KillTests {
  private static let kills = isSlow ? 220 : 20

  @Test func whatIsAcknowledgedSurvives() async throws {
    try await PrivateBus.with { bus in
      var random = SeededGenerator(seed: 20)
      let acknowledged = Observed(0)
      let judge = try Judge(on: bus)
      let writers = try (0..<4).map { try Writer($0, on: bus, acknowledged) }
      var daemon = try await Focus1.start(on: bus)
      try await onThread {
        try judge.prepare()
        for writer in writers { try writer.prepare() }
      }
      let owner = try await BoundOwner(on: bus)
      for kill in 0..<Self.kills {
        let goal = acknowledged.now + Int.random(in: 10...90, using: &random)
        let guest = try await Self.guest(kill, on: bus)
        async let writing: Void = Self.run(writers)
        _ = try await acknowledged.wait(for: "writes") { $0 >= goal ? true : nil }
        try await daemon.stop()
        try await writing
        #expect(Self.complaints(of: daemon) == [])

        owner.level = Int32(kill)
        try await onThread { guest.leave() }
        if kill.isMultiple(of: 5) { try await Self.startAndKill(on: bus, &random) }
        let readings = owner.readings
        daemon = try await Focus1.start(on: bus)
        try await onThread {
          try judge.look(at: writers)
          try guest.check(judge.caller)
          try Self.checkBound(owner, readings, judge.caller)
        }
      }
      try await onThread { for writer in writers { try judge.lookAtLists(of: writer, all: true) } }
      if isSlow { print("\(Self.kills) kills, \(acknowledged.now) acknowledged writes") }
      if isSlow { #expect(acknowledged.now >= 10_000) }
      try await owner.stop(with: judge.caller)
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: bus.directory + "/state/focusd").sorted()
          .filter { $0.hasPrefix("state.db.") } == [])
      try await daemon.stop()
    }
  }

  /// Has all write until the daemon is gone.
  private static func run(_ writers: [Writer]) async throws {
    try await withThrowingTaskGroup { group in
      for writer in writers { group.addTask { try await onThread { try writer.run() } } }
      try await group.waitForAll()
    }
  }

  /// A daemon that is killed while it starts.
  private static func startAndKill(on bus: PrivateBus, _ random: inout SeededGenerator) async throws {
    let daemon = try await bus.start([Products.focusd, "--address", bus.address])
    if Bool.random(using: &random) {
      _ = try await daemon.progress.wait(for: "first line") { !$0.errors.isEmpty || $0.exit != nil ? true : nil }
    }
    try await daemon.stop()
  }

  /// What a daemon said that is wrong.
  private static func complaints(of daemon: ManagedProcess) -> [String] {
    daemon.progress.now.errors.filter { line in
      ["cannot", "damaged", "Fatal", "not back", "understand"].contains { line.contains($0) }
    }
  }

  private static func checkBound(_ owner: BoundOwner, _ readings: Int, _ caller: Caller) throws {
    #expect(owner.readings == readings + 1)
    let path = Focus1.field(BoundOwner.id)
    #expect(try caller.read(BoundOwner.levelKey, at: path).value == .int32(owner.level))
    let commands = try caller.call(path, Focus1.properties, "Get", [.string(Focus1.bindings), .string("Commands")])
    guard case .dictionary(let enabled)? = commands.first?.variantContent else {
      Issue.record("the commands are \(commands)")
      return
    }
    let found = Dictionary(uniqueKeysWithValues: enabled.entries.map { ($0.key.basicText ?? "", $0.value) })
    #expect(found == ["demo.Bound.Up": .boolean(true), "demo.Bound.Down": .boolean(false)])
  }

  private static func guest(_ number: Int, on bus: PrivateBus) async throws -> Guest {
    try await onThread {
      let guest = Guest(number, try Caller(on: bus))
      try guest.arrive()
      return guest
    }
  }
}

/// An owner who leaves while there is no daemon.
private final class Guest: @unchecked Sendable {
  private let number: Int
  private var caller: Caller?

  init(_ number: Int, _ caller: Caller) {
    self.number = number
    self.caller = caller
  }

  func arrive() throws {
    for (id, lingers) in [("stays", true), ("goes", false)] {
      try caller?.register(
        "\(id)\(number)", [(name: "demo.Crash.Guest", value: .string(id))], [(name: "linger", value: .boolean(lingers))]
      )
    }
    try caller?.register(
      "inner\(number)", [(name: "demo.Crash.Guest", value: .string("inner"))],
      [
        (name: "linger", value: .boolean(true)),
        (name: "parent", value: .objectPath(try ObjectPath(Focus1.field("goes\(number)")))),
      ])
  }

  func leave() { caller = nil }

  func check(_ judge: Caller) throws {
    let owners = try judge.owners()
    #expect(owners["goes\(number)"] == nil)
    #expect(owners["stays\(number)"] == "")
    #expect(owners["inner\(number)"] == "")
    let parent = try judge.call(
      Focus1.field("inner\(number)"), Focus1.properties, "Get", [.string(Focus1.fieldInterface), .string("Parent")])
    #expect(parent.first?.variantContent?.basicText == "/")
  }
}
