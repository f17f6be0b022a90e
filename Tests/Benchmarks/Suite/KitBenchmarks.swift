internal import DBus
internal import DBusTypes
internal import EventLoop
internal import FocusKit
internal import TestSupport

private struct NumberKey: FocusedValueKey {
  typealias Value = Binding<Int32>
  static let name = "demo.Form.Number"
}

private struct PlainKey: FocusedValueKey {
  typealias Value = Int32
  static let name = "demo.Form.Number"
}

extension FocusedValues {
  fileprivate var number: NumberKey.Value? {
    get { self[NumberKey.self] }
    set { self[NumberKey.self] = newValue }
  }

  fileprivate var plain: PlainKey.Value? {
    get { self[PlainKey.self] }
    set { self[PlainKey.self] = newValue }
  }
}

/// Reads of a focused value through the property wrappers, and how many messages these cause on the bus.
func measureKit(_ context: Group.Context, _ report: inout Report) async throws {
  try await context.withSession { session in
    try session.register("one", "demo.Form.Number")
    try session.caller.time([.focus("one")], 1)
    let client = FocusClient(address: session.bus.address)
    let binding = FocusedBinding(\.number, client: client)
    let value = FocusedValue(\.plain, client: client)
    for await number in client.changes(of: \.number) where number != nil { break }
    let traffic = try Traffic(session.bus.address)
    session.place(.pinned)
    try session.caller.time([.focus("one")], 1)
    guard try traffic.messages() > 0 else { throw NotMeasured(description: "the monitor does not see a call") }
    Report.printHead("a read through FocusKit", "ns")
    for (name, read) in [
      ("@FocusedBinding", { binding.wrappedValue }), ("@FocusedValue", { value.wrappedValue }),
    ] as [(String, () -> Int32?)] {
      var samples = Samples()
      var sum = 0
      for _ in 0..<context.count(2_000, quick: 500) {
        let began = ContinuousClock.now
        for _ in 0..<1_000 { sum += Int(read() ?? 0) }
        samples.add((ContinuousClock.now - began) / .nanoseconds(1_000))
      }
      guard sum != 0 else { throw NotMeasured(description: "the value was nil") }
      report.add("kit", name, .pinned, samples)
      report.add(.kit, name, samples.median, "ns", .atMost(100))
    }
    report.add(.kit, "messages on the bus meanwhile", Double(try traffic.messages()), "", .atMost(0))
    try await measureChanges(context, session, client, &report)
    try await measureWrites(context, client, binding, &report)
    try await measureFields(context, session.bus.address, &report)
  }
}

/// A write of another connection until `changes(of:)` tells it, to when a C subscriber has the same signal.
private func measureChanges(
  _ context: Group.Context, _ session: Session, _ client: FocusClient, _ report: inout Report
) async throws {
  let set = Call.focused(Call.properties, "Set", "ssn", "demo.Form", "Number")
  let subscriber = try Subscribers(
    session.bus.address,
    """
    type='signal',path='/org/focusd/Focus1/focused',interface='org.freedesktop.DBus.Properties',arg0='demo.Form'
    """)
  try subscriber.grow(to: 1)
  // A value that none of the writes below begins with: a write that changes nothing is not told.
  _ = try await client.write(\.number, -1)
  // On a thread of its own: this one waits for the reply too.
  let (moments, told) = AsyncStream.makeStream(of: ContinuousClock.Instant.self)
  let follower = Task { [changes = client.changes(of: \.number)] in
    for await _ in changes { told.yield(.now) }
  }
  defer { follower.cancel() }
  var changes = moments.makeAsyncIterator()
  _ = await changes.next()
  var (all, ratios) = (Samples(), Samples())
  for _ in 0..<context.count(200, quick: 40) {
    var (ours, theirs) = (Samples(), Samples())
    for _ in 0..<20 {
      let began = ContinuousClock.now
      theirs.add(try subscriber.time([set], 1))
      if let moment = await changes.next() { ours.add((moment - began) / .microseconds(1)) }
    }
    all.add(ours.median)
    ratios.add(ours.median / theirs.median)
  }
  report.add("kit", "changes(of:)", .pinned, all)
  report.add(.kit, "changes(of:) of another's write, to a C subscriber", ratios.median, "", .atMost(1.1))
}

/// Writes that are queued faster than the daemon takes them.
private func measureWrites(
  _ context: Group.Context, _ client: FocusClient, _ binding: FocusedBinding<Int32>, _ report: inout Report
) async throws {
  let changes = client.changes(of: \.number)
  let began = ContinuousClock.now
  for number in 1...20_000 as ClosedRange<Int32> { binding.wrappedValue = number }
  for await number in changes where number == 20_000 { break }
  while try await client.read(\.number) != 20_000 {}
  report.add(.kit, "20,000 queued writes", (ContinuousClock.now - began) / .milliseconds(1), "ms", .atMost(1000))
}

/// Changes of an array whose elements are published by a field each.
private func measureFields(_ context: Group.Context, _ address: String, _ report: inout Report) async throws {
  let count = context.count(2_000, quick: 200)
  let client = FocusClient(address: address)
  let state = State(wrappedValue: [Int32](repeating: 1, count: count))
  let fields = (0..<count).map { index in
    FocusField(client: client).focusedValue(\.number, state.projectedValue[index]).register()
  }
  for field in fields { try await field.registered() }
  var samples = Samples()
  for index in 0..<count {
    let began = ContinuousClock.now
    state.projectedValue[index].wrappedValue = Int32(index + 2)
    samples.add((ContinuousClock.now - began) / .microseconds(1))
  }
  report.add(.kit, "a change of an array with \(count) fields", samples.median, "µs", .atMost(2000))
  withExtendedLifetime(fields) {}
}

/// Sees every message on a bus, as `dbus-monitor` does.
private final class Traffic {
  private let loop = EventLoop()
  private let monitor: Connection
  private let marker: Connection
  private var seen = 0
  private var marks = 0

  init(_ address: String) throws {
    monitor = try Connection(to: .address(address))
    marker = try Connection(to: .address(address))
    let path = try ObjectPath("/org/freedesktop/DBus")
    _ = try monitor.call(
      OutgoingMessage.methodCall(
        to: .bus, path: path, interface: InterfaceName("org.freedesktop.DBus.Monitoring"),
        member: MemberName("BecomeMonitor"), [.array(DBusArray(of: .string, [])), .uint32(0)]))
    let mark = try MemberName("GetId")
    monitor.onMessage = { [unowned self] message in
      // Of the marker's call there is the reply as well.
      if message.member == mark { marks += 1 } else { seen += 1 }
    }
    monitor.attach(to: loop)
  }

  /// How many messages there were since it was asked last.
  /// - Throws: `DBusError`, `NotMeasured`.
  func messages() throws -> Int {
    let before = marks
    _ = try marker.busID()
    for _ in 0..<100 where marks == before { loop.turn(waitingAtMost: .seconds(1)) }
    guard marks > before else { throw NotMeasured(description: "the monitor sees nothing") }
    defer { seen = 0 }
    return seen
  }
}
