/// Reads and writes of a stored binding that has focus, against C services that answer with the same bodies.
func measureStored(_ context: Group.Context, _ report: inout Report) async throws {
  try await context.withSession { session in
    let echo = try await session.baseline("echo", "bench.Echo")
    let ideal = try await session.baseline("ideal", "bench.Ideal")
    let telling = try await session.baseline("echo", "bench.Telling", "tell")
    try session.register("stored", "demo.Form.Number")
    try session.caller.time([.focus("stored")], 1)
    func calls(to name: String) -> [(name: String, call: Call)] {
      [
        ("Get", .focused(to: name, Call.properties, "Get", "ss", "demo.Form", "Number")),
        ("Read", .focused(to: name, Call.bindings, "Read", "s", "demo.Form.Number")),
        ("Set", .focused(to: name, Call.properties, "Set", "ssn", "demo.Form", "Number")),
        ("Write", .focused(to: name, Call.bindings, "Write", "sne", "demo.Form.Number")),
      ]
    }
    let floors = calls(to: "bench.Echo").map { Target("C echo, \($0.name)", echo, $0.call) }
    let ours = calls(to: "org.focusd.Focus1").enumerated().map { index, each in
      Target("focusd, \(each.name)", session.daemon, each.call, floor: index)
    }
    // What the same signals cost when C sends them.
    let signals = calls(to: "bench.Telling").enumerated().dropFirst(2).map { index, each in
      Target("C echo with signals, \(each.name)", telling, each.call, floor: index)
    }
    // What a service could reach that has everything marshalled beforehand.
    let prepared = calls(to: "bench.Ideal").enumerated().dropFirst(2).map { index, each in
      Target("C ideal, \(each.name)", ideal, each.call, floor: index)
    }
    let targets = floors + ours + signals + prepared
    var latencies: [Mode: [Rounds.Result]] = [:]
    var rates: [Mode: [Rounds.Result]] = [:]
    Report.printHead("calls one after another", "µs")
    for mode in Mode.allCases {
      let results = try Rounds(session: session, mode: mode, count: context.count(400), batch: 50).latencies(targets)
      report.add("calls", mode, targets, results)
      latencies[mode] = results
    }
    Report.printHead("64 calls in flight", "calls/s")
    for mode in Mode.allCases {
      let results = try Rounds(session: session, mode: mode, count: context.count(200, quick: 32), batch: 250)
        .rates(targets)
      report.add("flight", mode, targets, results, worst: 0.01)
      rates[mode] = results
    }
    for index in 4..<8 {
      let name = calls(to: "")[index - 4].name
      report.add(
        index < 6 ? .read : .write, "\(name) to C echo", latencies[.pinned]?[index].ratios.median ?? .nan,
        free: latencies[.free]?[index].ratios.median, .atMost([1.08, 1.04, 1.6, 1.6][index - 4]))
      report.add(
        .flight, "\(name), calls a second to C echo", rates[.pinned]?[index].ratios.median ?? .nan,
        free: rates[.free]?[index].ratios.median, .atLeast(index < 6 ? 0.95 : 0.85))
    }
    for index in 8..<targets.count {
      report.add(
        .write, "for comparison: " + targets[index].name, latencies[.pinned]?[index].ratios.median ?? .nan,
        free: latencies[.free]?[index].ratios.median)
    }
  }
}
