/// What a bound field's owner is asked for, against a C forwarder with DBusPendingCall and against playerctld.
///
/// All three pass the same call on to the same media player, which is the field's object.
func measureForwarding(_ context: Group.Context, _ report: inout Report) async throws {
  try await context.withSession { session in
    let mock = "org.mpris.MediaPlayer2.mock"
    let player = try await session.baseline("play", mock)
    let forwarder = try await session.baseline("forward", "bench.Forward", mock)
    let echo = try await session.baseline("echo", "bench.Echo")
    let playerctld = try await session.start("/usr/bin/playerctld")
    let interface = "org.mpris.MediaPlayer2.Player"
    func command(_ destination: String, _ path: String = "/org/focusd/Focus1/focused") -> Call {
      Call(to: destination, path, interface, "PlayPause")
    }
    func live(
      _ destination: String, _ name: String = "Position", at path: String = "/org/focusd/Focus1/focused"
    ) -> Call {
      Call(to: destination, path, Call.properties, "Get", "ss", interface, name)
    }
    let throughPlayerctld = command("org.mpris.MediaPlayer2.playerctld", "/org/mpris/MediaPlayer2")
    try session.caller.wait(for: throughPlayerctld)
    try session.caller.wait(for: command("org.focusd.Focus1"))
    let targets = [
      Target("the player itself, command", player, command(mock)),
      Target("C forwarder, command", forwarder, command("bench.Forward")),
      Target("playerctld, command", playerctld, throughPlayerctld, floor: 1),
      Target("focusd, command", session.daemon, command("org.focusd.Focus1"), floor: 1),
      Target("focusd, command, to playerctld", session.daemon, command("org.focusd.Focus1"), floor: 2),
      Target("C forwarder, Get of a live property", forwarder, live("bench.Forward")),
      Target("focusd, Get of a live property", session.daemon, live("org.focusd.Focus1"), floor: 5),
      Target("C echo, Get", echo, live("bench.Echo")),
      Target("focusd, Get of a bound binding", session.daemon, live("org.focusd.Focus1", "Volume"), floor: 7),
      Target(
        "playerctld, Get of a live property", playerctld,
        live("org.mpris.MediaPlayer2.playerctld", at: "/org/mpris/MediaPlayer2"), floor: 5),
      Target("focusd, live property, to playerctld", session.daemon, live("org.focusd.Focus1"), floor: 9),
    ]
    var ratios: [Mode: [Double]] = [:]
    Report.printHead("forwarding", "µs")
    for mode in Mode.allCases {
      let results = try Rounds(session: session, mode: mode, count: context.count(200), batch: 50).latencies(targets)
      report.add("forwarding", mode, targets, results)
      ratios[mode] = results.map(\.ratios.median)
    }
    func add(_ measure: Measure, _ name: String, _ index: Int, _ limit: Double) {
      report.add(measure, name, ratios[.pinned]?[index] ?? .nan, free: ratios[.free]?[index], .atMost(limit))
    }
    add(.bound, "Get to C echo", 8, 1.08)
    add(.forwarded, "command to C forwarder", 3, 0.95)
    add(.forwarded, "live property to C forwarder", 6, 1)
    add(.forwarded, "command to playerctld", 4, 0.55)
    add(.forwarded, "live property to playerctld", 10, 0.55)
  }
}
