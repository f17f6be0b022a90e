import EventLoop
import Foundation
import Glibc
import TestSupport
import WindowBridge

/// A window manager that speaks the protocol of i3 and sway, and does what the test says.
final class StubManager: Sendable {
  struct View: Sendable {
    var title: String
    var process: Int
    var application = "stub"
    var workspace = "1"
  }

  struct State: Sendable, CustomStringConvertible {
    var views: [Int: View] = [:]
    var front: Int?
    /// The commands that it was sent.
    var commands: [String] = []
    /// Why it refuses commands, or nil.
    var refusal: String?
    /// Whether it answers commands.
    var answers = true
    /// Whether it does what it accepts.
    var obeys = true
    /// How many bytes it writes at once.
    var piece = 1 << 20
    /// The connections that are open.
    var clients: [Int32] = []
    /// How many connections there have been.
    var connections = 0
    var description: String { "\(connections) connections, commands \(commands), front \(front ?? 0)" }
  }

  let path: String
  let state: Observed<State>
  private let listener: LocalListener

  /// Who connects at once finds `state`.
  init(in directory: String, name: String = "stub.sock", _ state: State = State()) {
    path = directory + "/" + name
    self.state = Observed(state)
    listener = LocalListener(path)
    listener.run(
      begin: { [state = self.state] client in
        state.update {
          $0.clients.append(client)
          $0.connections += 1
        }
      },
      serve: { [weak self] in self?.serve($0) })
  }

  deinit {
    end()
  }

  // MARK: What the test has it do

  /// Puts a window in front, nil for none, and tells of it.
  func focus(_ id: Int?) {
    state.update { state in
      state.front = id
      if let id, let view = state.views[id] {
        Self.event(3, #"{"change":"focus","container":\#(Self.json(id, view, isFocused: true))}"#, state)
      } else {
        Self.event(0, #"{"change":"focus","current":{"type":"workspace","nodes":[],"floating_nodes":[]}}"#, state)
      }
    }
  }

  /// Adds or changes a window, and tells of it.
  func set(_ id: Int, _ view: View) {
    state.update { state in
      let change = state.views.updateValue(view, forKey: id) == nil ? "new" : "title"
      Self.event(3, #"{"change":"\#(change)","container":\#(Self.json(id, view, isFocused: false))}"#, state)
    }
  }

  /// Closes a window.
  func close(_ id: Int) {
    state.update { state in
      if state.front == id { state.front = nil }
      guard let view = state.views.removeValue(forKey: id) else { return }
      Self.event(3, #"{"change":"close","container":\#(Self.json(id, view, isFocused: false))}"#, state)
    }
  }

  /// Sends bytes to all clients, whatever they are.
  func send(_ bytes: [UInt8]) { state.update { Self.send(bytes, $0) } }

  /// Tells all clients of something.
  func event(_ type: UInt32, _ payload: String) { state.update { Self.event(type, payload, $0) } }

  /// Closes all connections, as one that restarts does.
  func breakOff() {
    state.update { state in
      for client in state.clients { shutdown(client, Int32(SHUT_RDWR)) }
      state.clients = []
    }
  }

  /// Ends, and leaves its socket behind as one that is killed does.
  func end() {
    listener.end()
    breakOff()
  }

  // MARK: The protocol

  static func json(_ id: Int, _ view: View, isFocused: Bool) -> String {
    let title = view.title.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    return """
      {"id":\(id),"type":"con","name":"\(title)","focused":\(isFocused),"pid":\(view.process),\
      "app_id":"\(view.application)","nodes":[],"floating_nodes":[]}
      """
  }

  private static func tree(_ state: State) -> String {
    let workspaces = Dictionary(grouping: state.views.keys.sorted()) { state.views[$0]?.workspace ?? "" }
    let nodes = workspaces.sorted { $0.key < $1.key }.map { workspace, ids in
      let views = ids.compactMap { id in state.views[id].map { json(id, $0, isFocused: state.front == id) } }
      return #"{"type":"workspace","name":"\#(workspace)","nodes":[\#(views.joined(separator: ","))]}"#
    }
    return #"{"type":"root","nodes":[{"type":"output","nodes":[\#(nodes.joined(separator: ","))]}]}"#
  }

  static func frame(_ type: UInt32, _ payload: String) -> [UInt8] {
    var bytes = Array("i3-ipc".utf8)
    for number in [UInt32(payload.utf8.count), type] { withUnsafeBytes(of: number) { bytes += $0 } }
    return bytes + Array(payload.utf8)
  }

  // All of these are called under the lock: a client is told of things in the order in which they happen, two threads
  // never mix their messages, and `serve` closes no client that is still among the others.

  private static func event(_ type: UInt32, _ payload: String, _ state: State) {
    send(frame(1 << 31 | type, payload), state)
  }

  private static func send(_ bytes: [UInt8], _ state: State) {
    for client in state.clients { send(bytes, to: client, state) }
  }

  private static func send(_ bytes: [UInt8], to client: Int32, _ state: State) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let chunk = Array(rest.prefix(state.piece))
      guard Glibc.send(client, chunk, chunk.count, Int32(MSG_NOSIGNAL)) == chunk.count else { return }
      rest = rest.dropFirst(chunk.count)
    }
  }

  private func serve(_ client: Int32) {
    var (queue, buffer) = (ByteQueue(), [UInt8](repeating: 0, count: 4096))
    while true {
      let count = read(client, &buffer, buffer.count)
      guard count > 0 else { break }
      queue.append(Array(buffer[..<count]))
      while let (type, payload) = (try? queue.nextFrame()) ?? nil {
        answer(client, type, String(decoding: payload, as: UTF8.self))
      }
    }
    state.update { $0.clients.removeAll { $0 == client } }
    Glibc.close(client)
  }

  private func answer(_ client: Int32, _ type: UInt32, _ payload: String) {
    switch type {
    case 4: state.update { Self.send(Self.frame(4, Self.tree($0)), to: client, $0) }
    case 2: state.update { Self.send(Self.frame(2, #"{"success":true}"#), to: client, $0) }
    default:
      let obeys = state.update { state in
        state.commands.append(payload)
        guard state.answers else { return false }
        let answer = state.refusal.map { #"{"success":false,"error":"\#($0)"}"# } ?? #"{"success":true}"#
        Self.send(Self.frame(0, "[\(answer)]"), to: client, state)
        return state.refusal == nil && state.obeys
      }
      if obeys, payload.hasSuffix("] focus"), let id = Int(payload.filter(\.isNumber)) { focus(id) }
    }
  }
}
