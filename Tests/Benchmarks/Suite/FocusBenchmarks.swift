internal import TestSupport

/// Focus that moves between two fields, and connections that are told of it.
private struct Moves {
  let subscribers: Subscribers
  let calls = [Call.focus("one"), .focus("two")]

  /// Registers the fields.
  /// - Throws: `NotMeasured`.
  init(_ session: Session) throws {
    subscribers = try Subscribers(
      session.bus.address,
      """
      type='signal',path='/org/focusd/Focus1/focused',interface='org.freedesktop.DBus.Properties',arg0='demo.Focus'
      """)
    // Only the connection that owns them may move focus to them.
    for id in ["one", "two"] { try subscribers.call(.register("s", id, "demo.Focus.Number")) }
  }

  func target(_ name: String, _ session: Session, floor: Int?) -> Target {
    var target = Target(name, session.daemon, calls[0], calls[1], floor: floor)
    target.bus = session.busDaemon
    return target
  }
}

/// Moves of focus, from the call to the last of many subscribers, against C that sends the same signals.
func measureSubscribers(_ context: Group.Context, _ report: inout Report) async throws {
  try await context.withSession { session in
    let emitter = try await session.baseline("emit", "bench.Emit")
    let moves = try Moves(session)
    let emit = Call.focused(to: "bench.Emit", "bench.Emit", "Emit")
    Report.printHead("a focus change, to the last subscriber", "µs")
    for count in [1, 10, 100, 1_000] {
      try moves.subscribers.grow(to: count)
      let batch = count < 100 ? 20 : count < 1_000 ? 10 : 2
      let rounds = context.count(count < 100 ? 200 : 60, quick: count < 100 ? 30 : 10)
      var ratios: [Mode: Double] = [:]
      for mode in Mode.allCases {
        let targets = [
          Target("C emitter, \(count)", emitter, emit), moves.target("focusd, \(count)", session, floor: 0),
        ]
        let results = try Rounds(session: session, mode: mode, count: rounds, batch: batch).run(targets) {
          try moves.subscribers.time($0.calls, batch)
        }
        report.add("subscribers", mode, targets, results)
        ratios[mode] = results[1].ratios.median
      }
      report.add(
        .subscribers, "\(count) to C emitter", ratios[.pinned] ?? .nan, free: ratios[.free], .atMost(1.1))
    }
  }
}

/// The same move of focus in daemons with few and with many fields, in turn; and what a field takes.
func measureFields(_ context: Group.Context, _ report: inout Report) async throws {
  let counts = [10, 1_000, context.count(100_000)]
  try await context.withSession { few in
    try await context.withSession { some in
      try await context.withSession { many in
        let sessions = [few, some, many]
        let before = Memory(of: many.daemon).written
        var owners: [Caller] = []
        for (session, count) in zip(sessions, counts) { owners += try register(count, session) }
        let bytes = (Memory(of: many.daemon).written - before) * 1024 / Double(counts[2])
        try compare(sessions, counts, context, &report)
        withExtendedLifetime(owners) {}
        report.add(.bytes, "with \(counts[2]) fields, one int32 each", bytes, "B", .atMost(900))
      }
    }
  }
}

/// Registers fields that have nothing to do with what is measured; they are there as long as their owners.
private func register(_ count: Int, _ session: Session) throws -> [Caller] {
  // One owner may have 4,096 fields.
  let most = 4_000
  return try stride(from: 0, to: count, by: most).map { start in
    let owner = try Caller(session.bus.address)
    try owner.flood([.register("f", "many\(start)_", "demo.Many.Number")], min(most, count - start))
    return owner
  }
}

private func compare(
  _ sessions: [Session], _ counts: [Int], _ context: Group.Context, _ report: inout Report
) throws {
  let moves = try sessions.map { try Moves($0) }
  for each in moves { try each.subscribers.grow(to: 1) }
  let targets = zip(counts, zip(moves, sessions)).enumerated().map { index, each in
    each.1.0.target("\(each.0) fields", each.1.1, floor: index == 0 ? nil : 0)
  }
  var ratios: [Mode: [Double]] = [:]
  Report.printHead("a focus change, with n fields", "µs")
  for mode in Mode.allCases {
    for session in sessions { session.place(mode) }
    let results = try Rounds(session: sessions[0], mode: mode, count: context.count(200, quick: 40), batch: 20)
      .run(targets) { target in
        let index = targets.firstIndex { $0.process == target.process } ?? 0
        return try moves[index].subscribers.time(target.calls, 20)
      }
    report.add("fields", mode, targets, results)
    ratios[mode] = results.map(\.ratios.median)
  }
  for index in [1, 2] {
    report.add(
      .fields, "\(counts[index]) to 10", ratios[.pinned]?[index] ?? .nan, free: ratios[.free]?[index], .atMost(1.1))
  }
}
