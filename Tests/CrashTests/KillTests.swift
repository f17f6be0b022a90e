import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// `kill -9` at random moments while clients write: what was acknowledged is there, once, and nothing went back.
@Suite(.serialized) struct KillTests {
  private static let kills = isSlow ? 220 : 20

  @Test func whatIsAcknowledgedSurvives() async throws {
    try await TestDesktop.with { desktop in
      var random = SeededGenerator(seed: 20)
      let acknowledged = Observed(0)
      let judge = try await Judge(on: desktop)
      let writers = try await Self.writers(4, on: desktop, acknowledged)
      try await judge.prepare()
      for writer in writers { try await writer.prepare() }
      let owner = try await BoundOwner(on: desktop)
      let ballast = try await Ballast(on: desktop)
      for kill in 0..<Self.kills {
        let goal = acknowledged.now + Int.random(in: 10...90, using: &random)
        let guest = try await Guest(kill, on: desktop)
        async let writing: Void = Self.run(writers)
        async let filling: Void = ballast.run()
        _ = try await acknowledged.wait(for: "writes") { $0 >= goal ? true : nil }
        try await desktop.kill()
        try await writing
        try await filling
        #expect(Self.complaints(of: desktop) == [])

        owner.set(Int32(kill))
        try await guest.peer.leave()
        if kill.isMultiple(of: 5) {
          let names = try await Self.names(judge.caller)
          try await Self.startAndKill(on: desktop, &random)
          // What it has asked is handed on before it counts as gone.
          try await eventually("it has left") { try await Self.names(judge.caller).isSubset(of: names) }
          try await owner.object.owner.askBus("GetId")
        }
        let readings = owner.readings
        try await desktop.start()
        try await judge.look(at: writers)
        try await guest.check(judge.caller)
        try await ballast.check()
        try await Self.checkBound(owner, readings, judge.caller)
      }
      for writer in writers { try await judge.lookAtLists(of: writer, all: true) }
      if isSlow { print("\(Self.kills) kills, \(acknowledged.now) acknowledged writes") }
      if isSlow { #expect(acknowledged.now >= 10_000) }
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: desktop.stateDirectory).sorted()
          .filter { $0.hasPrefix("state.db.") } == [])
    }
  }

  private static func writers(
    _ count: Int, on desktop: TestDesktop, _ acknowledged: Observed<Int>
  ) async throws -> [Writer] {
    var writers: [Writer] = []
    for number in 0..<count { writers.append(try await Writer(number, on: desktop, acknowledged)) }
    return writers
  }

  /// Writes until the daemon is gone.
  private static func run(_ writers: [Writer]) async throws {
    try await withThrowingTaskGroup { group in
      for writer in writers { group.addTask { try await writer.run() } }
      try await group.waitForAll()
    }
  }

  /// A daemon that is killed while it starts.
  private static func startAndKill(on desktop: TestDesktop, _ random: inout SeededGenerator) async throws {
    let daemon = try await desktop.start([Products.focusd, "--address", desktop.bus.address])
    if Bool.random(using: &random) {
      _ = try await daemon.progress.wait(for: "first line") { !$0.errors.isEmpty || $0.exit != nil ? true : nil }
    }
    try await daemon.stop()
  }

  /// Who is on the bus.
  private static func names(_ caller: Peer) async throws -> Set<String> {
    guard case .array(let names)? = try await caller.call(.bus("ListNames")).first else { return [] }
    return Set(names.compactMap(\.basicText))
  }

  /// What the daemon said that is wrong.
  private static func complaints(of desktop: TestDesktop) -> [String] {
    desktop.log.filter { line in
      ["cannot", "damaged", "Fatal", "not back", "understand"].contains { line.contains($0) }
    }
  }

  private static func checkBound(_ owner: BoundOwner, _ readings: Int, _ caller: Peer) async throws {
    let path = Focus1.field(BoundOwner.id)
    try await caller.restored(BoundOwner.levelKey, at: path)
    #expect(owner.readings == readings + 1)
    #expect(try await caller.read(BoundOwner.levelKey, at: path).value == owner.level)
    #expect(try await caller.commands(at: path) == ["demo.Bound.Up": true, "demo.Bound.Down": false])
  }
}

/// A client whose large values have the log copied into the database again and again: many kills come meanwhile.
private final class Ballast: @unchecked Sendable {
  private static let key = "demo.Crash.Ballast"
  private let peer: Peer
  private var acknowledged = 0

  init(on desktop: TestDesktop) async throws {
    peer = try await desktop.peer()
    try await peer.register("ballast", [(Self.key, Self.value(0))])
  }

  private static func value(_ number: Int) -> DBusValue {
    .string("\(number)" + String(repeating: "x", count: 400_000))
  }

  /// Writes until the daemon is gone.
  func run() async throws {
    do {
      while true {
        try await peer.write(Self.key, Self.value(acknowledged + 1), at: Focus1.field("ballast"))
        acknowledged += 1
      }
    } catch let error as RemoteError where error.isAbsence {}
  }

  func check() async throws {
    let found = try await peer.read(Self.key, at: Focus1.field("ballast")).value
    let isNext = found == Self.value(acknowledged + 1)
    #expect(isNext || found == Self.value(acknowledged))
    if isNext { acknowledged += 1 }
  }
}

/// An owner who leaves while there is no daemon.
private struct Guest {
  private let number: Int
  let peer: Peer

  init(_ number: Int, on desktop: TestDesktop) async throws {
    self.number = number
    peer = try await desktop.peer()
    let linger: Named = [("linger", .boolean(true))]
    try await peer.register("stays\(number)", [("demo.Crash.Guest", .string("stays"))], linger)
    try await peer.register("goes\(number)", [("demo.Crash.Guest", .string("goes"))], [("linger", .boolean(false))])
    try await peer.register(
      "inner\(number)", [("demo.Crash.Guest", .string("inner"))],
      linger + [("parent", Focus1.fieldPath("goes\(number)"))])
  }

  func check(_ judge: Peer) async throws {
    let owners = try await judge.owners()
    #expect(owners["goes\(number)"] == nil)
    #expect(owners["stays\(number)"] == "")
    #expect(owners["inner\(number)"] == "")
    let parent = try await judge.get(Focus1.fieldInterface + ".Parent", at: Focus1.field("inner\(number)"))
    #expect(parent == .objectPath(.root))
  }
}
