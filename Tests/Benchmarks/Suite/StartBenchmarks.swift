internal import CBenchmarkClient
internal import DBus
import DBusTypes
internal import Foundation
internal import TestSupport

/// Something that is started anew each time, and the most milliseconds that it should take.
struct Run {
  let name: String
  var limit: Limit?
  let time: () throws -> Double
}

/// From the start of the process to its name on the bus, with nothing saved and with a thousand fields.
func measureStart(_ context: Group.Context, _ report: inout Report) async throws {
  try await PrivateBus.with { bus in
    let session = try await Session(bus, context.programs)
    let lingering = [Call.register("f", "linger", "demo.Form.Number", lingers: true)]
    try session.caller.flood(lingering, 1_000)
    try await session.end()
    let full = bus.directory + "/state"
    let empty = bus.directory + "/empty"
    let caller = try Caller(bus.address)
    func timeStart(_ state: String) throws -> Double {
      let environment = bus.environment.merging(["XDG_STATE_HOME": state]) { $1 }
      return try caller.timeToName("org.focusd.Focus1", [context.programs + "/focusd"], environment) / 1000
    }
    let runs = [
      Run(name: "C echo") {
        try caller.timeToName(
          "bench.Echo", [context.programs + "/benchmark-baseline", "echo", "bench.Echo"], bus.environment) / 1000
      },
      Run(name: "with an empty state") { try timeStart(empty) },
      Run(name: "with 1,000 lingering fields", limit: .atMost(10)) { try timeStart(full) },
      Run(name: "for the first time, with no state file") {
        try? FileManager.default.removeItem(atPath: bus.directory + "/none")
        return try timeStart(bus.directory + "/none")
      },
    ]
    let busDaemon = Int32(try Connection(to: .address(bus.address)).processID(of: .bus))
    defer { bench_pin(getpid(), false) }
    let ratios = try time("start to bus name", .start, runs, context.count(100, quick: 15), &report) { mode in
      for process in [getpid(), busDaemon] { bench_pin(process, mode == .pinned) }
    }
    for (index, run) in runs.enumerated().dropFirst() {
      report.add(
        .start, run.name + ", to C echo", ratios[.pinned]?[index] ?? .nan, free: ratios[.free]?[index],
        index == 1 ? .atMost(1.4) : nil)
    }
  }
}

/// One call of the command line, against systemd's.
func measureCommandLine(_ context: Group.Context, _ report: inout Report) async throws {
  try await context.withSession { session in
    try session.register("one", "demo.Form.Number")
    try session.caller.time([.focus("one")], 1)
    let environment = session.bus.environment
    let runs = [
      Run(name: "busctl get-property") {
        try timeRun(
          [
            "/usr/bin/busctl", "--user", "get-property", "org.focusd.Focus1", "/org/focusd/Focus1/focused",
            "demo.Form", "Number",
          ], environment) / 1000
      },
      Run(name: "focusctl get") {
        try timeRun([context.programs + "/focusctl", "get", "demo.Form.Number"], environment) / 1000
      },
    ]
    let ratios = try time("one run", .commandLine, runs, context.count(300, quick: 50), &report) {
      session.place($0)
    }
    report.add(
      .commandLine, "to busctl get-property", ratios[.pinned]?[1] ?? .nan, free: ratios[.free]?[1], .atMost(0.75))
  }
}

/// Times each in turn, in milliseconds.
/// - Returns: the median ratio of each to the first.
func time(
  _ head: String, _ measure: Measure, _ runs: [Run], _ count: Int, _ report: inout Report, place: (Mode) -> Void
) throws -> [Mode: [Double]] {
  var medians: [Mode: [Double]] = [:]
  var ratios: [Mode: [Double]] = [:]
  Report.printHead(head, "ms")
  for mode in Mode.allCases {
    place(mode)
    for run in runs { _ = try run.time() }
    var samples = runs.map { _ in Samples() }
    var toFirst = runs.map { _ in Samples() }
    for _ in 0..<count {
      let times = try runs.map { try $0.time() }
      for (index, time) in times.enumerated() {
        samples[index].add(time)
        toFirst[index].add(time / times[0])
      }
    }
    for (index, run) in runs.enumerated() {
      report.add(head, run.name, mode, samples[index], ratio: index == 0 ? nil : toFirst[index].median)
    }
    medians[mode] = samples.map(\.median)
    ratios[mode] = toFirst.map(\.median)
  }
  for (index, run) in runs.enumerated() {
    report.add(measure, run.name, medians[.pinned]?[index] ?? .nan, "ms", free: medians[.free]?[index], run.limit)
  }
  return ratios
}
