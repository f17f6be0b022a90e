internal import DBus
internal import DBusTypes
internal import Glibc
internal import TestSupport

/// An object behind a field, in this process, on a connection and a thread of its own.
private final class BoundOwner: Sendable {
  static let xml = """
    <node><interface name="bench.Bound"><property name="Level" type="i" access="readwrite"/>
    <property name="Live" type="i" access="read">
    <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="false"/></property>
    <method name="Act"/></interface></node>
    """

  /// Serves until the bus is gone; `ready` is called once the object is there.
  static func serve(_ address: String, _ ready: (Connection) throws -> Void) throws {
    let loop = EventLoop()
    let connection = try Connection(to: .address(address))
    connection.onDisconnect = { loop.stop() }
    connection.onMessage = { message in
      guard message.kind == .methodCall, let member = message.member?.text else { return }
      let results: [DBusValue] =
        switch member {
        case "Introspect": [.string(xml)]
        case "GetAll": [.properties([("Level", .int32(1)), ("Live", .int32(2))])]
        case "Get": [.variant(.int32(2))]
        default: []
        }
      if message.wantsReply, let reply = try? message.reply(results) { _ = try? connection.send(reply) }
    }
    connection.attach(to: loop)
    try ready(connection)
    loop.run()
  }
}

/// What owners are asked for, against a C forwarder with DBusPendingCall.
func measureForwarding(_ session: Session, count: Int, _ report: inout Report) async throws {
  let address = session.bus.address
  let owner = fork()
  if owner == 0 {
    try? BoundOwner.serve(address) { connection in
      _ = try connection.requestName(BusName("bench.Owner"))
      let register = try Message.methodCall(
        to: BusName("org.focusd.Focus1"), path: Session.manager, interface: InterfaceName("org.focusd.Focus1.Manager"),
        member: MemberName("Register"),
        [
          .string("bound"), .properties([]),
          .properties([("object", .objectPath(Session.path("/bound"))), ("focus", .boolean(true))]),
        ])
      register.disableReply()
      try connection.send(register)
    }
    _exit(0)
  }
  defer {
    kill(owner, SIGKILL)
    waitpid(owner, nil, 0)
  }
  let forwarder = try await session.baseline("forward", "bench.Forward", "bench.Owner")
  while (try? session.call(
    Session.focused, "org.freedesktop.DBus.Properties", "Get", [.string("bench.Bound"), .string("Level")])) == nil
  {
    usleep(1000)
  }
  let properties = "org.freedesktop.DBus.Properties"
  let live: [DBusValue] = [.string("bench.Bound"), .string("Live")]
  let level: [DBusValue] = [.string("bench.Bound"), .string("Level")]
  let daemon = session.daemon
  let targets = [
    try session.target("C forwarder, method", "bench.Forward", forwarder, interface: "bench.Bound", "Act") { _ in [] },
    try session.target("Command", "org.focusd.Focus1", daemon, interface: "bench.Bound", "Act") { _ in [] },
    try session.target("C forwarder, Get", "bench.Forward", forwarder, interface: properties, "Get") { _ in live },
    try session.target("Live property", "org.focusd.Focus1", daemon, interface: properties, "Get") { _ in live },
    try session.target("Get of a bound binding", "org.focusd.Focus1", daemon, interface: properties, "Get") { _ in
      level
    },
  ]
  _ = try CallBenchmark(connection: session.connection, count: 200).run(targets)
  let results = try CallBenchmark(connection: session.connection, count: count).run(targets)
  for (target, result) in zip(targets, results) {
    report.add("\(target.name): median", result.samples.median, "µs")
    report.add("\(target.name): processor in the service", result.processorTime[0], "µs")
  }
  report.add("Command to C forwarder", results[1].samples.median / results[0].samples.median, "", .atMost(0.98))
  report.add("Live property to C forwarder", results[3].samples.median / results[2].samples.median, "", .atMost(0.98))
  try await forwarder.stop()
}
