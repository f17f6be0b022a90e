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
    /// Whether it does what it is asked for, and whether it answers at all.
    var (obeys, answers) = (true, true)
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
  private let listener: Int32

  init(in directory: String, _ kinds: Kind...) {
    path = directory + "/wayland-fake"
    state.update { $0.kinds = kinds }
    let listening = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    listener = listening
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    _ = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listening, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    listen(listening, 8)
    let state = state
    Thread.detachNewThread { [weak self] in
      while true {
        let client = accept(listening, nil, nil)
        guard client >= 0 else { return }
        state.update {
          $0.clients[client] = Client(descriptor: client)
          $0.connections += 1
        }
        Thread.detachNewThread { [weak self] in self?.serve(client) }
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    Glibc.close(listener)
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
    let clients = state.update { state in
      defer { state.clients = [:] }
      return state.clients.keys
    }
    for client in clients { shutdown(client, Int32(SHUT_RDWR)) }
  }

  // MARK: Events

  private static func send(_ bytes: [UInt8], to client: Int32, _ piece: Int) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let chunk = Array(rest.prefix(piece))
      guard Glibc.send(client, chunk, chunk.count, Int32(MSG_NOSIGNAL)) == chunk.count else { return }
      rest = rest.dropFirst(chunk.count)
    }
  }

  private static func flush(_ state: inout State) {
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

  private static func uuid(_ id: Int) -> String {
    "{00000000-0000-0000-0000-\(String(repeating: "0", count: 8))\(1000 + id)}"
  }

  /// The number of the field's id for a window of Plasma, whose UUID is hashed.
  static func field(_ id: Int) -> String {
    "w\(uuid(id).utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 })"
  }

  private static func announce(_ id: Int, _ client: inout Client, _ state: State) {
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

  private static func describe(_ id: Int, _ client: inout Client, _ state: State, before: View? = nil) {
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

  // MARK: Requests

  private func serve(_ client: Int32) {
    var (queue, buffer) = (ByteQueue(), [UInt8](repeating: 0, count: 4096))
    while true {
      let count = read(client, &buffer, buffer.count)
      guard count > 0 else { break }
      queue.append(Array(buffer[..<count]))
      while let message = (try? queue.nextMessage()) ?? nil {
        state.update { state in
          guard state.answers, var this = state.clients[client] else { return }
          Self.answer(message, &this, &state)
          if state.clients[client] != nil { state.clients[client] = this }
          Self.flush(&state)
        }
        act()
      }
    }
    state.update { $0.clients[client] = nil }
    Glibc.close(client)
  }

  /// Does what was ordered, as a compositor does after it has answered.
  private func act() {
    let orders = state.update { state in
      defer { state.pending = [] }
      return state.obeys ? state.pending : []
    }
    for order in orders {
      guard let id = order.split(separator: " ").last.flatMap({ Int($0) }), var view = state.now.views[id] else {
        continue
      }
      switch order.split(separator: " ").first {
      case "activate": focus(id)
      case "close": close(id)
      default:
        if order.hasPrefix("minimize") { view.isMinimized = true }
        if order.hasPrefix("restore") { view.isMinimized = false }
        if order.hasPrefix("fullscreen") { view.isFullscreen = true }
        if order.hasPrefix("leave") { view.isFullscreen = false }
        set(id, view)
      }
    }
  }

  private static func arguments(_ message: WaylandMessage, _ signature: String) -> WaylandArguments? {
    try? WaylandArguments(message.body, signature)
  }

  private static func answer(_ message: WaylandMessage, _ client: inout Client, _ state: inout State) {
    guard let interface = client.objects[message.object] else { return }
    func send(_ object: UInt32, _ opcode: Int, _ arguments: [WaylandArgument]) {
      client.output += WaylandMessage.bytes(object, opcode, arguments)
    }
    let number = arguments(message, "u")?.number(0) ?? 0
    switch (interface, message.opcode) {
    case (.display, 0):
      send(number, 0, [.number(7)])
      send(1, 1, [.number(number)])
    case (.display, 1):
      client.objects[number] = .registry
      var globals: [(String, UInt32)] = [("wl_compositor", 5), ("wl_seat", 7)]
      if state.kinds.contains(.cosmic) {
        globals += [("zcosmic_toplevel_info_v1", 2), ("zcosmic_toplevel_manager_v1", 2)]
      }
      if state.kinds.contains(.wlr) { globals.append(("zwlr_foreign_toplevel_manager_v1", 3)) }
      if state.kinds.contains(.plasma) {
        globals += [("org_kde_plasma_window_management", 16), ("org_kde_plasma_virtual_desktop_management", 2)]
      }
      for (index, global) in globals.enumerated() {
        send(number, 0, [.number(UInt32(index + 1)), .string(global.0), .number(global.1)])
      }
    case (.registry, 0): bound(message, &client, state)
    case (.plasmaDesktops, 0):
      let desktop = arguments(message, "us")
      client.objects[number] = .plasmaDesktop
      send(number, 0, [.string(desktop?.text(1) ?? "")])
      send(number, 1, [.string("Desktop \(desktop?.text(1) ?? "")")])
    case (.plasmaManager, 2):
      let name = arguments(message, "us")?.text(1)
      guard let id = state.views.keys.first(where: { uuid($0) == name }) else { return send(number, 5, []) }
      client.objects[number] = .plasmaWindow
      client.windows[id] = number
      describe(id, &client, state)
    case (.plasmaWindow, 7), (.wlrWindow, 7), (.cosmicWindow, 0):
      client.objects[message.object] = nil
      if interface == .plasmaWindow { send(1, 1, [.number(message.object)]) }
    default: ordered(interface, message, client, &state)
    }
  }

  private static func bound(_ message: WaylandMessage, _ client: inout Client, _ state: State) {
    guard let bind = arguments(message, "usuu"), let interface = WaylandInterface(rawValue: bind.text(1)) else {
      return
    }
    let object = bind.number(3)
    client.objects[object] = interface
    switch interface {
    case .plasmaDesktops:
      for name in ["mail", "web"] {
        client.output += WaylandMessage.bytes(object, 0, [.string(name), .number(0)])
      }
    case .cosmicManager:
      client.output += WaylandMessage.bytes(object, 0, [.list([1, 2, 4, 5])])
    case .plasmaManager, .wlrManager, .cosmicInfo:
      client.manager = object
      if let lie = state.lie {
        client.output += lie
        return
      }
      for id in state.views.keys.sorted() { announce(id, &client, state) }
    default: break
    }
  }

  /// Takes an order for a window.
  private static func ordered(
    _ interface: WaylandInterface, _ message: WaylandMessage, _ client: Client, _ state: inout State
  ) {
    let arguments = arguments(message, message.body.count >= 8 ? "uu" : message.body.isEmpty ? "" : "u")
    let window = interface == .cosmicManager ? arguments?.number(0) ?? 0 : message.object
    guard let id = client.windows.first(where: { $0.value == window })?.key else { return }
    let order: String?
    switch (interface, message.opcode) {
    case (.plasmaWindow, 0):
      let isOn = arguments?.number(1) != 0
      order =
        [1: "activate", 2: isOn ? "minimize" : "restore", 8: isOn ? "fullscreen" : "leave"][arguments?.number(0) ?? 0]
    case (.plasmaWindow, 4): order = "close"
    case (.wlrWindow, let opcode):
      order = [2: "minimize", 3: "restore", 4: "activate", 5: "close", 8: "fullscreen", 9: "leave"][opcode]
    case (.cosmicManager, let opcode):
      order = [5: "minimize", 6: "restore", 2: "activate", 1: "close", 7: "fullscreen", 8: "leave"][opcode]
    default: order = nil
    }
    guard let order else { return }
    state.orders.append("\(order) \(id)")
    state.pending.append("\(order) \(id)")
  }
}
