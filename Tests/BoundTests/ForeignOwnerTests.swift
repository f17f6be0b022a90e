import BusSupport
import DBus
import DBusTypes
import TestSupport
import Testing

@Suite("Owners that know nothing of focusd")
struct ForeignOwnerTests {
  @Test("A GLib action group, as it is: described, activated and followed through focused")
  func actions() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.script(resource("actions.py"))
      let client = try await desktop.peer()
      try await client.subscribe()
      let interface = "org.gtk.Actions"
      guard case .dictionary(let described)? = try await client.call(Focus1.focused, interface, "DescribeAll").first
      else {
        Issue.record("no description")
        return
      }
      #expect(Set(described.entries.compactMap(\.key.basicText)) == ["save", "say", "bold", "paste"])

      // busctl wants no types beside those of the interface: name, parameter, platform data.
      let activated = try await desktop.busctl("call", interface, "Activate", "sava{sv}", "save", "0", "0")
      #expect(activated.succeeded, "\(activated)")
      try await owner.line { $0 == "saved" }
      let said = try await desktop.focusctl("run", "Activate", "say", #"["hello"]"#, "{}")
      #expect(said.succeeded, "\(said)")
      try await owner.line { $0 == "said hello" }
      try await client.call(
        Focus1.focused, interface, "Activate", [.string("bold"), .variants([]), .properties([])])
      try await owner.line { $0 == "bold True" }
      let changed = try await client.signals("Changed") { signals in
        signals.first { $0.path == Focus1.focused && $0.interface == interface && $0.member == "Changed" }
      }
      guard case .dictionary(let states) = changed.arguments[2] else { return }
      #expect(states.entries == [.init(key: .string("bold"), value: .variant(.boolean(true)))])
    }
  }

  @Test("A GLib action group, followed and used by GLib's own client through focused")
  func actionsOfGLib() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.script(resource("actions.py"))
      let client = try await desktop.script(resource("actions_client.py"))
      try await client.line { $0 == "actions bold paste save say" }
      try await client.line { $0 == "state bold true" }
      try await owner.line { $0 == "said hello" }
      owner.send(line: "enable")
      try await client.line { $0 == "enabled paste True" }
      #expect(try await client.finish() == .status(0))
    }
  }

  /// Has `peer` be the player that whatever has focus is: what a program that only knows bus names calls is passed on.
  private func standIn(_ peer: Peer) async throws {
    let player = try ObjectPath("/org/mpris/MediaPlayer2")
    let daemon = try BusName(Focus1.name)
    let focused = try ObjectPath(Focus1.focused)
    try await peer.subscribe()
    peer.perform { thread in
      thread.connection?.onMessage = { [weak thread] message in
        guard let connection = thread?.connection else { return }
        if message.kind == .methodCall, let interface = message.interface,
          let call = try? message.forwarded(to: daemon, path: focused, interface: interface)
        {
          try? connection.call(call) { result in
            guard let answer = try? result.get().forwarded(asReplyTo: ReplyAddress(of: message)) else { return }
            _ = try? connection.send(answer)
          }
        } else if message.kind == .signal, message.path == focused, let signal = try? message.emittedAgain(from: player)
        {
          _ = try? connection.send(signal)
        }
      }
    }
    try await peer.own("org.mpris.MediaPlayer2.focused")
  }

  @Test("A media player, driven by playerctl through focused, and by focusctl")
  func player() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.script(resource("player.py"))
      let stand = try await desktop.peer()
      try await standIn(stand)
      func playerctl(_ words: String...) async throws -> String {
        let result = try await desktop.run(["/usr/bin/playerctl", "--player=focused"] + words)
        #expect(result.succeeded, "\(words): \(result)")
        return result.text
      }
      let volume = "org.mpris.MediaPlayer2.Player.Volume"
      #expect(try await playerctl("metadata", "title") == "A Song")
      #expect(try await playerctl("volume") == "0.500000")
      _ = try await playerctl("volume", "0.3")
      try await owner.line { $0 == "Volume 0.3" }
      #expect(try await desktop.focusctl("get", volume).text == "0.3")
      #expect(try await desktop.focusctl("set", "Volume", "0.7").succeeded)
      #expect(try await playerctl("volume") == "0.700000")

      #expect(try await playerctl("status") == "Paused")
      _ = try await playerctl("play-pause")
      try await owner.line { $0 == "PlaybackStatus Playing" }
      #expect(try await playerctl("status") == "Playing")
      let followed = try await desktop.start(["/usr/bin/playerctl", "--player=focused", "--follow", "status"])
      try await followed.line { $0 == "Playing" }
      #expect(try await desktop.focusctl("run", "PlayPause").succeeded)
      try await followed.line { $0 == "Paused" }
      // What the player does not tell of is asked of it each time.
      #expect(try await playerctl("position") == "12.000000")
      _ = try await playerctl("position", "5+")
      try await owner.line { $0 == "Position 17000000" }
      #expect(try await playerctl("position") == "17.000000")
    }
  }
}
