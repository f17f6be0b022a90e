import Glibc
import TestSupport
import WindowBridge

/// What the compositor does with requests.
extension FakeCompositor {
  func serve(_ client: Int32) {
    var (queue, buffer) = (ByteQueue(), [UInt8](repeating: 0, count: 4096))
    while true {
      let count = read(client, &buffer, buffer.count)
      guard count > 0 else { break }
      queue.append(Array(buffer[..<count]))
      while let message = (try? queue.nextMessage()) ?? nil {
        state.update { state in
          guard state.connections > state.unanswered, var this = state.clients[client] else { return }
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
