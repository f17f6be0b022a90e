package import DBus
package import DBusTypes
package import TestSupport

/// A connection of its own that calls the daemon, one call or many at a time, and notes what it is sent.
///
/// One thread uses it at a time.
package final class Caller: @unchecked Sendable {
  private let loop = EventLoop()
  private let connection: Connection
  /// Called with each signal that arrives.
  package var onSignal: ((Message) -> Void)?
  /// How long it waits for the answer to a call.
  package var patience: Duration = .seconds(60)
  /// Answers the calls of others.
  package var onCall: ((Message) -> OutgoingMessage?)?

  package init(on bus: PrivateBus) throws {
    connection = try Connection(to: .address(bus.address))
    connection.attach(to: loop)
    connection.onMessage = { [weak self] message in
      switch message.kind {
      case .signal: self?.onSignal?(message)
      case .methodCall:
        if let answer = self?.onCall?(message) { _ = try? self?.connection.send(answer) }
      case .methodReturn, .error, .other: break
      }
    }
  }

  /// The connection's name on the bus.
  package var name: String { connection.uniqueName?.text ?? "" }

  /// Has every signal of the daemon sent to `onSignal`.
  /// - Throws: `DBusError` if the bus refuses.
  package func listen() throws { try connection.addMatch(MatchRule(sender: BusName(Focus1.name))) }

  /// Has the bus give the connection `name`.
  /// - Throws: `DBusError`; `CallError` if another has it.
  package func take(_ name: String) throws {
    guard try connection.requestName(BusName(name)) else {
      throw CallError(name: nil, message: "the name \(name) is taken")
    }
  }

  /// Sends `message` and forgets it.
  /// - Throws: `DBusError`.
  package func send(_ message: OutgoingMessage) throws { try connection.send(message) }

  /// A call of the daemon.
  /// - Throws: `SyntaxError` if a name is not valid.
  package static func message(
    _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue] = []
  ) throws -> OutgoingMessage {
    try OutgoingMessage.methodCall(
      to: BusName(Focus1.name), path: ObjectPath(path), interface: InterfaceName(interface),
      member: MemberName(member), arguments)
  }

  /// Asks the bus itself.
  /// - Throws: `DBusError`.
  package func ask(_ member: String, _ arguments: [DBusValue] = []) throws -> [DBusValue] {
    try connection.call(
      OutgoingMessage.methodCall(
        to: .bus, path: ObjectPath("/org/freedesktop/DBus"), interface: .bus, member: MemberName(member), arguments)
    ).arguments()
  }

  /// Begins a call; `handler` is called during a later wait.
  /// - Throws: `DBusError`.
  package func begin(_ message: OutgoingMessage, _ handler: @escaping (Result<[DBusValue], CallError>) -> Void) throws {
    try connection.call(message, timeout: patience) { result in
      do throws(DBusError) {
        let reply = try result.get().success()
        handler(.success((try? reply.arguments()) ?? []))
      } catch {
        handler(.failure(CallError(name: error.name == .timeout ? nil : error.name.text, message: error.message)))
      }
    }
  }

  /// Calls the daemon and waits for the answer.
  /// - Throws: `CallError`.
  @discardableResult
  package func call(
    _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue] = []
  ) throws -> [DBusValue] {
    var outcome: Result<[DBusValue], CallError>?
    try begin(Self.message(path, interface, member, arguments)) { outcome = $0 }
    wait { outcome != nil }
    return try outcome?.get() ?? []
  }

  /// Calls a method of the bus itself and waits for the answer.
  /// - Throws: `CallError`.
  @discardableResult
  package func askBus(
    _ member: String, _ arguments: [DBusValue] = [], of interface: String = "org.freedesktop.DBus"
  ) throws -> [DBusValue] {
    var outcome: Result<[DBusValue], CallError>?
    let message = try OutgoingMessage.methodCall(
      to: .bus, path: ObjectPath("/org/freedesktop/DBus"), interface: InterfaceName(interface),
      member: MemberName(member), arguments)
    try begin(message) { outcome = $0 }
    wait { outcome != nil }
    return try outcome?.get() ?? []
  }

  /// Waits until the bus has told everyone that the connection `name` has left.
  /// - Throws: `CallError`.
  package func waitForDeparture(of name: String) throws {
    while try askBus("NameHasOwner", [.string(name)]) == [.boolean(true)] {}
  }

  /// Writes all that was sent, and reads nothing.
  package func flush() { connection.flush() }

  /// Makes `count` calls with at most `window` of them under way, and returns how many were answered in which way: nil for
  /// success, else the error's name.
  /// - Throws: `DBusError`.
  package func calls(
    _ count: Int, window: Int = 64, whenAnswered: @escaping () -> Void = {}, _ message: (Int) throws -> OutgoingMessage
  ) throws -> [String?: Int] {
    var answers: [String?: Int] = [:]
    var answered = 0
    for number in 0..<count {
      try begin(message(number)) { result in
        if case .failure(let error) = result {
          answers[error.name ?? "no answer", default: 0] += 1
        } else {
          answers[nil, default: 0] += 1
        }
        answered += 1
        whenAnswered()
      }
      wait { number + 1 - answered < window }
    }
    wait { answered == count }
    return answers
  }

  /// Handles what arrives until `isOver` or the bus has gone.
  package func wait(until isOver: () -> Bool) {
    while !isOver(), connection.isConnected { loop.turn(waitingAtMost: .seconds(60)) }
  }

  @discardableResult
  package func register(
    _ id: String, _ values: [(name: String, value: DBusValue)] = [],
    _ options: [(name: String, value: DBusValue)] = []
  ) throws -> String {
    let answer = try call(
      Focus1.manager, Focus1.managerInterface, "Register",
      [.string(id), .properties(values), .properties(options)])
    return answer.first?.basicText ?? ""
  }

  /// Calls `Field.MEMBER` of the field `id`.
  /// - Throws: `CallError`.
  package func field(_ id: String, _ member: String, _ arguments: [DBusValue] = []) throws {
    try call(Focus1.field(id), Focus1.fieldInterface, member, arguments)
  }

  /// What `key` holds, at `focused` where no path is given; nil for nil.
  /// - Throws: `CallError`.
  package func read(_ key: String, at path: String = Focus1.focused) throws -> (value: DBusValue?, revision: UInt64) {
    let answer = try call(path, Focus1.bindings, "Read", [.string(key)])
    guard answer.count == 3, case .array(let values) = answer[0], case .uint64(let revision) = answer[2] else {
      return (nil, 0)
    }
    return (values.first?.variantContent, revision)
  }

  /// Writes, and returns the revision.
  /// - Throws: `CallError`.
  @discardableResult
  package func write(
    _ key: String, _ value: DBusValue, at path: String = Focus1.focused, revision: UInt64? = nil
  ) throws -> UInt64 {
    let options = revision.map { [(name: "revision", value: DBusValue.uint64($0))] } ?? []
    let answer = try call(
      path, Focus1.bindings, "Write", [.string(key), .variant(value), .properties(options)])
    guard case .uint64(let revision)? = answer.last else { return 0 }
    return revision
  }

  /// A property of the manager.
  /// - Throws: `CallError`.
  package func manager(_ property: String) throws -> DBusValue? {
    try call(Focus1.manager, Focus1.properties, "Get", [.string(Focus1.managerInterface), .string(property)])
      .first?.variantContent
  }

  /// The fields of a property of the manager, by id.
  /// - Throws: `CallError`.
  package func fields(_ property: String) throws -> [String] {
    guard case .array(let paths)? = try manager(property) else { return [] }
    return paths.compactMap { $0.basicText.map(Self.id) }
  }

  /// The owner of each field, by the fields' ids.
  /// - Throws: `CallError`.
  package func owners() throws -> [String: String] {
    let answer = try call(Focus1.manager, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
    guard case .dictionary(let objects)? = answer.first else { return [:] }
    var owners: [String: String] = [:]
    for object in objects.entries {
      guard let path = object.key.basicText, path.contains("/field/"), case .dictionary(let interfaces) = object.value,
        case .dictionary(let members)? = interfaces.entries.first(where: { $0.key.basicText == Focus1.fieldInterface })?
          .value
      else { continue }
      owners[Self.id(path)] = members.entries.first { $0.key.basicText == "Owner" }?.value.variantContent?.basicText
    }
    return owners
  }

  private static func id(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? "" }
}
