package import DBusTypes
package import TestSupport

/// Somebody who holds the daemon's name and answers each call when a forger has told its lies to the caller, who has
/// read them by then.
package final class BelatedDaemon: Sendable {
  /// What the forger says to each caller, as replies and in signals, before the truth.
  package struct Lies: Sendable {
    package var replies: [Lie]
    /// What the mirror's property `demo.Form.Number` is said to hold.
    package var number: Int32?

    package init(_ replies: [Lie], number: Int32? = nil) {
      self.replies = replies
      self.number = number
    }
  }

  private let peer: Peer
  private let questions: AsyncStream<Incoming>.Continuation
  /// The members that were called.
  package let calls = Observed<[String]>([])

  /// Holds the name until it stops; `truth` says what a call is answered with, by its member and arguments, and after
  /// which change of the number, if any, is told of once it is answered.
  /// - Throws: `RemoteError`, `DBusError`, `DeadlinePassed`.
  package init(
    on desktop: TestDesktop, _ lies: Lies,
    truth: @escaping @Sendable (String, [DBusValue]) -> (reply: [DBusValue], number: Int32?)
  ) async throws {
    let (peer, forger) = (try await desktop.peer(), try await desktop.peer())
    let (asked, questions) = AsyncStream.makeStream(of: Incoming.self)
    (self.peer, self.questions) = (peer, questions)
    peer.answer { [calls] call, _ in
      calls.update { $0.append(call.member) }
      questions.yield(call)
      return .hold
    }
    Task {
      for await call in asked {
        let answer = truth(call.member, call.arguments)
        try await forger.lie(lies, to: call.sender, about: peer.name)
        peer.perform { thread in
          thread.release { ($0.sender, $0.serial) == (call.sender, call.serial) ? .values(answer.reply) : .hold }
        }
        guard let number = answer.number else { continue }
        try await forger.lie(lies, to: call.sender, about: peer.name)
        peer.perform { $0.emitChanged(Focus1.focused, "demo.Form", [("Number", .int32(number))]) }
      }
    }
    try await peer.own(Focus1.name)
  }

  deinit { questions.finish() }

  /// Gives the name back, so that the next has it at once.
  /// - Throws: `DeadlinePassed`, `RemoteError`.
  package func stop() async throws {
    try await peer.askBus("ReleaseName", [.string(Focus1.name)])
    try await peer.leave()
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

extension Peer {
  /// Tells `lies` to `client`, and that it is this peer which holds the daemon's name, and waits until that has read it all.
  fileprivate func lie(_ lies: BelatedDaemon.Lies, to client: String, about daemon: String) async throws {
    try forge(
      to: client, "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged",
      [.string(Focus1.name), .string(daemon), .string(name)])
    if let number = lies.number {
      try forge(
        to: client, Focus1.focused, Focus1.properties, "PropertiesChanged",
        [.string("demo.Form"), .properties([(name: "Number", value: .int32(number))]), .strings([])])
    }
    try await forge(lies.replies, to: client, serials: 1...256)
    try await settle(client)
  }
}
