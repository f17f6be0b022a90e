import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// Which player a media key goes to: what people expect, and complained about elsewhere.
@Suite struct PlayerStoryTests {
  /// What happens, a line each, and the player in front afterwards.
  struct Story: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var ignored: [String] = []
    let lines: String
  }

  private static let stories = [
    Story(
      testDescription: "pausing one of two makes the key pause the other (playerctl 242)",
      lines: """
        a opens Playing: a
        b opens Playing: b
        a Paused: b
        b Paused: b
        """),
    Story(
      testDescription: "what a paused player tells steals nothing (playerctl 173)",
      lines: """
        browser opens Paused: browser
        music opens Playing: music
        browser chatters: music
        music Paused: music
        browser chatters: music
        """),
    Story(
      testDescription: "when a video ends, the music that still plays is in front (Waybar 1954)",
      lines: """
        mopidy opens Playing: mopidy
        firefox.instance_1 opens Stopped: mopidy
        firefox.instance_1 Playing: firefox.instance_1
        firefox.instance_1 quits: mopidy
        """),
    Story(
      testDescription: "when a video pauses, the music that still plays is in front (Waybar 1954)",
      lines: """
        mopidy opens Playing: mopidy
        firefox opens Playing: firefox
        firefox Paused: mopidy
        mopidy Paused: mopidy
        firefox Playing: firefox
        """),
    Story(
      testDescription: "an ignored player hides no other (Waybar 4610, 3879)", ignored: ["firefox"],
      lines: """
        spotify opens Playing: spotify
        firefox lurks Playing: spotify
        vlc opens Paused: spotify
        spotify Paused: spotify
        """),
    Story(
      testDescription: "a browser that merely opens never wins (cosmic-epoch 3766)",
      lines: """
        music opens Playing: music
        browser opens Stopped: music
        music Paused: music
        chromium opens Paused: music
        """),
    Story(
      testDescription: "of several instances the one that started to play last is meant (mpv-mpris 7)",
      lines: """
        mpv opens Playing: mpv
        mpv.instance2 opens Playing: mpv.instance2
        mpv Paused: mpv.instance2
        mpv Playing: mpv
        mpv quits: mpv.instance2
        """),
    Story(
      testDescription: "the key that paused a player resumes it, whatever stopped before it",
      lines: """
        a opens Playing: a
        b opens Playing: b
        b Paused: a
        a Paused: a
        a Playing: a
        a Paused: a
        a quits: b
        """),
    Story(
      testDescription: "the player in the window in front comes first, also if another plays (mpv-mpris 93)",
      lines: """
        music opens Playing: music
        video opens Paused: music
        video is in front: video
        music chatters: video
        nothing is in front: music
        """),
    Story(
      testDescription: "one that was chosen stays until another begins to play",
      lines: """
        a opens Playing: a
        b opens Paused: a
        b is chosen: b
        a chatters: b
        a Paused: b
        a Playing: a
        """),
    Story(
      testDescription: "the key for the next player goes around",
      lines: """
        a opens Playing: a
        b opens Paused: a
        c opens Paused: a
        next is chosen: b
        next is chosen: c
        next is chosen: a
        previous is chosen: c
        """),
    Story(
      testDescription: "a restart of the daemon changes nothing",
      lines: """
        a opens Playing: a
        b opens Playing: b
        b Paused: a
        the daemon restarts: a
        a Paused: a
        a quits: b
        """),
    Story(
      testDescription: "if none has played, the newest is in front",
      lines: """
        a opens Playing: a
        b opens Paused: a
        a quits: b
        a opens Paused: a
        """),
  ]

  @Test(arguments: stories) func theRightPlayerIsInFront(story: Story) async throws {
    try await TestDesktop.with { desktop in
      let stage = try await PlayerStage(on: desktop, ignoring: story.ignored)
      for line in story.lines.split(separator: "\n") {
        let parts = line.components(separatedBy: ": ")
        try await play(parts[0].components(separatedBy: " "), on: stage)
        #expect(try await stage.front() == parts[1], "after '\(line)'")
      }
      try await stage.end()
    }
  }

  private func play(_ words: [String], on stage: PlayerStage) async throws {
    let name = words[0]
    switch words[1] {
    case "opens": try await stage.open(name, words[2])
    case "lurks": try await stage.open(name, words[2], isIgnored: true)
    case "quits": try await stage.quit(name)
    case "chatters": try await stage.chatter(name)
    case "daemon": try await stage.restart()
    case "is" where words[2] == "in": try await stage.bringToFront(name == "nothing" ? "" : name)
    case "is":
      let argument = ["next", "previous"].contains(name) ? "--\(name)" : PlayerStage.id(name)
      let result = try await stage.desktop.focusctl("activate", argument)
      #expect(result.status == 0, "\(result)")
    default: try await stage.change(name, "PlaybackStatus", to: .string(words[1]))
    }
  }

  /// The window adopts the player, and not who has registered it.
  @Test func aPlayerInTheWindowInFrontIsASessionField() async throws {
    try await TestDesktop.with { desktop in
      let stage = try await PlayerStage(on: desktop)
      try await stage.open("vlc", "Paused")
      try await stage.bringToFront("vlc")
      let result = try await desktop.focusctl("describe", "PlaybackStatus")
      #expect(
        result.output.contains { $0.contains("of the session fields that have it, this is the first") }, "\(result)")
      try await stage.end()
    }
  }

  @Test func oneSongIsNeverShownWithTheVolumeOfAnother() async throws {
    try await TestDesktop.with { desktop in
      let stage = try await PlayerStage(on: desktop)
      try await stage.open("vlc", "Paused")
      try await stage.open("audacious", "Playing", without: ["Volume"])
      #expect(try await desktop.focusctl("get", "Metadata/xesam:title").output == ["Song of audacious"])
      let volume = try await desktop.focusctl("get", "Player.Volume")
      #expect(volume.status == 1 && volume.output.isEmpty)
      #expect(try await desktop.focusctl("get", "Volume", "--field", "player_vlc").output == ["0.5"])
      try await stage.end()
    }
  }
}
