internal import TestSupport

/// One command for the player in front: `focusctl`, with the players bound as session fields, against `playerctl` through
/// `playerctld`.
func measurePlayers(_ context: Group.Context, _ report: inout Report) async throws {
  try await context.withSession { session in
    let name = "org.mpris.MediaPlayer2"
    _ = try await session.baseline("play", "\(name).mock", "alone")
    _ = try await session.start("/usr/bin/playerctld")
    _ = try await session.start(
      context.programs + "/focusctl", "bind", "player", "--service", "\(name).*", "--object", "/org/mpris/MediaPlayer2",
      "--interface", name, "--interface", "\(name).Player", "--live", "\(name).Player.Position", "--scope", "session",
      "--active", "\(name).Player.PlaybackStatus=Playing", "--ignore", "playerctld")
    let command = Call(
      to: "org.mpris.MediaPlayer2.playerctld", "/org/mpris/MediaPlayer2", "\(name).Player", "PlayPause")
    try session.caller.wait(for: command)
    try session.caller.wait(for: .focused("\(name).Player", "PlayPause"))
    let pairs = [
      (["play-pause"], ["run", "PlayPause"]), (["status"], ["get", "PlaybackStatus"]),
      (["metadata", "title"], ["get", "Metadata/xesam:title"]),
      (["volume", "0.1+"], ["update", "Volume", "+0.1", "--max", "1"]),
    ]
    let environment = session.bus.environment
    for (theirs, ours) in pairs {
      let runs = [
        Run(name: "playerctl " + theirs.joined(separator: " ")) {
          try timeRun(["/usr/bin/playerctl", "--player=playerctld"] + theirs, environment) / 1000
        },
        Run(name: "focusctl " + ours.joined(separator: " ")) {
          try timeRun([context.programs + "/focusctl"] + ours, environment) / 1000
        },
      ]
      let ratios = try time("one run", .players, runs, context.count(200, quick: 30), &report) { session.place($0) }
      report.add(
        .players, "\(ours.joined(separator: " ")), to playerctl", ratios[.pinned]?[1] ?? .nan,
        free: ratios[.free]?[1], .atMost(0.6))
    }
  }
}
