internal import DBus
internal import DBusTypes
internal import Foundation
internal import TestSupport

/// A bus of its own with the daemon, the baselines beside it, and one connection that calls them.
struct Session {
  let bus: PrivateBus
  let connection: Connection
  let programs: String
  let daemon: ManagedProcess

  static let manager = path("/org/focusd/Focus1")
  static let focused = path("/org/focusd/Focus1/focused")

  static func path(_ text: String) -> ObjectPath { (try? ObjectPath(text)) ?? .root }

  init(_ bus: PrivateBus, _ programs: String) async throws {
    self.bus = bus
    self.programs = programs
    daemon = try await bus.start([programs + "/focusd"])
    connection = try Connection(to: .address(bus.address))
    while try connection.owner(of: BusName("org.focusd.Focus1")) == nil { usleep(1000) }
  }

  func baseline(_ arguments: String...) async throws -> ManagedProcess {
    let process = try await bus.start([programs + "/benchmark-baseline"] + arguments)
    _ = try await process.line("ready")
    return process
  }

  @discardableResult
  func call(
    _ path: ObjectPath, _ interface: String, _ member: String, _ arguments: [DBusValue] = []
  ) throws -> [DBusValue] {
    try connection.call(
      Message.methodCall(
        to: BusName("org.focusd.Focus1"), path: path, interface: InterfaceName(interface), member: MemberName(member),
        arguments)
    ).arguments()
  }

  func register(
    _ id: String, _ values: [(name: String, value: DBusValue)], _ options: [(name: String, value: DBusValue)] = []
  ) throws {
    try call(
      Session.manager, "org.focusd.Focus1.Manager", "Register",
      [.string(id), .properties(values), .properties(options)])
  }

  func focus(_ id: String) throws {
    try call(Session.path("/org/focusd/Focus1/field/" + id), "org.focusd.Focus1.Field", "Focus")
  }

  /// A call of `Properties` or `Bindings` on `focused`, or the same call to a baseline.
  func target(
    _ name: String, _ destination: String, _ process: ManagedProcess, interface: String, _ member: String,
    _ arguments: @escaping (Int) -> [DBusValue]
  ) throws -> CallTarget {
    let destination = try BusName(destination)
    let interface = try InterfaceName(interface)
    let member = try MemberName(member)
    return CallTarget(name: name, destination: destination, processes: [process.processID]) { number in
      try Message.methodCall(
        to: destination, path: Session.focused, interface: interface, member: member, arguments(number))
    }
  }
}
