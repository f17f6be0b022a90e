package import DBus
package import DBusTypes
import EventLoop
package import TestSupport

/// A method call that arrived at a peer.
package struct Incoming: Sendable, CustomStringConvertible {
  package let sender: String
  package let path: String
  package let interface: String
  package let member: String
  package let arguments: [DBusValue]
  package let wantsReply: Bool
  package let serial: UInt32

  init(_ message: Message) {
    sender = message.sender?.text ?? ""
    path = message.path?.text ?? ""
    interface = message.interface?.text ?? ""
    member = message.member?.text ?? ""
    arguments = (try? message.arguments()) ?? []
    wantsReply = message.wantsReply
    serial = message.serial
  }

  /// The key that a call of `Get`, `Set` or `GetAll` is about.
  package var key: String { arguments.prefix(2).compactMap(\.basicText).joined(separator: ".") }

  package var description: String { "\(interface).\(member)(\(arguments.map { "\($0)" }.joined(separator: ", ")))" }
}

/// What a peer does with a call.
package enum Answer: Sendable {
  case values([DBusValue])
  case error(String, String)
  /// Nothing, until the test says what.
  case hold
  /// The same reply two times.
  case twice([DBusValue])
  /// The connection is closed.
  case leave
}

/// The thread of a peer: its connection, and the loop that serves it.
package final class PeerThread {
  package typealias Handler = @Sendable (Incoming, PeerThread) -> Answer
  /// Who answers what is called, by path, and for nil what no other does.
  typealias Handlers = Locked<[String?: Handler]>

  let loop = EventLoop()
  package private(set) var connection: Connection?
  private let handlers: Handlers
  private var held: [(incoming: Incoming, message: Message)] = []
  /// Run when the call that is being handled has been answered.
  package var afterReply: (() -> Void)?
  private let note: (Peer.Event) -> Void

  init(address: String, handlers: Handlers, note: @escaping (Peer.Event) -> Void) throws {
    (self.handlers, self.note) = (handlers, note)
    let connection = try Connection(to: .address(address))
    self.connection = connection
    connection.onMessage = { [weak self] in self?.received($0) }
    connection.onDisconnect = { [weak loop] in loop?.stop() }
    connection.attach(to: loop)
  }

  package var name: String { connection?.uniqueName?.text ?? "" }

  package func leave() {
    connection?.onMessage = nil
    connection = nil
    handlers.withLock { $0 = [:] }
    held = []
  }

  private func received(_ message: Message) {
    switch message.kind {
    case .signal: note(.signal(Peer.Signal(message)))
    case .methodCall:
      let incoming = Incoming(message)
      guard let handler = handlers.withLock({ $0[incoming.path] ?? $0[nil] }) else {
        return answer(message, .error("org.freedesktop.DBus.Error.UnknownObject", "there is no \(incoming.path)"))
      }
      let answer = handler(incoming, self)
      if case .hold = answer { return held.append((incoming, message)) }
      self.answer(message, answer)
      let after = afterReply
      afterReply = nil
      after?()
    default: break
    }
  }

  private func answer(_ message: Message, _ answer: Answer) {
    do {
      switch answer {
      case .values(let values): if message.wantsReply { try connection?.send(message.reply(values)) }
      case .twice(let values):
        for _ in 0..<2 { try connection?.send(message.reply(values)) }
      case .error(let name, let text):
        if message.wantsReply { try connection?.send(message.reply(DBusError(ErrorName(name), text))) }
      case .leave: leave()
      case .hold: break
      }
    } catch {
      note(.problem("\(error)"))
    }
  }

  /// Answers all calls that are held, but those that `answer` holds still.
  package func release(_ answer: (Incoming) -> Answer) {
    let held = held
    self.held = []
    for (incoming, message) in held {
      let answer = answer(incoming)
      if case .hold = answer { self.held.append((incoming, message)) } else { self.answer(message, answer) }
    }
  }

  // MARK: What it sends

  package func flush() { connection?.flush() }

  /// Begins a call.
  func call(_ call: DaemonCall, patience: Duration, _ handler: @escaping (Peer.Outcome) -> Void) {
    do {
      guard let connection else { throw DBusError(.failed, "the peer has left") }
      try connection.call(call.message(), timeout: patience) { result in
        switch result {
        case .failure(let error): handler(.failure(RemoteError(name: RemoteError.noAnswer, message: error.message)))
        case .success(let reply):
          if let error = reply.error {
            handler(.failure(RemoteError(name: error.name.text, message: error.message)))
          } else {
            do {
              handler(.success(try reply.arguments()))
            } catch {
              handler(.failure(RemoteError(name: "local", message: "\(error)")))
            }
          }
        }
      }
    } catch {
      handler(.failure(RemoteError(name: "local", message: "\(error)")))
    }
  }

  /// Sends a call, and forgets it.
  package func send(_ call: DaemonCall) {
    do {
      try connection?.send(call.message())
    } catch {
      note(.problem("\(error)"))
    }
  }

  package func emit(_ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue]) {
    do {
      try connection?.send(
        .signal(
          path: ObjectPath(path), interface: InterfaceName(interface), member: MemberName(member), arguments))
    } catch {
      note(.problem("\(error)"))
    }
  }

  /// Emits `PropertiesChanged` of one interface.
  package func emitChanged(_ path: String, _ interface: String, _ changed: Named, invalidated: [String] = []) {
    emit(
      path, Focus1.properties, "PropertiesChanged",
      [.string(interface), .properties(changed), .strings(invalidated)])
  }
}

extension DaemonCall {
  /// - Throws: `SyntaxError` for an invalid name.
  package func message() throws -> OutgoingMessage {
    var message = try OutgoingMessage.methodCall(
      to: BusName(destination), path: ObjectPath(path), interface: interface.map { try InterfaceName($0) },
      member: MemberName(member), arguments)
    if !wantsReply { message.disableReply() }
    return message
  }
}

extension RemoteError {
  /// The name for a call that has got no answer in time.
  static let noAnswer = "no answer"

  /// The name without the prefixes of the contract's errors.
  package var shortName: String { Focus1.shortName(name) }

  /// Whether it is the answer of whoever was called, or of the bus.
  package var isRemote: Bool { name.contains(".") }

  /// Whether it tells that the daemon was not there to take the call, or went before it had answered.
  package var isAbsence: Bool { ["NoReply", "ServiceUnknown", "NameHasNoOwner"].contains(shortName) }
}

/// The short name of the error that `body` is refused with, or nil.
/// - Throws: what `body` throws that is not the error of a peer: a call without a reply is not refused.
package func refusal<Result>(
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
) async throws -> String? {
  do {
    _ = try await body()
    return nil
  } catch let error as RemoteError where error.isRemote {
    return error.shortName
  }
}
