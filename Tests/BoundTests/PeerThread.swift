import DBusTypes
import EventLoop
import Foundation
import Synchronization
import TestSupport

@testable import DBus

/// A method call that arrived at a peer.
struct Incoming: Sendable, CustomStringConvertible {
  let sender: String
  let path: String
  let interface: String
  let member: String
  let arguments: [DBusValue]
  let wantsReply: Bool

  init(_ message: Message) {
    sender = message.sender?.text ?? ""
    path = message.path?.text ?? ""
    interface = message.interface?.text ?? ""
    member = message.member?.text ?? ""
    arguments = (try? message.arguments()) ?? []
    wantsReply = message.wantsReply
  }

  /// The key that a call of `Get`, `Set` or `GetAll` is about.
  var key: String { arguments.prefix(2).compactMap(\.basicText).joined(separator: ".") }

  var description: String { "\(interface).\(member)(\(arguments.map { "\($0)" }.joined(separator: ", ")))" }
}

/// What a peer does with a call.
enum Answer: Sendable {
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
final class PeerThread {
  typealias Handler = @Sendable (Incoming, PeerThread) -> Answer

  let loop = EventLoop()
  private(set) var connection: Connection?
  var handlers: [String: Handler] = [:]
  var held: [(incoming: Incoming, message: Message)] = []
  /// Run when the reply to the call that is being handled has been sent.
  var afterReply: (() -> Void)?
  let note: (Peer.Event) -> Void

  init(address: String, note: @escaping (Peer.Event) -> Void) throws {
    self.note = note
    let connection = try Connection(to: .address(address))
    self.connection = connection
    connection.onMessage = { [weak self] in self?.received($0) }
    connection.onDisconnect = { [weak loop] in loop?.stop() }
    connection.attach(to: loop)
  }

  func leave() {
    connection?.onMessage = nil
    connection = nil
    handlers = [:]
    held = []
  }

  private func received(_ message: Message) {
    switch message.kind {
    case .signal: note(.signal(Peer.Signal(message)))
    case .methodCall:
      let incoming = Incoming(message)
      guard let handler = handlers[incoming.path] else {
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

  func answer(_ message: Message, _ answer: Answer) {
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

  func emit(_ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue]) {
    do {
      try connection?.send(
        .signal(
          path: ObjectPath(path), interface: InterfaceName(interface), member: MemberName(member), arguments))
    } catch {
      note(.problem("\(error)"))
    }
  }

  /// Emits `PropertiesChanged` of one interface.
  func emitChanged(
    _ path: String, _ interface: String, _ changed: [(name: String, value: DBusValue)], invalidated: [String] = []
  ) {
    emit(
      path, "org.freedesktop.DBus.Properties", "PropertiesChanged",
      [.string(interface), .properties(changed), .strings(invalidated)])
  }
}

/// Jobs for a loop from other threads, through a pipe that it polls.
final class JobSource: EventSource, @unchecked Sendable {
  typealias Job = @Sendable (PeerThread) -> Void

  private let jobs = Mutex<[Job]>([])
  private var ends: [Int32] = [-1, -1]
  private weak var thread: PeerThread?

  init() {
    _ = pipe(&ends)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  }

  deinit { for end in ends { close(end) } }

  /// Called on the loop's own thread.
  func attach(to thread: PeerThread) {
    self.thread = thread
    thread.loop.add(self)
  }

  func add(_ job: @escaping Job) {
    jobs.withLock { $0.append(job) }
    var byte: UInt8 = 0
    _ = write(ends[1], &byte, 1)
  }

  func prepare(_ set: inout PollSet) { set.add(ends[0], events: Int16(POLLIN), source: self, token: 0) }

  func ready(token: UInt, events: Int16) {
    var bytes = [UInt8](repeating: 0, count: 4096)
    _ = read(ends[0], &bytes, bytes.count)
    let due = jobs.withLock { jobs in
      defer { jobs = [] }
      return jobs
    }
    guard let thread else { return }
    for job in due { job(thread) }
  }
}
