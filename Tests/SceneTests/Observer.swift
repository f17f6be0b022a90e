import BusSupport
import DBusTypes
import EventLoop
import TestSupport

/// A client that calls the daemon, and tells of each call what the daemon told before its reply.
final class Observer {
  let peer: Peer
  private var seen = 0

  init(_ desktop: TestDesktop) async throws {
    peer = try await desktop.peer()
    try await peer.subscribe()
    seen = peer.events.now.count
  }

  /// Calls a method, and returns what arrived since the last one's reply: a line for each signal, and "reply" or the
  /// error's short name for the call's end.
  @discardableResult
  func call(_ call: DaemonCall) async throws -> [String] {
    let pending = peer.begin(call)
    let refusal = try await pending.refusal()
    // More may arrive in the turn that brings the reply; that belongs to the next call.
    let events = peer.events.now[seen...].prefix { event in
      if case .reply(pending.number) = event { false } else { true }
    }
    seen = events.endIndex + 1
    let lines = events.compactMap { event -> String? in
      guard case .signal(let signal) = event, signal.path.hasPrefix(Focus1.manager), !signal.tellsProcess
      else { return nil }
      return Self.line(signal)
    }
    return lines + [refusal ?? "reply"]
  }

  /// Whatever is still on its way once all that was called before has been answered.
  func rest() async throws -> [String] { try await call(.ping) }

  private static func line(_ signal: Peer.Signal) -> String {
    let arguments = signal.arguments
    let path = last(signal.path)
    switch signal.member {
    case "PropertiesChanged" where arguments.count == 3:
      return "\(path) \(text(arguments[0])) \(text(arguments[1])) \(text(arguments[2]))"
    case "InterfacesAdded" where arguments.count == 2:
      guard case .dictionary(let interfaces) = arguments[1] else { break }
      return "added \(last(text(arguments[0]))) \(interfaces.entries.map { text($0.key) }.sorted())"
    case "InterfacesRemoved" where arguments.count == 2:
      guard case .array(let interfaces) = arguments[1] else { break }
      return "removed \(last(text(arguments[0]))) \(interfaces.map { text($0) }.sorted())"
    default: break
    }
    return "\(path) \(signal.interface).\(signal.member) \(arguments.map { text($0) })"
  }

  private static func last(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

  private static func text(_ value: DBusValue) -> String {
    switch value {
    case .variant(let content): text(content)
    case .array(let array) where array.bytes != nil: "\(array.count) bytes"
    case .array(let array): "[" + array.map { text($0) }.joined(separator: ", ") + "]"
    case .structure(let members): "(" + members.map { text($0) }.joined(separator: ", ") + ")"
    case .dictionary(let dictionary):
      "{" + dictionary.entries.map { "\(text($0.key)): \(text($0.value))" }.sorted().joined(separator: ", ") + "}"
    default: value.basicText ?? "?"
    }
  }
}
