import EventLoop
import Foundation
import Glibc
import TestSupport
import WindowBridge

/// A Wayland compositor without a screen and without clients, which tells of the windows that the test makes up.
final class FakeCompositor: Sendable {
  enum Kind: String, CaseIterable, Sendable { case plasma, wlr, cosmic, none }

  struct View: Sendable, Equatable {
    var title: String
    var application = "fake"
    var process = 0
    var desktop = "mail"
    var isMinimized = false
    var isFullscreen = false
  }

  /// A connection, and the objects that it has named.
  struct Client: Sendable {
    let descriptor: Int32
    var objects: [UInt32: WaylandInterface] = [1: .display]
    var windows: [Int: UInt32] = [:]
    var manager: UInt32?
    var lastID: UInt32 = 0xff00_0000
    /// What is sent together.
    var output: [UInt8] = []
  }

  struct State: Sendable, CustomStringConvertible {
    var kinds: [Kind] = []
    var views: [Int: View] = [:]
    var front: Int?
    /// What it was asked for.
    var orders: [String] = []
    var pending: [String] = []
    /// Whether it does what it is asked for.
    var obeys = true
    /// How many connections, from the first, it leaves without any answer.
    var unanswered = 0
    /// How many bytes it writes at once.
    var piece = 1 << 20
    /// What it sends in place of the windows.
    var lie: [UInt8]?
    var clients: [Int32: Client] = [:]
    var connections = 0
    var description: String { "\(connections) connections, orders \(orders), front \(front ?? 0)" }
  }

  let path: String
  let state = Observed(State())
  private let listener: LocalListener

  init(in directory: String, name: String = "wayland-fake", _ kinds: Kind...) {
    path = "\(directory)/\(name)"
    state.update { $0.kinds = kinds }
    listener = LocalListener(path)
    listener.run(
      begin: { [state] client in
        state.update {
          $0.clients[client] = Client(descriptor: client)
          $0.connections += 1
        }
      },
      serve: { [weak self] in self?.serve($0) })
  }

  deinit {
    listener.end()
    breakOff()
  }

  // MARK: What the test has it do

  /// Puts a window in front, nil for none: the one before is inactive first.
  func focus(_ id: Int?) {
    state.update { state in
      let before = state.front
      state.front = id
      for change in [before, id].compactMap(\.self) { Self.tell(change, nil, &state) }
      Self.flush(&state)
    }
  }

  /// Adds a window, or makes it another, and tells all about it.
  func set(_ id: Int, _ view: View) {
    state.update { state in
      let before = state.views.updateValue(view, forKey: id)
      Self.tell(id, before, &state)
      Self.flush(&state)
    }
  }

  func close(_ id: Int) {
    state.update { state in
      state.views[id] = nil
      if state.front == id { state.front = nil }
      for key in state.clients.keys {
        guard let window = state.clients[key]?.windows.removeValue(forKey: id),
          let kind = state.clients[key]?.objects[window]
        else { continue }
        let opcode = kind == .plasmaWindow ? 5 : kind == .wlrWindow ? 6 : 0
        Self.send(WaylandMessage.bytes(window, opcode, []), to: key, state.piece)
      }
    }
  }

  /// Sends bytes to all clients, whatever they are.
  func send(_ bytes: [UInt8]) {
    state.update { state in for client in state.clients.keys { Self.send(bytes, to: client, state.piece) } }
  }

  /// Closes all connections, as one that ends does.
  func breakOff() {
    // Under the lock: `serve` closes none that is still among them.
    state.update { state in
      for client in state.clients.keys { shutdown(client, Int32(SHUT_RDWR)) }
      state.clients = [:]
    }
  }

  // MARK: Events

  static func send(_ bytes: [UInt8], to client: Int32, _ piece: Int) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let chunk = Array(rest.prefix(piece))
      guard Glibc.send(client, chunk, chunk.count, Int32(MSG_NOSIGNAL)) == chunk.count else { return }
      rest = rest.dropFirst(chunk.count)
    }
  }

  static func flush(_ state: inout State) {
    for key in state.clients.keys {
      send(state.clients[key]?.output ?? [], to: key, state.piece)
      state.clients[key]?.output = []
    }
  }

  /// Tells all clients what a window is now.
  private static func tell(_ id: Int, _ before: View?, _ state: inout State) {
    for key in state.clients.keys {
      guard var client = state.clients[key], client.manager != nil else { continue }
      if client.windows[id] == nil {
        announce(id, &client, state)
      } else {
        describe(id, &client, state, before: before)
      }
      state.clients[key] = client
    }
  }

  static func uuid(_ id: Int) -> String {
    "{00000000-0000-0000-0000-\(String(repeating: "0", count: 8))\(1000 + id)}"
  }

  /// The number of the field's id for a window of Plasma, whose UUID is hashed.
  static func field(_ id: Int) -> String {
    "w\(uuid(id).utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 })"
  }

  static func announce(_ id: Int, _ client: inout Client, _ state: State) {
    guard let manager = client.manager, let kind = client.objects[manager] else { return }
    if kind == .plasmaManager {
      let event = WaylandMessage.bytes(manager, 4, [.number(UInt32(id)), .string(uuid(id))])
      client.output += event
      return
    }
    client.lastID += 1
    client.windows[id] = client.lastID
    client.objects[client.lastID] = kind == .wlrManager ? .wlrWindow : .cosmicWindow
    client.output += WaylandMessage.bytes(manager, 0, [.number(client.lastID)])
    describe(id, &client, state)
  }

  static func describe(_ id: Int, _ client: inout Client, _ state: State, before: View? = nil) {
    guard let view = state.views[id], let window = client.windows[id], let kind = client.objects[window] else { return }
    var events: [(Int, [WaylandArgument])]
    let isFront = state.front == id
    if kind == .plasmaWindow {
      let states =
        0xb00 | (isFront ? 1 : 0) | (view.isMinimized ? 2 : 0) | (view.isFullscreen ? 8 : 0)
        | (view.application == "panel" ? 0x41000 : 0)
      events = [
        (0, [.string(view.title)]), (1, [.string(view.application)]), (10, [.number(UInt32(view.process))]),
        (13, [.string("org.test.Menus"), .string("/menu/\(id)")]), (11, [.string(view.desktop)]),
        (2, [.number(UInt32(states))]), (6, []),
      ]
      if let old = before?.desktop, old != view.desktop { events.insert((12, [.string(old)]), at: 0) }
    } else {
      let states = [UInt32(0)] + (view.isMinimized ? [1] : []) + (isFront ? [2] : []) + (view.isFullscreen ? [3] : [])
      events = [(0, [.string(view.title)]), (1, [.string(view.application)]), (4, [.list(states)]), (5, [])]
      // COSMIC's has the same events in another order.
      if kind == .cosmicWindow { events = zip([2, 3, 8, 1], events).map { ($0, $1.1) } }
    }
    for (opcode, arguments) in events {
      client.output += WaylandMessage.bytes(window, opcode, arguments)
    }
  }
}
