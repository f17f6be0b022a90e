import BusSupport
import Foundation
import TestSupport
import Testing

/// mpv with its own MPRIS plugin, without a display or a sound card, through the commands that the manual names beside
/// those of playerctl.
@Suite struct RealPlayerTests {
  /// A minute of silence.
  private func track(in directory: String, _ name: String) throws -> String {
    func bytes(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }
    let length: UInt32 = 8000 * 60
    var file = Array("RIFF".utf8) + bytes(36 + length) + Array("WAVEfmt ".utf8) + bytes(16)
    file += [1, 0, 1, 0] + bytes(8000) + bytes(8000) + [1, 0, 8, 0] + Array("data".utf8) + bytes(length)
    file += [UInt8](repeating: 128, count: Int(length))
    let path = "\(directory)/\(name).wav"
    try Data(file).write(to: URL(fileURLWithPath: path))
    return path
  }

  private func mpv(_ desktop: TestDesktop, _ track: String) async throws -> ManagedProcess {
    try await desktop.start([
      "/usr/bin/mpv", "--no-config", "--load-scripts=no", "--script=/usr/lib/mpv-mpris/mpris.so", "--no-terminal",
      "--ao=null", "--vo=null", "--loop-file=inf", "--pause", track,
    ])
  }

  /// mpv seeks to the begin of a packet, which are half a second long here.
  private static let calls = [
    ("run PlayPause", "PlaybackStatus", "Playing"), ("run Pause", "PlaybackStatus", "Paused"),
    ("run Play", "PlaybackStatus", "Playing"), ("run PlayPause", "PlaybackStatus", "Paused"),
    ("set Volume 0.5", "Volume", "0.5"), ("update Volume +0.1", "Volume", "0.6"),
    ("update Volume +0.9 --max 1", "Volume", "1.0"), ("update Volume -3 --min 0", "Volume", "0.0"),
    ("set LoopStatus Track", "LoopStatus", "Track"),
    ("update LoopStatus next None Track Playlist", "LoopStatus", "Playlist"),
    ("run SetPosition /0 5500000", "--format {duration(Position)}", "0:05"),
    ("run Seek 30000000", "--format {duration(Position)}", "0:34|0:35"),
    ("run Seek -10000000", "--format {duration(Position)}", "0:24|0:25"),
    ("describe PlayPause", "Metadata/xesam:title", "one.wav"),
    ("describe Position", "--format {field}/{uc(Metadata/xesam:title)}", "player_mpv/ONE.WAV"),
    ("describe Position", "--format {duration(Metadata/mpris:length)}", "1:00"),
  ]

  @Test func mpvIsControlled() async throws {
    try await TestDesktop.with { desktop in
      let stage = try await PlayerStage(on: desktop)
      let mpv = try await mpv(desktop, try track(in: desktop.bus.directory, "one"))
      #expect(try await desktop.focusctl("wait", "PlaybackStatus", "--timeout", "60").status == 0)
      // Its plugin is there before its track, and takes PlayPause for Pause while it is "Stopped".
      try await expect("PlaybackStatus", "Paused", after: "the track is open", desktop)
      for (call, key, value) in Self.calls {
        let result = try await desktop.focusctl(call.split(separator: " ").map(String.init))
        #expect(result.status == 0, "\(call): \(result)")
        try await expect(key, value, after: call, desktop)
      }
      mpv.terminate()
      try await mpv.finish()
      try await stage.end()
    }
  }

  /// mpv answers before it has done what it was asked to do.
  private func expect(_ key: String, _ value: String, after call: String, _ desktop: TestDesktop) async throws {
    let words = ["get"] + key.split(separator: " ", maxSplits: 1).map(String.init)
    let deadline = ContinuousClock.now + .seconds(30)
    let wanted = value.split(separator: "|").map { [String($0)] }
    var last = try await desktop.focusctl(words).output
    while !wanted.contains(last), ContinuousClock.now < deadline { last = try await desktop.focusctl(words).output }
    #expect(wanted.contains(last), "after '\(call)'")
  }

  @Test func theMpvThatPlaysIsInFront() async throws {
    try await TestDesktop.with { desktop in
      let stage = try await PlayerStage(on: desktop)
      let first = try await mpv(desktop, try track(in: desktop.bus.directory, "one"))
      #expect(try await desktop.focusctl("wait", "PlaybackStatus", "--timeout", "60").status == 0)
      #expect(try await desktop.focusctl("run", "Play").status == 0)
      try await expect("PlaybackStatus", "Playing", after: "Play", desktop)
      let second = try await mpv(desktop, try track(in: desktop.bus.directory, "two"))
      try await eventually("two players") { try await stage.registered().count == 2 }
      try await expect("Metadata/xesam:title", "one.wav", after: "the second opens", desktop)
      let id = "player_mpv_instance\(second.processID)"
      #expect(try await desktop.focusctl("run", "Play", "--field", id).status == 0)
      try await expect("Metadata/xesam:title", "two.wav", after: "the second plays", desktop)
      #expect(try await desktop.focusctl("run", "Pause").status == 0)
      try await expect("Metadata/xesam:title", "one.wav", after: "the second pauses", desktop)
      for mpv in [first, second] {
        mpv.terminate()
        try await mpv.finish()
      }
      try await stage.end()
    }
  }
}
