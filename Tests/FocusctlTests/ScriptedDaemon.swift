import DBus
import DBusTypes
import EventLoop
import Foundation
import TestSupport

/// Somebody who holds focusd's name and answers each call as a script says.
final class ScriptedDaemon: Sendable {
  /// What a call is answered with, in order.
  enum Answer: Sendable {
    case reply([DBusValue])
    case error(String)
    /// `PropertiesChanged` of the interface `demo.Form`, sent before what follows.
    indirect case signal(number: Int32, then: Answer)
  }

  /// The calls that came: object, method and arguments, in text.
  let calls = Observed<[String]>([])

  /// Holds the name on `bus` until that ends.
  init(on bus: PrivateBus, _ script: [Answer]) async throws {
    let address = bus.address
    let calls = calls
    let isReady = Observed(false)
    Thread.detachNewThread {
      let loop = EventLoop()
      var script = script[...]
      guard let connection = try? Connection(to: .address(address)), let name = try? BusName("org.focusd.Focus1") else {
        return
      }
      connection.onDisconnect = { loop.stop() }
      connection.onMessage = { [unowned connection] message in
        guard message.kind == .methodCall, message.interface?.text != "org.freedesktop.DBus.Peer" else { return }
        let text = ScriptedDaemon.text(of: message)
        calls.update { $0.append(text) }
        try? ScriptedDaemon.give(script.popFirst() ?? .error("no.Script"), to: message, on: connection)
      }
      connection.attach(to: loop)
      guard (try? connection.requestName(name)) == true else { return }
      isReady.update { $0 = true }
      loop.run()
      connection.detach()
    }
    _ = try await isReady.wait(for: "the scripted daemon") { $0 ? true : nil }
  }

  private static func text(of message: Message) -> String {
    let arguments = (try? message.arguments()) ?? []
    let object = message.path?.elements.last ?? ""
    return ([String(object), message.member?.text ?? ""] + arguments.map(\.plainText)).joined(separator: " ")
  }

  private static func give(_ answer: Answer, to call: Message, on connection: Connection) throws {
    switch answer {
    case .reply(let values): try connection.send(try call.reply(values))
    case .error(let name): try connection.send(call.reply(DBusError(ErrorName(name), "because")))
    case .signal(let number, let next):
      guard let path = call.path else { return }
      try connection.send(
        try .propertiesChanged(
          path: path, interface: try InterfaceName("demo.Form"), changed: [("Number", .int32(number))]))
      try give(next, to: call, on: connection)
    }
  }

  /// A reply to `Read`: the value is of the field `text1`.
  static func reading(_ value: DBusValue?, revision: UInt64 = 0) throws -> Answer {
    .reply([
      .variants(value.map { [$0] } ?? []),
      .objectPath(value == nil ? .root : try ObjectPath("/org/focusd/Focus1/field/text1")), .uint64(revision),
    ])
  }

  /// A reply to `Write`.
  static func written(_ value: DBusValue) throws -> Answer {
    .reply([.variant(value), .objectPath(try ObjectPath("/org/focusd/Focus1/field/text1")), .uint64(9)])
  }

  /// A reply to `ReadAll`.
  static func readingAll(number: Int32) throws -> Answer {
    let type = DBusType.structure([.variant, .objectPath, .uint64])
    let entry = DBusDictionary.Entry(
      key: .string("demo.Form.Number"),
      value: .structure([.variant(.int32(number)), .objectPath(.root), .uint64(1)]))
    return .reply([.dictionary(try DBusDictionary(key: .string, value: type, [entry]))])
  }
}

extension DBusValue {
  /// The value in short, without types but for variants' content.
  fileprivate var plainText: String {
    switch self {
    case .dictionary(let dictionary):
      "{" + dictionary.entries.map { "\($0.key.plainText):\($0.value.plainText)" }.joined(separator: ",") + "}"
    case .variant(let content): "\(content.type)=\(content.plainText)"
    default: basicText ?? "…"
    }
  }
}
