internal import DBus
internal import DBusTypes
internal import Foundation
internal import TestSupport

/// What has a cost beside how long others wait for one call: disks, memory, starts.
func measureCosts(_ context: Group.Context, _ report: inout Report) async throws {
  try await measureSlowDisk(context, &report)
  try await measureFullDisk(context, &report)
  try await measureGrowth(context, &report)
  try await context.withSession { try measureDescriptors($0, &report) }
  try await measureLargeStarts(context, &report)
}

/// A disk whose syncs take a second.
private func measureSlowDisk(_ context: Group.Context, _ report: inout Report) async throws {
  let disk = ["LD_PRELOAD": context.programs + "/benchmark-slow-disk.so"]
  try await context.withSession(disk) { session in
    _ = try await session.baseline("echo", "bench.Echo")
    try session.register("small", "demo.Form.Number")
    let stage = try Stage(session.bus.address)
    try stage.call(Wire.register("big", [("demo.Big.Text", .text(1 << 20))]))
    let values = [WireValue.text(1 << 20), .text((1 << 20) - 8)]
    try await measureDelay("20 publishes of 1 MiB, syncs of 1 s", session, &report, .atMost(50)) { _ in
      for number in 1...20 { try stage.call(Wire.publish([("demo.Big.Text", values[number % 2])], on: "big")) }
    }
    try await measureDelay("  C echo: 20 of 1 MiB", from: "bench.Echo", session, &report) { _ in
      for _ in 0..<20 { try stage.call(Wire.carry(2, values[0])) }
    }
  }
}

/// A disk that is full: what is refused again and again.
private func measureFullDisk(_ context: Group.Context, _ report: inout Report) async throws {
  let (rounds, count) = (4, context.count(2_000, quick: 500))
  try await context.withSession { session in
    try session.register("small", "demo.Form.Number")
    let limited = try await session.bus.run(
      ["/usr/bin/prlimit", "--pid", "\(session.daemon)", "--fsize=0:unlimited"])
    guard limited.succeeded else { throw NotMeasured(description: "\(limited)") }
    let client = try WireConnection(address: session.bus.address)
    func refuse(_ round: Int) throws -> Double {
      let registrations = (0..<count).map { Wire.register("r\(round)_\($0)", [("demo.Full.K", .int32(1))]) }
      return try Window { try client.calls(registrations, mayFail: true) }.milliseconds
    }
    let first = try refuse(0)
    let before = Memory(of: session.daemon).written
    var last = 0.0
    for round in 1..<rounds { last = try refuse(round) }
    report.add(.costs, "\(count) refused Registers on a full disk, last to first", last / first, "", .atMost(1.5))
    let left: Double = Memory(of: session.daemon).written - before
    report.add(.limitMemory, "\((rounds - 1) * count) refused Registers, left", left / 1024, "MiB", .atMost(1))
  }
}

/// Memory that nobody is charged for.
private func measureGrowth(_ context: Group.Context, _ report: inout Report) async throws {
  try await context.withSession { session in
    let stage = try Stage(session.bus.address)
    func object(_ number: Int) -> WireObject {
      WireObject("/object", "demo.Bound", (0..<100).map { ("Name\(number)_\($0)", .byte(1)) })
    }
    try stage.call(Wire.register("bound", [], [("object", .path("/object"))]), object: object(0))
    try stage.call(Wire.field("bound", "Examine"), object: object(1))
    let before = Memory(of: session.daemon).written
    for number in 2..<402 { try stage.call(Wire.field("bound", "Examine"), object: object(number)) }
    let left: Double = Memory(of: session.daemon).written - before
    report.add(.limitMemory, "400 Examines with new names, left", left / 1024, "MiB", .atMost(1))
  }
  try await context.withSession { session in
    let client = try WireConnection(address: session.bus.address)
    let before = Memory(of: session.daemon).written
    let name = String(repeating: "k", count: 230)
    var (keys, bytes) = (0, 0)
    for field in 0..<1_024 {
      let values = (0..<256).map { (name: "demo.Long\(field).\(name)\($0)", value: WireValue.byte(1)) }
      guard (try? client.call(Wire.register("f\(field)", values))) != nil else { break }
      keys += 256
      bytes += values.reduce(0) { $0 + $1.name.utf8.count + 1 }
    }
    let grown: Double = Memory(of: session.daemon).written - before
    let allowed = Double(128 * keys + 2 * min(bytes, 16 << 20)) / 1024
    report.add(.limitMemory, "an owner's keys of 240 bytes, to what is allowed", grown / allowed, "", .atMost(1))
    report.add(.limitMemory, "an owner's keys of 240 bytes", grown / 1024, "MiB")
  }
}

/// Descriptors of calls to an owner that is silent while its object is looked at: of writes, and of commands behind some.
private func measureDescriptors(_ session: Session, _ report: inout Report) throws {
  let stage = try Stage(session.bus.address)
  var object = WireObject("/object", "demo.Bound", [("Name", .byte(1))])
  object.methods = ["Do"]
  try stage.call(Wire.register("bound", [], [("object", .path("/object"))]), object: object)
  let client = try Connection(to: .address(session.bus.address))
  let files = [DBusValue](repeating: .unixFD(UnixFD(owning: dup(0))), count: 16)
  try stage.send(Wire.field("bound", "Examine"))
  func set(_ value: DBusValue) throws -> OutgoingMessage {
    try bound(Call.properties, "Set", [.string("demo.Bound"), .string("Name"), .variant(value)])
  }
  let writes = try descriptors(session, client, of: set(.array(DBusArray(of: .unixFD, files))))
  report.add(.descriptors, "64 Sets with 16 each, to a silent owner", writes, "", .atMost(0))
  // A command is passed on behind a write that was passed on, and waits behind one that waits.
  for _ in 0..<2 { try client.send(set(.byte(2))) }
  let commands = try descriptors(session, client, of: bound("demo.Bound", "Do", files))
  report.add(.descriptors, "64 commands with 16 each, behind two Sets", commands, "", .atMost(64))
}

/// How many more the daemon has open while 64 calls like `message` wait.
private func descriptors(_ session: Session, _ client: Connection, of message: OutgoingMessage) throws -> Double {
  let before = session.descriptors
  for _ in 0..<64 { try client.send(message) }
  // It has received them all when it has answered what follows them.
  _ = try client.call(bound("org.freedesktop.DBus.Peer", "Ping"))
  return Double(session.descriptors - before)
}

private func bound(_ interface: String, _ member: String, _ arguments: [DBusValue] = []) throws -> OutgoingMessage {
  try .methodCall(
    to: BusName("org.focusd.Focus1"), path: ObjectPath(Wire.path(of: "bound")),
    interface: InterfaceName(interface), member: MemberName(member), arguments)
}

/// Starts beside much: names on the bus, and fields whose owners are there.
private func measureLargeStarts(_ context: Group.Context, _ report: inout Report) async throws {
  let options: Wire.Values = [("scope", .string("session"))]
  let key = "demo.Many.Number"
  Report.printHead("start to bus name", "ms")
  try await measureStart("20,000 bridges' names", context, &report, .atMost(250)) { stage in
    try stage.calls((0..<20_000).map { Wire.own("org.focusd.Bridge1.N\($0)") })
  }
  try await measureStart("65,440 session fields", context, &report, .atMost(1000)) { stage in
    for owner in 0..<16 { try stage.addOwner("s\(owner)_") { Wire.register($0, [(key, .int32(1))], options) } }
  }
  try await measureStart("126,790 fields", context, &report, .atMost(1000)) { stage in
    for owner in 0..<31 { try stage.addOwner("f\(owner)_") { Wire.register($0, [(key, .int32(1))]) } }
  }
}

private func measureStart(
  _ name: String, _ context: Group.Context, _ report: inout Report, _ limit: Limit, prepare: (Stage) throws -> Void
) async throws {
  try await PrivateBus.with { bus in
    let session = try await Session(bus, context.programs)
    let stage = try Stage(bus.address)
    try prepare(stage)
    try await session.end()
    let caller = try Caller(bus.address)
    var samples = Samples()
    for _ in 0..<context.count(10, quick: 3) {
      samples.add(try caller.timeToName("org.focusd.Focus1", [context.programs + "/focusd"], bus.environment) / 1000)
    }
    let echo = try caller.timeToName(
      "bench.Echo", [context.programs + "/benchmark-baseline", "echo", "bench.Echo"], bus.environment)
    report.add("limits", "with \(name)", .free, samples)
    report.add(.limitStart, "with \(name)", samples.median, "ms", limit)
    report.add(.limitStart, "  C echo: with \(name)", echo / 1000, "ms")
  }
}

extension WireConnection {
  /// Makes all calls, 64 of them under way at a time.
  /// - Throws: as `call` does.
  func calls(_ drafts: [WireDraft], mayFail: Bool = false) throws {
    var underWay: [UInt32] = []
    func finish() throws {
      for serial in underWay {
        let reply = try reply(to: serial)
        guard mayFail || reply.errorName == nil else {
          throw NotMeasured(description: "a call was refused: \(reply.errorName ?? ""): \(reply.text)")
        }
      }
      underWay = []
    }
    for draft in drafts {
      underWay.append(try send(draft))
      if underWay.count == 64 { try finish() }
    }
    try finish()
  }
}
