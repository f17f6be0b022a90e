internal import DBus
internal import Foundation
internal import TestSupport

/// What the contract says of whatever is within its limits: how long others wait, what it takes, and the next start.
func measureLimits(_ context: Group.Context, _ report: inout Report) async throws {
  Report.printHead("small reads of another meanwhile", "ms")
  for load in Load.all + Load.costs { try await measureDelay(load, context, &report) }
  try await measureCosts(context, &report)
  try await measureMemoryAtLimits(context, &report)
  try await measureStartAtLimits(context, &report)
}

/// How long a small read takes while another client is at the limits, with the daemon and with the C echo.
private func measureDelay(_ load: Load, _ context: Group.Context, _ report: inout Report) async throws {
  let count = context.count(10, quick: 2)
  try await context.withSession { session in
    _ = try await session.baseline("echo", "bench.Echo")
    try session.register("small", "demo.Form.Number")
    let stage = try Stage(session.bus.address)
    try load.prepare(stage)
    try await measureDelay(
      load.name, session, &report, .atMost(50), count, undo: { try load.undo(stage) },
      during: { try load.run(stage, $0) })
    guard let echoed = load.echoed else { return }
    // The echo makes its signals out of the first call, which takes longer.
    try stage.call(echoed)
    try await measureDelay("  C echo: " + load.name, from: "bench.Echo", session, &report, nil, count) { _ in
      try stage.call(echoed)
    }
  }
}

/// How long a small read of `destination` takes at the longest during `count` runs of `body`.
func measureDelay(
  _ name: String, from destination: String = "org.focusd.Focus1", _ session: Session, _ report: inout Report,
  _ limit: Limit? = nil, _ count: Int = 1, undo: () throws -> Void = {}, during body: (Int) throws -> Void
) async throws {
  let samples = try await delays(of: Wire.get(from: destination), on: session.bus.address) {
    try (0..<count).map { number in
      let window = try Window { try body(number) }
      try undo()
      return window
    }
  }
  report.add("limits", name, .free, samples)
  report.add(.delay, name, samples.quantile(1), "ms", limit)
}

/// A full owner's fields, and what they are: their elements, and their bytes as marshalled.
private struct Filling {
  let name: String
  let values: [WireValue]

  static let all = [
    Filling(name: "bytes in variants", values: Shape.all[0].four),
    Filling(name: "empty strings", values: Shape.all[1].four),
    Filling(name: "structs", values: Shape.all[2].four),
    Filling(
      name: "deep variants",
      values: [WireValue](repeating: .array(6_300, of: .variants(55)), count: 16)),
    Filling(name: "texts", values: [WireValue](repeating: .text((1 << 20) - 64), count: 16)),
    Filling(
      name: "small texts and large ones",
      values: (0..<16).map { $0 < 4 ? .full() : .text((1 << 20) - 64) }),
  ]

  /// What the contract allows for it, in KiB.
  var allowed: Double {
    let size = values.reduce(0) { $0 + $1.size }
    return Double(128 * values.elements + 2 * size) / 1024
  }

  /// Registers a field for each value.
  func register(_ stage: WireConnection, _ prefix: String) throws {
    for (number, value) in values.enumerated() {
      try stage.call(Wire.register("\(prefix)\(number)", [("demo.Full.V\(number)\(prefix)", value)]))
    }
  }
}

extension Shape {
  /// As many as an owner may have.
  fileprivate var four: [WireValue] { [WireValue](repeating: array(65_536), count: 4) }
}

/// What full owners take, by what the contract allows, and what is left when they have gone.
private func measureMemoryAtLimits(_ context: Group.Context, _ report: inout Report) async throws {
  for filling in Filling.all {
    try await context.withSession { try measure(filling, 1, "a full owner, " + filling.name, $0, &report) }
  }
  try await context.withSession { try measure(Filling.all[5], 4, "4 full owners", $0, &report) }
  for load in Load.all where load.isRefused {
    try await context.withSession { session in
      try session.register("small", "demo.Form.Number")
      let before = Memory(of: session.daemon).written
      try load.run(try Stage(session.bus.address), 0)
      let left: Double = Memory(of: session.daemon).written - before
      report.add(.limitMemory, "\(load.name), left", left / 1024, "MiB")
    }
  }
}

private func measure(
  _ filling: Filling, _ owners: Int, _ name: String, _ session: Session, _ report: inout Report
) throws {
  let before = Memory(of: session.daemon).written
  let address = session.bus.address
  let caller = try WireConnection(address: address)
  var clients: [WireConnection] = []
  for owner in 0..<owners {
    let client = try WireConnection(address: address)
    try filling.register(client, "o\(owner)_")
    clients.append(client)
  }
  let grown = Memory(of: session.daemon).written - before
  let ratio: Double = grown / (filling.allowed * Double(owners))
  report.add(.limitMemory, "\(name), to what is allowed", ratio, "", free: nil, .atMost(1))
  report.add(.limitMemory, "\(name)", grown / 1024, "MiB")
  clients = []
  for owner in 0..<owners {
    let last = Wire.bindings("ReadAll", at: "field/o\(owner)_\(filling.values.count - 1)")
    while (try? caller.call(last)) != nil {}
  }
  // That they have left is told at once, and saved with the next change, until when the daemon keeps what they had.
  try session.register("small", "demo.Form.Number")
  let left = Memory(of: session.daemon).written - before
  report.add(.limitMemory, "\(name), left", left / 1024, "MiB")
}

/// From the start of the process to its name, with as many lingering fields as it takes.
private func measureStartAtLimits(_ context: Group.Context, _ report: inout Report) async throws {
  try await PrivateBus.with { bus in
    let session = try await Session(bus, context.programs)
    let client = try WireConnection(address: bus.address)
    for call in Wire.owner("f", fields: 4_096, [("linger", .boolean(true))]) { try client.call(call) }
    try await session.end()
    let caller = try Caller(bus.address)
    var samples = Samples()
    for _ in 0..<context.count(20, quick: 3) {
      let taken = try caller.timeToName(
        "org.focusd.Focus1", [context.programs + "/focusd"],
        bus.environment.merging(["XDG_STATE_HOME": bus.directory + "/state"]) { $1 })
      samples.add(taken / 1000)
    }
    Report.printHead("start to bus name", "ms")
    report.add("limits", "with 4,096 lingering fields of 16 MiB", .free, samples)
    report.add(.limitStart, "with 4,096 lingering fields of 16 MiB", samples.median, "ms", .atMost(1000))
  }
}
