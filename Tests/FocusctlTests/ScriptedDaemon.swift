import BusSupport
import DBus
import DBusTypes
import EventLoop
import TestSupport

/// Somebody who holds focusd's name and answers each call as a script says.
final class ScriptedDaemon: Sendable {
  /// What a call is answered with, in order.
  enum Answer: Sendable {
    case reply([DBusValue])
    case error(String)
    /// `PropertiesChanged` of the interface `demo.Form`, sent before what follows.
    indirect case signal(number: Int32, then: Answer)

    /// What a reply contains.
    var values: [DBusValue] { if case .reply(let values) = self { values } else { [] } }
  }

  /// The calls that came: object, method and arguments, in text.
  let calls = Observed<[String]>([])
  /// The calls so far without those for keys, which are asked for, too, if an answer takes more than 100 ms.
  var questions: [String] { calls.now.filter { !$0.hasSuffix(" Keys") } }

  private let peer: Peer

  /// Holds the name as long as it is there.
  init(on desktop: TestDesktop, _ script: [Answer]) async throws {
    peer = try await desktop.peer()
    let rest = Locked(script[...])
    peer.answer { [calls] call, thread in
      guard call.interface != Focus1.peer else { return .values([]) }
      let object = call.path.split(separator: "/").last.map(String.init) ?? ""
      let text = ([object, call.member] + call.arguments.map(\.plainText)).joined(separator: " ")
      calls.update { $0.append(text) }
      return Self.answer(rest.withLock { $0.popFirst() } ?? .error("no.Script"), to: call, thread)
    }
    try await peer.own(Focus1.name)
  }

  private static func answer(_ answer: Answer, to call: Incoming, _ thread: PeerThread) -> BusSupport.Answer {
    switch answer {
    case .reply(let values): return .values(values)
    case .error(let name): return .error(name, "because")
    case .signal(let number, let next):
      thread.emitChanged(call.path, "demo.Form", [("Number", .int32(number))])
      return self.answer(next, to: call, thread)
    }
  }

  /// A reply to `Read`: the value is of the field `text1`.
  static func reading(_ value: DBusValue?, revision: UInt64 = 0) throws -> Answer {
    .reply([
      .variants(value.map { [$0] } ?? []),
      .objectPath(value == nil ? .root : ObjectPath(known: Focus1.field("text1"))), .uint64(revision),
    ])
  }

  /// What the update of a number by five is answered, if another program was faster once, and by which calls it stays in its
  /// field then; it comes to 15.
  static func contestedUpdate() throws -> (answers: [Answer], calls: [String]) {
    let field = "field:o=\(Focus1.field("text1"))"
    return (
      [
        try reading(.int32(1), revision: 3), .error("org.focusd.Focus1.Error.Conflict"),
        try reading(.int32(10), revision: 4), try written(.int32(15)),
      ],
      [
        "focused Read demo.Form.Number", "text1 Write demo.Form.Number i=6 {revision:t=3,\(field)}",
        "text1 Read demo.Form.Number", "text1 Write demo.Form.Number i=15 {revision:t=4,\(field)}",
      ]
    )
  }

  /// A reply to `Write`.
  static func written(_ value: DBusValue) throws -> Answer {
    .reply([.variant(value), .objectPath(ObjectPath(known: Focus1.field("text1"))), .uint64(9)])
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
