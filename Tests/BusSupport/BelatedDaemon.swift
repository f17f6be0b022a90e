internal import DBus
package import DBusTypes
package import TestSupport

/// Somebody who holds the daemon's name and answers each call when a forger has told its lies to the caller, who has
/// read them by then.
package final class BelatedDaemon: Sendable {
  /// What the forger says to each caller, as replies and in signals, before the truth.
  package struct Lies: Sendable {
    package var replies: [Forger.Lie]
    /// What the mirror's property `demo.Form.Number` is said to hold.
    package var number: Int32?

    package init(_ replies: [Forger.Lie], number: Int32? = nil) {
      self.replies = replies
      self.number = number
    }
  }

  private struct State {
    var isReady = false
    var isStopped = false
    var isOver = false
  }

  private let state = Observed(State())
  private let bus: PrivateBus
  /// The members that were called.
  package let calls = Observed<[String]>([])

  /// Holds the name on `bus` until that ends; `truth` says what a call is answered with, by its member and arguments, and
  /// after which change of the number, if any, is told of once it is answered.
  /// - Throws: `DBusError`, `DeadlinePassed`.
  package init(
    on bus: PrivateBus, _ lies: Lies,
    truth: @escaping @Sendable (String, [DBusValue]) -> (reply: [DBusValue], number: Int32?)
  ) async throws {
    self.bus = bus
    Task { [calls, state] in
      defer { state.update { $0.isOver = true } }
      try await onThread {
        let (caller, forger) = (try Caller(on: bus), try Forger(on: bus))
        caller.onCall = { [unowned caller] call in
          guard let member = call.member?.text, let client = call.sender?.text, member != "Stop" else { return nil }
          calls.update { $0.append(member) }
          let answer = truth(member, (try? call.arguments()) ?? [])
          try? forger.lie(lies, to: client, about: caller.name)
          if let reply = try? call.reply(answer.reply) { try? caller.send(reply) }
          if let number = answer.number {
            try? forger.lie(lies, to: client, about: caller.name)
            if let signal = try? Self.changed(number) { try? caller.send(signal) }
          }
          return nil
        }
        try caller.take(Focus1.name)
        state.update { $0.isReady = true }
        caller.wait { state.now.isStopped }
      }
    }
    _ = try await state.wait(for: "the belated daemon") { $0.isReady ? true : nil }
  }

  /// Gives the name back.
  /// - Throws: `DBusError`, `DeadlinePassed`.
  package func stop() async throws {
    state.update { $0.isStopped = true }
    try await onThread { [bus] in
      let caller = try Caller(on: bus)
      try caller.send(Caller.message(Focus1.manager, Focus1.managerInterface, "Stop"))
      _ = try caller.ask("GetId")
    }
    _ = try await state.wait(for: "the belated daemon's end") { $0.isOver ? true : nil }
  }

  private static func changed(_ number: Int32) throws -> OutgoingMessage {
    try .propertiesChanged(
      path: ObjectPath(Focus1.focused), interface: InterfaceName("demo.Form"), changed: [("Number", .int32(number))])
  }

  /// What `Read` says, and but for an array of the value `Write`.
  package static func reading(_ number: Int32, isWritten: Bool = false) -> [DBusValue] {
    let value = DBusValue.variant(.int32(number))
    return [
      isWritten ? value : .variants([.int32(number)]), .objectPath(ObjectPath(known: Focus1.field("a"))), .uint64(9),
    ]
  }

  /// What `ReadAll` says.
  package static func readingAll(_ number: Int32) -> [DBusValue] {
    let reading = DBusValue.structure(reading(number, isWritten: true))
    let dictionary = DBusDictionary(
      known: .string, .structure([.variant, .objectPath, .uint64]),
      [.init(key: .string("demo.Form.Number"), value: reading)])
    return [.dictionary(dictionary)]
  }
}

extension Forger {
  /// Tells `lies` to `client`, and that it is this connection which holds the daemon's name, and waits until that has read
  /// it all.
  fileprivate func lie(_ lies: BelatedDaemon.Lies, to client: String, about daemon: String) throws {
    try emit(
      to: client, "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged",
      [.string(Focus1.name), .string(daemon), .string(name)])
    if let number = lies.number {
      try emit(
        to: client, Focus1.focused, Focus1.properties, "PropertiesChanged",
        [.string("demo.Form"), .properties([(name: "Number", value: .int32(number))]), .strings([])])
    }
    try answer(lies.replies, to: client, serials: 1...256)
    try settle(client)
  }
}
