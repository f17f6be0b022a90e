internal import DBus
package import DBusTypes
package import TestSupport

/// A client that answers calls that others were asked, and emits signals in their names: it guesses the numbers of calls.
///
/// One thread uses it at a time.
package final class Forger: @unchecked Sendable {
  /// What a forged reply says.
  package enum Lie: Sendable {
    case reply([DBusValue])
    case error(String)
  }

  private let connection: Connection

  /// - Throws: `DBusError` if there is no bus.
  package init(on bus: PrivateBus) throws { connection = try Connection(to: .address(bus.address)) }

  /// The connection's name on the bus.
  package var name: String { connection.uniqueName?.text ?? "" }

  /// Has the bus give the connection `name`.
  /// - Throws: `DBusError`; `CallError` if another has it.
  package func take(_ name: String) throws {
    guard try connection.requestName(BusName(name)) else {
      throw CallError(name: nil, message: "the name \(name) is taken")
    }
  }

  /// Tells each of `lies` as the reply to every call of `victim` whose number is among `serials`, and waits until the bus
  /// has passed them on, or dropped them.
  /// - Throws: `DBusError`.
  package func answer(_ lies: [Lie], to victim: String, serials: ClosedRange<UInt32> = 1...1024) throws {
    for lie in lies {
      var bytes = try Self.reply(lie, to: victim)
      var messages: [OutgoingMessage] = []
      for serial in serials {
        withUnsafeBytes(of: serial) { number in
          for offset in 0..<4 { bytes[Self.replySerialOffset + offset] = number[offset] }
        }
        messages.append(OutgoingMessage(marshalled: bytes))
      }
      try connection.send(messages)
    }
    _ = try connection.owner(of: .bus)
  }

  /// Emits a signal to `victim` alone, whatever that has asked the bus for.
  /// - Throws: `DBusError`.
  package func emit(
    to victim: String, _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue]
  ) throws {
    let signal = try Self.message(
      kind: 4,
      [
        (1, .objectPath(try ObjectPath(path))), (2, .string(interface)), (3, .string(member)), (6, .string(victim)),
      ], arguments)
    try connection.send(OutgoingMessage(marshalled: signal))
  }

  /// Waits until `victim` has read all that was sent to it, or is gone.
  /// - Throws: `SyntaxError` if `victim` is no name.
  package func settle(_ victim: String) throws {
    let ping = try OutgoingMessage.methodCall(
      to: BusName(victim), path: .root, interface: .peer, member: MemberName("Ping"))
    _ = try? connection.call(ping, timeout: .seconds(60))
  }

  // MARK: Messages

  /// Where a reply has the number of the call: its first header field begins at 16, with its code and its type.
  private static let replySerialOffset = 20

  private static func reply(_ lie: Lie, to victim: String) throws -> [UInt8] {
    let fields: [(code: UInt8, value: DBusValue)] = [(5, .uint32(1)), (6, .string(victim))]
    switch lie {
    case .reply(let values): return try message(kind: 2, fields, values)
    case .error(let name): return try message(kind: 3, fields + [(4, .string(name))], [.string("forged")])
    }
  }

  /// A message as the D-Bus specification has it on the wire: no library makes one that answers no call.
  private static func message(
    kind: UInt8, _ fields: [(code: UInt8, value: DBusValue)], _ arguments: [DBusValue]
  ) throws -> [UInt8] {
    var fields = fields
    if !arguments.isEmpty {
      fields.append((8, .signature(try Signature(arguments.map(\.type.description).joined()))))
    }
    let header = try body([
      .array(
        try DBusArray(
          of: .structure([.byte, .variant]), fields.map { .structure([.byte($0.code), .variant($0.value)]) })
      )
    ])
    let body = try body(arguments)
    var bytes: [UInt8] = Array("l".utf8) + [kind, 1, 1]
    withUnsafeBytes(of: UInt32(body.count)) { bytes += $0 }
    withUnsafeBytes(of: UInt32(1)) { bytes += $0 }
    // The fields' length, and nothing between it and the first of them.
    bytes += header.prefix(4) + header.dropFirst(8)
    bytes += [UInt8](repeating: 0, count: (8 - bytes.count % 8) % 8)
    return bytes + body
  }

  /// The bytes of `values`, as they are in a message.
  private static func body(_ values: [DBusValue]) throws -> [UInt8] {
    let bytes = try OutgoingMessage.signal(
      path: .root, interface: InterfaceName("a.b"), member: MemberName("C"), values
    ).marshalled()
    let size = bytes[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
    return Array(bytes.suffix(size))
  }
}
