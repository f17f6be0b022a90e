internal import DBus
internal import DBusTypes
internal import TestSupport

/// Moves of focus: to the last of many subscribers, and with many fields.
func measureFocus(_ session: Session, count: Int, fields: Int, _ report: inout Report) async throws {
  for id in ["one", "two"] { try session.register(id, [("demo.Focus.Number", .int32(id == "one" ? 1 : 2))]) }
  let emitter = try await session.baseline("emit", "bench.Emit")
  for subscribers in [1, 10, 100] {
    let ours = try arrival(session, subscribers, count, session.daemon) { number in
      try session.focus(number.isMultiple(of: 2) ? "one" : "two")
    }
    let floor = try arrival(session, subscribers, count, emitter) { _ in
      _ = try session.connection.call(
        Message.methodCall(
          to: BusName("bench.Emit"), path: Session.focused, interface: InterfaceName("bench.Emit"),
          member: MemberName("Emit")))
    }
    report.add("Focus change, \(subscribers) subscribers: median", ours, "µs")
    report.add("Focus change to C emitter, \(subscribers) subscribers", ours / floor, "", .atMost(1.1))
  }
  try await emitter.stop()

  let before = ProcessFacts.memory(session.daemon.processID, "Private_Dirty")
  var medians: [Double] = []
  var registered = 0
  var owners: [Connection] = []
  for limit in [10, 1_000, fields] {
    while registered < limit {
      // One owner may have 4,096 fields.
      if registered.isMultiple(of: 4_000) { owners.append(try Connection(to: .address(session.bus.address))) }
      guard let owner = owners.last else { break }
      _ = try owner.call(
        Message.methodCall(
          to: BusName("org.focusd.Focus1"), path: Session.manager,
          interface: InterfaceName("org.focusd.Focus1.Manager"), member: MemberName("Register"),
          [.string("many\(registered)"), .properties([("demo.Many.Number", .int32(1))]), .properties([])]))
      registered += 1
    }
    var samples = Samples()
    for number in 0..<count {
      let began = now()
      try session.focus(number.isMultiple(of: 2) ? "one" : "two")
      samples.add(now() - began)
    }
    medians.append(samples.median)
    report.add("Focus change with \(limit) fields: median", samples.median, "µs")
  }
  report.add("Focus change with \(fields) fields to 10", medians[2] / medians[0], "", .atMost(1.1))
  let bytes = (ProcessFacts.memory(session.daemon.processID, "Private_Dirty") - before) * 1024 / Double(fields)
  report.add("A field's own bytes, at \(fields)", bytes, "B", .atMost(1024))
}

/// The median time from a call until the last of `subscribers` connections has the signal of `focused`.
private func arrival(
  _ session: Session, _ subscribers: Int, _ count: Int, _ process: ManagedProcess, _ change: (Int) throws -> Void
) throws -> Double {
  let loop = EventLoop()
  var arrived = 0
  var connections: [Connection] = []
  for _ in 0..<subscribers {
    let connection = try Connection(to: .address(session.bus.address))
    try connection.addMatch(
      MatchRule(path: Session.focused, interface: .properties, member: MemberName("PropertiesChanged")))
    let wanted = try MemberName("PropertiesChanged")
    connection.onMessage = { if $0.isSignal(.properties, wanted) { arrived += 1 } }
    connection.attach(to: loop)
    connections.append(connection)
  }
  var samples = Samples()
  for number in 0..<max(50, count / subscribers) {
    arrived = 0
    let began = now()
    try change(number)
    while arrived < subscribers { loop.turn() }
    samples.add(now() - began)
  }
  for connection in connections { connection.detach() }
  return samples.median
}
