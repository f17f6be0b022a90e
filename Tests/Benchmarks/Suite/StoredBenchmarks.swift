internal import DBus
internal import DBusTypes
internal import TestSupport

/// Reads and writes of a focused stored binding, against a C echo.
func measureStored(_ session: Session, count: Int, _ report: inout Report) async throws {
  let echo = try await session.baseline("echo", "bench.Echo")
  try session.register("stored", [("demo.Form.Number", .int32(0))], [("focus", .boolean(true))])
  let properties = "org.freedesktop.DBus.Properties"
  let bindings = "org.focusd.Focus1.Bindings"
  let name: [DBusValue] = [.string("demo.Form"), .string("Number")]
  let key = DBusValue.string("demo.Form.Number")
  let daemon = session.daemon
  func focusd(
    _ name: String, _ interface: String, _ member: String, _ arguments: @escaping (Int) -> [DBusValue]
  ) throws -> CallTarget {
    try session.target(name, "org.focusd.Focus1", daemon, interface: interface, member, arguments)
  }
  let targets = [
    try session.target("C echo", "bench.Echo", echo, interface: properties, "Get") { _ in name },
    try focusd("Get", properties, "Get") { _ in name },
    try focusd("Read", bindings, "Read") { _ in [key] },
    try focusd("Set", properties, "Set") { name + [.variant(.int32(Int32(truncatingIfNeeded: $0)))] },
    try focusd("Write", bindings, "Write") {
      [key, .variant(.int32(Int32(truncatingIfNeeded: ~$0))), .properties([])]
    },
  ]
  let benchmark = CallBenchmark(connection: session.connection, count: count)
  _ = try CallBenchmark(connection: session.connection, count: 500).run(targets)
  let results = try benchmark.run(targets)
  let floor = results[0].samples.median
  for (target, result) in zip(targets, results) {
    report.add("\(target.name): median", result.samples.median, "µs")
    report.add("\(target.name): p99", result.samples.quantile(0.99), "µs")
    report.add("\(target.name): processor in the service", result.processorTime[0], "µs")
  }
  for (index, limit) in [(1, 1.05), (2, 1.05), (3, 1.35), (4, 1.35)] {
    report.add("\(targets[index].name) to C echo", results[index].samples.median / floor, "", .atMost(limit))
  }
  var rates = targets.map { _ in Samples() }
  for _ in 0..<5 {
    for (index, target) in targets.enumerated() { rates[index].add(try benchmark.throughput(target)) }
  }
  for (index, limit) in [(1, 0.95), (2, 0.95), (3, 0.8), (4, 0.8)] {
    report.add(
      "\(targets[index].name), 64 under way, calls a second to C echo", rates[index].median / rates[0].median, "",
      .atLeast(limit))
  }
  try await echo.stop()
}
