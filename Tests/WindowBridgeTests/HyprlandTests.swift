import BusSupport
import Foundation
import Glibc
import TestSupport
import Testing

/// A Hyprland with two windows that takes requests in one language, as 0.57 answers and tells it.
private final class StubHyprland: Sendable {
  struct State: Sendable, CustomStringConvertible {
    /// What `j/status` answers.
    var status: String
    var requests: [String] = []
    /// The connections that are told events.
    var followers: [Int32] = []

    var description: String { "requests \(requests)" }
  }

  /// The environment in which it is found.
  let environment: [String: String]
  let state: Observed<State>
  private let requests: LocalListener
  private let events: LocalListener

  init(in directory: String, status: String) throws {
    environment = ["XDG_RUNTIME_DIR": directory, "HYPRLAND_INSTANCE_SIGNATURE": "stub"]
    let own = directory + "/hypr/stub"
    try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
    state = Observed(State(status: status))
    (requests, events) = (LocalListener(own + "/.socket.sock"), LocalListener(own + "/.socket2.sock"))
    requests.run(begin: { _ in }, serve: { [state] in Self.answer($0, state) })
    events.run(begin: { [state] client in state.update { $0.followers.append(client) } }, serve: { _ in })
  }

  deinit {
    requests.end()
    events.end()
    for follower in state.now.followers { Glibc.close(follower) }
  }

  func tell(_ event: String) { Self.tell(event, state) }

  private static func tell(_ event: String, _ state: Observed<State>) {
    state.update { state in for follower in state.followers { send(event + "\n", to: follower) } }
  }

  private static func answer(_ client: Int32, _ state: Observed<State>) {
    defer { Glibc.close(client) }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = recv(client, &buffer, buffer.count, 0)
    guard count > 0 else { return }
    let request = String(decoding: buffer[..<count], as: UTF8.self)
    let status = state.update { state in
      state.requests.append(request)
      return state.status
    }
    let answer =
      switch request {
      case "j/status": status
      case "j/activewindow": #"{"address":"0x1a"}"#
      case "j/clients":
        #"[{"address":"0x1a","class":"foot","title":"one"},{"address":"0x1b","class":"foot","title":"two"}]"#
      default: request.contains("hl.dsp.") == status.contains("lua") ? "ok" : "error: another language"
      }
    send(answer, to: client)
    if answer == "ok", request.contains("focus") { tell("activewindowv2>>1b", state) }
  }

  private static func send(_ text: String, to client: Int32) {
    let bytes = Array(text.utf8)
    _ = Glibc.send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }
}

/// Hyprland by its sockets.
@Suite struct HyprlandTests {
  private static let lua = "{\n    \"configProvider\": \"lua\",\n    \"backend\": \"drm\"\n}\n"

  @Test(arguments: [
    ("unknown request", "dispatch focuswindow address:0x1b", "dispatch closewindow address:0x1b"),
    (
      lua, #"dispatch hl.dsp.focus({ window = "address:0x1b" })"#,
      #"dispatch hl.dsp.window.close({ window = "address:0x1b" })"#
    ),
  ]) func itsWindowsAreFollowedAndMoved(_ status: String, _ raise: String, _ close: String) async throws {
    try await TestDesktop.with { desktop in
      let hyprland = try StubHyprland(in: desktop.bus.directory, status: status)
      let peer = try await desktop.peer()
      let bridge = try await desktop.windowBridge([], hyprland.environment)
      try await peer.reached(["w26"])
      #expect(try await desktop.focusctl("focus", "w27").succeeded)
      #expect(hyprland.state.now.requests.last == raise)
      try await peer.reached(["w27"])
      #expect(try await desktop.focusctl("run", "Window.Close").succeeded)
      #expect(hyprland.state.now.requests.last == close)
      // New settings, in the other language.
      hyprland.state.update { $0.status = status == Self.lua ? "unknown request" : Self.lua }
      #expect(try await desktop.focusctl("run", "Window.Close").status == 4)
      if status != Self.lua {
        hyprland.tell("configreloaded>>")
        try await eventually("the other language") { try await desktop.focusctl("run", "Window.Close").succeeded }
      }
      withExtendedLifetime(bridge) {}
    }
  }
}
