internal import TestSupport

/// Much of something, beside the one field that is called.
private struct Crowd {
  let name: String
  /// Makes it, with the field that has `demo.Form.Number`; that resolves then.
  let prepare: (Stage) throws -> Void

  private static var number: Wire.Values { [("demo.Form.Number", .int32(1))] }

  private static var session: Wire.Values { [("scope", .string("session"))] }

  private static func addSessionFields(_ stage: Stage) throws {
    // One owner may have 4,096 fields.
    for (owner, count) in [4_000, 4_000, 2_000].enumerated() { try stage.addOwner(count, "s\(owner)_", session) }
  }

  static var nothing: Crowd {
    Crowd(name: "nothing else") { try $0.call(Wire.register("one", number, Wire.focus)) }
  }

  static var all: [Crowd] {
    [
      Crowd(name: "10,000 session fields") { stage in
        try addSessionFields(stage)
        try nothing.prepare(stage)
      },
      Crowd(name: "10,000 session fields, a key of one") { stage in
        try addSessionFields(stage)
        try stage.call(Wire.register("one", number, session))
      },
      Crowd(name: "1,000 windows, a field in each") { stage in
        let bus = "org.freedesktop.DBus"
        try stage.call(
          .call(
            to: bus, "/org/freedesktop/DBus", bus, "RequestName",
            [.string("org.focusd.Bridge1.Windows"), .uint32(4)]))
        for window in 0..<1_000 {
          try stage.call(Wire.register("w\(window)", [("org.focusd.Window.Title", .string("\(window)"))]))
          let isLast = window == 999
          let inner = Wire.register(
            "in\(window)", isLast ? number : [("demo.Many.Number", .int32(1))],
            [("parent", .path("/org/focusd/Focus1/field/w\(window)"))] + (isLast ? Wire.focus : []))
          try stage.call(inner)
        }
        try stage.call(Wire.field("w999", "Focus"))
      },
      Crowd(name: "64 fields within each other") { stage in
        for depth in 0..<64 {
          let parent = depth == 0 ? [] : [("parent", WireValue.path("/org/focusd/Focus1/field/d\(depth - 1)"))]
          let values = depth == 0 ? number : [("demo.Deep\(depth).Number", .int32(1))]
          try stage.call(Wire.register("d\(depth)", values, parent + (depth == 63 ? Wire.focus : [])))
        }
      },
      Crowd(name: "256 keys on the field") { stage in
        let others = (0..<255).map { (name: "demo.Form.K\($0)", value: WireValue.int32(1)) }
        try stage.call(Wire.register("one", number + others, Wire.focus))
      },
    ]
  }
}

/// `Get` and `Set` of one value where there is nothing else, and where there is much, in turn.
func measureScale(_ context: Group.Context, _ report: inout Report) async throws {
  for crowd in Crowd.all {
    try await context.withSession { few in
      try await context.withSession { many in
        let stages = [try Stage(few.bus.address), try Stage(many.bus.address)]
        try Crowd.nothing.prepare(stages[0])
        try crowd.prepare(stages[1])
        try compare(crowd.name, [few, many], context, &report)
        withExtendedLifetime(stages) {}
      }
    }
  }
}

private func compare(
  _ name: String, _ sessions: [Session], _ context: Group.Context, _ report: inout Report
) throws {
  let calls = [
    ("Get", Call.focused(Call.properties, "Get", "ss", "demo.Form", "Number")),
    ("Set", Call.focused(Call.properties, "Set", "ssn", "demo.Form", "Number")),
  ]
  let targets = calls.enumerated().flatMap { index, call in
    sessions.enumerated().map { number, session in
      var target = Target(
        "\(call.0), \(number == 0 ? "nothing else" : name)", session.daemon, call.1,
        floor: number == 0 ? nil : 2 * index)
      target.bus = session.busDaemon
      return target
    }
  }
  var ratios: [Mode: [Double]] = [:]
  Report.printHead(name, "µs")
  for mode in Mode.allCases {
    for session in sessions { session.place(mode) }
    let results = try Rounds(session: sessions[0], mode: mode, count: context.count(200, quick: 40), batch: 20)
      .run(targets) { target in
        try (target.process == sessions[0].daemon ? sessions[0] : sessions[1]).caller.time(target.calls, 20)
      }
    report.add("scale", mode, targets, results)
    ratios[mode] = results.map(\.ratios.median)
  }
  for (index, call) in calls.enumerated() {
    report.add(
      .scale, "\(call.0), \(name)", ratios[.pinned]?[2 * index + 1] ?? .nan, free: ratios[.free]?[2 * index + 1],
      .atMost(1.1))
  }
}
