internal import DBus
package import DBusTypes

/// What a forged reply says.
package enum Lie: Sendable {
  case reply([DBusValue])
  case error(String)
}

/// A client that answers calls that others were asked, and emits signals in their names: it guesses the numbers of calls.
extension Peer {
  /// Tells each of `lies` as the reply to every call of `victim` whose number is among `serials`, and waits until the bus
  /// has passed them on, or dropped them.
  /// - Throws: `DBusError`, `RemoteError`, `DeadlinePassed`.
  package func forge(_ lies: [Lie], to victim: String, serials: ClosedRange<UInt32> = 1...1024) async throws {
    for lie in lies {
      let bytes = try Forgery.reply(lie, to: victim)
      perform { thread in
        let messages = serials.map { serial in
          var bytes = bytes
          withUnsafeBytes(of: serial) { bytes.replaceSubrange(Forgery.replySerial, with: $0) }
          return OutgoingMessage(marshalled: bytes)
        }
        try? thread.connection?.send(messages)
      }
    }
    try await askBus("GetId")
  }

  /// Emits a signal to `victim` alone, whatever that has asked the bus for.
  /// - Throws: `DBusError`, `SyntaxError`.
  package func forge(
    to victim: String, _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue]
  ) throws {
    let signal = try Forgery.message(
      kind: 4,
      [
        (1, .objectPath(try ObjectPath(path))), (2, .string(interface)), (3, .string(member)), (6, .string(victim)),
      ], arguments)
    perform { _ = try? $0.connection?.send(OutgoingMessage(marshalled: signal)) }
  }

  /// Waits until `victim` has read all that was sent to it, or is gone.
  /// - Throws: `DeadlinePassed`.
  package func settle(_ victim: String) async throws {
    _ = try await begin(DaemonCall(to: victim, "/", Focus1.peer, "Ping")).outcome()
  }
}

/// Messages as the D-Bus specification has them on the wire: no library makes a reply to no call.
private enum Forgery {
  /// Where a reply has the number of the call: its first header field begins at 16, with its code and its type.
  static let replySerial = 20..<24

  static func reply(_ lie: Lie, to victim: String) throws -> [UInt8] {
    let fields: [(code: UInt8, value: DBusValue)] = [(5, .uint32(1)), (6, .string(victim))]
    switch lie {
    case .reply(let values): return try message(kind: 2, fields, values)
    case .error(let name): return try message(kind: 3, fields + [(4, .string(name))], [.string("forged")])
    }
  }

  static func message(
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
