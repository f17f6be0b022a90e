internal import DBus
internal import DBusTypes
internal import Foundation
internal import TestSupport

/// The daemon's memory: after some calls, and whether it grows with many.
func measureMemory(_ programs: String, calls: Int, _ report: inout Report) async throws {
  try await PrivateBus.with { bus in
    let fresh = try await Session(bus, programs)
    try fresh.register("one", [("demo.Form.Number", .int32(1))])
    try fresh.register("two", [("demo.Form.Number", .int32(2))])
    func mixed(_ range: Range<Int>) throws {
      let name: [DBusValue] = [.string("demo.Form"), .string("Number")]
      for number in range {
        switch number % 4 {
        case 0: try fresh.focus(number.isMultiple(of: 8) ? "one" : "two")
        case 1: try fresh.call(Session.focused, "org.freedesktop.DBus.Properties", "Get", name)
        case 2:
          try fresh.call(
            Session.focused, "org.freedesktop.DBus.Properties", "Set", name + [.variant(.int32(Int32(number)))])
        default: try fresh.call(Session.focused, "org.focusd.Focus1.Bindings", "ReadAll")
        }
      }
    }
    let process = fresh.daemon.processID
    try mixed(0..<5_000)
    report.add(
      "Private memory after 5,000 calls", ProcessFacts.memory(process, "Private_Dirty") / 1024, "MiB", .atMost(1.2))
    report.add("Memory with shared pages", ProcessFacts.memory(process, "Rss") / 1024, "MiB", .atMost(7))
    try mixed(5_000..<10_000)
    let before = ProcessFacts.memory(process, "Private_Dirty")
    try mixed(10_000..<calls)
    report.add(
      "Growth over \(calls) mixed calls", ProcessFacts.memory(process, "Private_Dirty") - before, "KiB", .atMost(64))
    try await fresh.daemon.stop()
  }
}

/// From the start of the process to its name on the bus, and one call of the command line.
func measureStart(_ programs: String, runs: Int, _ report: inout Report) async throws {
  try await PrivateBus.with { bus in
    let connection = try Connection(to: .address(bus.address))
    report.add("Start to bus name: median", try start(bus, connection, programs, runs), "ms", .atMost(3.5))
    let session = try await Session(bus, programs)
    for number in 0..<1_000 {
      try session.register("linger\(number)", [("demo.Form.Number", .int32(1))], [("linger", .boolean(true))])
    }
    try session.focus("linger0")
    let focusctl = try spawned(bus, runs, [programs + "/focusctl", "get", "demo.Form.Number"])
    let busctl = try spawned(
      bus, runs,
      [
        "/usr/bin/busctl", "--user", "get-property", "org.focusd.Focus1", "/org/focusd/Focus1/focused", "demo.Form",
        "Number",
      ])
    report.add("focusctl get: median", focusctl, "ms")
    report.add("focusctl get to busctl get-property", focusctl / busctl, "", .atMost(0.75))
    try await session.daemon.stop()
    report.add(
      "Start with 1,000 lingering fields: median", try start(bus, connection, programs, runs), "ms", .atMost(10))
  }
}

private func spawn(_ bus: PrivateBus, _ arguments: [String]) throws -> Process {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: arguments[0])
  process.arguments = Array(arguments.dropFirst())
  process.environment = bus.environment
  process.standardOutput = FileHandle.nullDevice
  process.standardError = FileHandle.nullDevice
  try process.run()
  return process
}

private func start(_ bus: PrivateBus, _ connection: Connection, _ programs: String, _ runs: Int) throws -> Double {
  let name = try BusName("org.focusd.Focus1")
  var samples = Samples()
  for _ in 0..<runs {
    let began = now()
    let process = try spawn(bus, [programs + "/focusd"])
    while try connection.owner(of: name) == nil {}
    samples.add((now() - began) / 1000)
    process.terminate()
    process.waitUntilExit()
  }
  return samples.median
}

private func spawned(_ bus: PrivateBus, _ runs: Int, _ arguments: [String]) throws -> Double {
  var samples = Samples()
  for _ in 0..<runs {
    let began = now()
    try spawn(bus, arguments).waitUntilExit()
    samples.add((now() - began) / 1000)
  }
  return samples.median
}
