package import Foundation
package import TestSupport

/// A client that sends whatever it likes, of any size, as fast as a socket takes it, and decodes nothing that it is sent.
///
/// One thread uses it at a time.
package final class Glutton {
  /// How a call ended.
  package struct Answer: Sendable, CustomStringConvertible {
    /// The error's last name; nil for success.
    package let error: String?
    /// The error's message.
    package let message: String
    /// What came back, as bytes.
    package let body: [UInt8]

    init(_ reply: WireMessage) {
      error = reply.errorName.map { $0.split(separator: ".").last.map(String.init) ?? $0 }
      message = reply.errorName == nil ? "" : reply.text
      body = reply.body
    }

    /// Whether the daemon refuses it as past a limit, with the error that the contract gives it.
    package var isPastLimit: Bool { error == "LimitsExceeded" }

    package var description: String { error.map { "\($0): \(message)" } ?? "success, \(body.count) bytes" }
  }

  private let connection: WireConnection
  /// The members of the daemon's signals that have arrived, if it listens.
  package private(set) var signals: [String] = []
  /// An object of its own, which answers while the connection waits for something.
  package var object: WireObject?

  package init(on bus: PrivateBus) throws { connection = try WireConnection(address: bus.address) }

  /// The connection's name on the bus.
  package var name: String { connection.name }

  /// Has every signal of the daemon sent to this connection.
  /// - Throws: `WireError`.
  package func listen() throws {
    let match = WireDraft.call(
      to: "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch",
      [.string("type='signal',sender='\(Focus1.name)'")])
    _ = try answer(to: begin(match))
  }

  /// Sends a call, and waits for nothing.
  /// - Throws: `WireError`.
  @discardableResult
  package func begin(_ draft: WireDraft) throws -> UInt32 { try connection.send(draft) }

  /// Waits for the answer to what `begin` sent; answers to others that come before it are lost.
  /// - Throws: `WireError`.
  package func answer(to serial: UInt32) throws -> Answer {
    while true {
      let message = try connection.receive()
      if message.replySerial == serial { return Answer(message) }
      if message.kind == .signal { signals.append(message.member) }
      if let reply = object?.answer(to: message) { try begin(reply) }
    }
  }

  /// Answers calls of its object until it has answered `count`.
  /// - Throws: `WireError`.
  package func serve(calls count: Int) throws {
    var answered = 0
    while answered < count {
      guard let reply = object?.answer(to: try connection.receive()) else { continue }
      try begin(reply)
      answered += 1
    }
  }

  /// Calls the daemon, and waits for the answer.
  /// - Throws: `WireError`.
  package func call(
    _ path: String, _ interface: String, _ member: String, _ arguments: [WireValue] = []
  ) throws -> Answer {
    try answer(to: begin(.call(to: Focus1.name, path, interface, member, arguments)))
  }

  /// Sends calls one behind the other, at most `window` of them unanswered, and returns how often each answer came.
  /// - Throws: `WireError`.
  package func calls(_ count: Int, window: Int = 64, _ draft: (Int) -> WireDraft) throws -> [String?: Int] {
    var answers: [String?: Int] = [:]
    var begun: [UInt32] = []
    for number in 0..<count {
      begun.append(try begin(draft(number)))
      guard begun.count == window || number == count - 1 else { continue }
      for serial in begun { answers[try answer(to: serial).error, default: 0] += 1 }
      begun = []
    }
    return answers
  }
}

/// Values by their keys.
package typealias WireValues = [(name: String, value: WireValue)]

extension Glutton {
  package func register(_ id: String, _ values: WireValues = [], _ options: WireValues = []) throws -> Answer {
    try answer(to: begin(.register(id, values, options)))
  }

  package func publish(_ values: WireValues, on id: String) throws -> Answer {
    try field(id, "Publish", [.properties(values), .properties()])
  }

  package func field(_ id: String, _ member: String, _ arguments: [WireValue] = []) throws -> Answer {
    try call(Focus1.field(id), Focus1.fieldInterface, member, arguments)
  }

  package func write(
    _ key: String, _ value: WireValue, _ options: WireValues = [], at path: String = Focus1.focused
  ) throws -> Answer {
    try call(path, Focus1.bindings, "Write", [.string(key), .variant(value), .properties(options)])
  }

  package func set(_ key: String, _ value: WireValue, at path: String = Focus1.focused) throws -> Answer {
    let dot = key.lastIndex(of: ".") ?? key.startIndex
    return try call(
      path, Focus1.properties, "Set",
      [.string(String(key[..<dot])), .string(String(key[dot...].dropFirst())), .variant(value)])
  }

  /// `arguments` is an `av`.
  package func invoke(_ command: String, _ arguments: WireValue, at path: String = Focus1.focused) throws -> Answer {
    try call(path, Focus1.bindings, "Invoke", [.string(command), arguments, .properties()])
  }

  /// All that the daemon shows: the objects with their properties, and the focused values with their revisions.
  ///
  /// As `Data`, which compares megabytes at once in a debug build, too.
  /// - Throws: `WireError`.
  package func view() throws -> [Data] {
    [
      Data(try call(Focus1.manager, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects").body),
      Data(try call(Focus1.focused, Focus1.bindings, "ReadAll").body),
    ]
  }

  /// The same for one field.
  /// - Throws: `WireError`.
  package func view(of id: String) throws -> [Data] {
    [
      Data(try call(Focus1.field(id), Focus1.properties, "GetAll", [.string("")]).body),
      Data(try call(Focus1.field(id), Focus1.bindings, "ReadAll").body),
    ]
  }
}

extension WireDraft {
  package static func register(_ id: String, _ values: WireValues = [], _ options: WireValues = []) -> WireDraft {
    .call(
      to: Focus1.name, Focus1.manager, Focus1.managerInterface, "Register",
      [.string(id), .properties(values), .properties(options)])
  }
}
