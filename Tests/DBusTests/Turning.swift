import BusSupport
import DBus
import DBusTypes
import EventLoop
import TestSupport
import Testing

/// The object and the interface that the test connections serve.
let testPath = ObjectPath(known: "/test")
let testInterface = InterfaceName(known: "test.Service")

extension EventLoop {
  /// Calls over an attached connection, turning until the reply is there.
  func call(_ connection: Connection, _ message: OutgoingMessage) throws -> Message {
    var result: Result<Message, DBusError>?
    try connection.call(message) { result = $0 }
    try turn(until: "reply") { result != nil }
    guard let result else { throw DeadlinePassed(description: "no reply") }
    return try result.get().success()
  }
}

extension Connection {
  convenience init(to bus: PrivateBus) throws { try self.init(to: .address(bus.address)) }

  /// A call of a method of `testInterface` at another test connection.
  func message(to other: Connection, _ member: String, _ arguments: [DBusValue] = []) throws -> OutgoingMessage {
    try .methodCall(
      to: other.uniqueName, path: testPath, interface: testInterface, member: MemberName(member), arguments)
  }

  /// A call of a method of a peer in another process.
  static func message(to peer: GDBusPeer, _ member: String, _ arguments: [DBusValue] = []) throws -> OutgoingMessage {
    try .methodCall(
      to: BusName(peer.uniqueName), path: ObjectPath(known: "/peer"), interface: InterfaceName(known: "test.Peer"),
      member: MemberName(member), arguments)
  }

  /// Answers each call with its own arguments.
  func serveEcho() {
    onMessage = { [weak self] message in
      guard message.kind == .methodCall, message.wantsReply else { return }
      let reply = Result { try message.reply(message.arguments()) }
      switch reply {
      case .success(let reply): _ = try? self?.send(reply)
      case .failure(let error):
        let error = (error as? DBusError) ?? DBusError(.failed, "\(error)")
        _ = try? self?.send(message.reply(error))
      }
    }
  }
}

/// Runs the tests of a suite on threads of their own, since they wait for the bus without giving theirs up.
struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await onOwnThreads(function)
  }
}

extension Trait where Self == OwnThreads {
  static var ownThreads: OwnThreads { OwnThreads() }
}
