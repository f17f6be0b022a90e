import BusSupport
import CDBus
import DBusTypes
import EventLoop
import Foundation
import TestSupport

@testable import DBus

/// A bus for one connection, played by the test: it delivers what the test says, and keeps what the connection sends.
///
/// The connection waits for some answers of the bus, so a thread gives those. It reads, keeps and answers under one lock,
/// and so does `collect`: after that, everything sent so far is kept, and answered ahead of what is delivered next.
final class Loopback: Sendable {
  /// What a new connection waits for before it begins: the D-Bus specification, section "Authentication Protocol".
  private static let greeting = "OK 0123456789abcdef0123456789abcdef\r\nAGREE_UNIX_FD\r\n"
  private static let bus = "org.freedesktop.DBus"
  private static let connectionName = ":1.0"

  fileprivate struct State {
    var socket: Int32 = -1
    var isAuthenticated = false
    var input: [UInt8] = []
    var lastSerial: UInt32 = 0
    var names: Set<String>
    var sent: [Sent] = []
    var questions: [Sent] = []
    var levels: [String: Int32] = [:]
    var script: [String: [Letter]] = [:]
    var calls: [UInt32: (caller: String, member: String)] = [:]
  }

  /// What connects to the bus.
  let address: String
  private let listener: Int32
  private let state: Locked<State>

  /// Creates a bus at the path `socket`, with `names` on it.
  init(socket path: String, names: Set<String>) throws {
    address = "unix:path=" + path
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    state = Locked(State(names: names))
    unlink(path)
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    let isBound = withUnsafePointer(to: &name) { name in
      name.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    guard isBound, listen(listener, 1) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    Thread.detachNewThread { [self] in serve() }
  }

  deinit {
    state.withLock { if $0.socket >= 0 { close($0.socket) } }
    close(listener)
  }

  /// Ends the thread if nothing has connected; a connection's end does it otherwise.
  func end() { shutdown(listener, Int32(SHUT_RDWR)) }

  private func serve() {
    let socket = accept(listener, nil, nil)
    guard socket >= 0 else { return }
    state.withLock { state in
      state.socket = socket
      state.write(Array(Self.greeting.utf8)) {}
    }
    var isOpen = true
    while isOpen {
      var readable = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
      poll(&readable, 1, -1)
      isOpen = state.withLock { $0.receive() }
    }
  }

  /// What the service has sent since the last call of this.
  func collect() -> [Sent] {
    state.withLock { state in
      _ = state.receive()
      defer { state.sent = [] }
      return state.sent
    }
  }

  /// The calls to owners that are not answered yet.
  var questions: [Sent] { state.withLock { $0.questions } }

  /// Delivers `letters`; `whenFull` is called while the socket is full.
  func deliver(_ letters: [Letter], whenFull: () -> Void) throws {
    try state.withLock { state in
      for letter in letters { state.write(try state.bytes(of: letter), whenFull) }
    }
  }

  /// Delivers `letters`, once, as soon as the service calls the method `member` of `owner`.
  func script(_ owner: String, _ member: String, _ letters: [Letter]) {
    state.withLock { $0.script[owner + member] = letters }
  }

  /// Sets what the object of `owner` tells from now on when it is asked.
  func setLevel(_ level: Int32, of owner: String) { state.withLock { $0.levels[owner] = level } }
}

extension Loopback.State {
  /// Keeps what has arrived, and answers what is for the bus itself.
  /// - Returns: false if the connection is closed.
  fileprivate mutating func receive() -> Bool {
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = recv(socket, &part, part.count, Int32(MSG_DONTWAIT))
      guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
      input += part[..<count]
      takeMessages()
    }
  }

  private mutating func takeMessages() {
    if !isAuthenticated {
      guard let end = input.firstRange(of: Array("BEGIN\r\n".utf8))?.upperBound else { return }
      input.removeFirst(end)
      isAuthenticated = true
    }
    while let size = input.withUnsafeBufferPointer({ Message.size(of: $0) }) {
      let bytes = Array(input.prefix(size))
      input.removeFirst(size)
      guard let message = try? bytes.withUnsafeBufferPointer({ try Message(demarshalling: $0) }) else { return }
      take(Sent(message, answering: calls[message.replySerial]))
    }
  }

  private mutating func take(_ message: Sent) {
    sent.append(message)
    guard message.kind == .methodCall else { return }
    if message.destination != Loopback.bus {
      questions.append(message)
    } else if message.wantsReply, let answer = try? bytes(of: .raw(message, answer(to: message))) {
      write(answer) {}
    }
    for letter in script.removeValue(forKey: message.destination + message.member) ?? [] {
      if let bytes = try? bytes(of: letter) { write(bytes) {} }
    }
  }

  private func answer(to question: Sent) -> [DBusValue] {
    switch question.member {
    case "Hello": [.string(Loopback.connectionName)]
    case "GetId": [.string("loopback")]
    case "ListNames": [.strings(names.sorted() + [Loopback.bus])]
    case "RequestName": [.uint32(1)]
    default: []
    }
  }

  fileprivate func write(_ bytes: [UInt8], _ whenFull: () -> Void) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes { bytes in
        let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
        return send(socket, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
      }
      guard count < 0 else {
        done += count
        continue
      }
      guard errno == EAGAIN else { return }
      whenFull()
    }
  }

  /// The message that `letter` is.
  fileprivate mutating func bytes(of letter: Letter) throws -> [UInt8] {
    lastSerial += 1
    var (sender, message) = (Loopback.bus, OutgoingMessage(marshalled: []))
    switch letter {
    case .call(let caller, let call):
      (sender, message) = (caller, try call.message())
      calls[lastSerial] = (caller, call.member)
    case .departure(let name):
      names.remove(name)
      message = try .signal(
        path: ObjectPath("/org/freedesktop/DBus"), interface: InterfaceName(Loopback.bus),
        member: MemberName("NameOwnerChanged"), [.string(name), .string(name), .string("")])
    case .told(let owner, let changes):
      sender = owner
      message = try .propertiesChanged(
        path: ObjectPath(OwnersObject.path), interface: InterfaceName(OwnersObject.interface), changed: changes)
      for case ("Level", .int32(let level)) in changes { levels[owner] = level }
    case .invalidated(let owner, let names):
      sender = owner
      message = try .propertiesChanged(
        path: ObjectPath(OwnersObject.path), interface: InterfaceName(OwnersObject.interface), changed: [],
        invalidated: names)
    case .emitted(let owner, let member):
      sender = owner
      message = try .signal(
        path: ObjectPath(OwnersObject.path), interface: InterfaceName(OwnersObject.interface),
        member: MemberName(member), [])
    case .answer(let owner, let member):
      let question = try takeQuestion(owner, member)
      if question.member == "Set", case .int32(let level)? = question.arguments.last?.variantContent {
        levels[owner] = level
      }
      return try bytes(of: .raw(question, OwnersObject(level: levels[owner] ?? 1).answer(to: question)))
    case .answered(let owner, let member, let values):
      return try bytes(of: .raw(takeQuestion(owner, member), values))
    case .refusal(let owner, let member, let error):
      let question = try takeQuestion(owner, member)
      sender = owner
      message = OutgoingMessage(.error, destination: nil, .empty) { header in
        header.add(.errorName, "org.freedesktop.DBus.Error." + error)
        header.add(.replySerial, question.serial)
      }
    case .raw(let question, let values):
      sender = question.destination
      message = OutgoingMessage(.methodReturn, destination: nil, try MessageBody(values)) {
        $0.add(.replySerial, question.serial)
      }
    }
    let raw = try message.received()
    dbus_message_set_sender(raw.raw, sender)
    dbus_message_set_destination(raw.raw, Loopback.connectionName)
    dbus_message_set_serial(raw.raw, lastSerial)
    return try raw.marshalled()
  }

  private mutating func takeQuestion(_ owner: String, _ member: String) throws -> Sent {
    guard let index = questions.firstIndex(where: { $0.destination == owner && $0.member == member }) else {
      throw DeadlinePassed(description: "\(member) was asked of \(owner), only \(questions)")
    }
    return questions.remove(at: index)
  }
}
