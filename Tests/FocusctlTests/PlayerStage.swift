import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// Media players that a test scripts, bound by `focusctl` as the service does it.
final class PlayerStage {
  static let player = "org.mpris.MediaPlayer2.Player"
  private static let title = "org.mpris.MediaPlayer2"

  let desktop: TestDesktop
  private let reader: Peer
  private var binder: ManagedProcess
  private var players: [String: (peer: Peer, object: Exported)] = [:]
  private var windows: Peer?

  /// Begins to bind players, but for `ignored`.
  init(on desktop: TestDesktop, ignoring ignored: [String] = []) async throws {
    self.desktop = desktop
    reader = try await desktop.peer()
    try await reader.subscribe()
    binder = try await Self.bind(on: desktop, ignoring: ignored)
  }

  /// What the unit of the service runs, with the test's own program and bus.
  static func bind(on desktop: TestDesktop, ignoring ignored: [String] = []) async throws -> ManagedProcess {
    let words = try Self.serviceCommand().dropFirst()
    return try await desktop.start(
      [Products.focusctl, "--address", desktop.bus.address] + words + ignored.flatMap { ["--ignore", $0] })
  }

  /// The command of the unit, word by word.
  static func serviceCommand() throws -> [String] {
    let unit = try String(contentsOfFile: TestDesktop.project + "/Systemd/focusd-players.service.in", encoding: .utf8)
    let lines = unit.replacing("\\\n", with: " ").split(separator: "\n")
    let line = try #require(lines.first { $0.hasPrefix("ExecStart=") })
    return line.dropFirst("ExecStart=".count).split(separator: " ").map(String.init)
  }

  func end() async throws { try await binder.stop() }

  /// What the service's program has said.
  var said: [String] { binder.progress.now.errors }

  /// Reads the user's settings again, as `systemctl --user reload` has it.
  func reload() { binder.terminate(SIGHUP) }

  // MARK: Players

  private static let xml = document(
    (title, property("Identity", "s", "read")),
    (
      player,
      property("PlaybackStatus", "s", "read") + property("Volume", "d") + property("Metadata", "a{sv}", "read")
        + property("Position", "x", "read") + property("Shuffle", "b") + method("PlayPause") + method("Seek", in: ["x"])
    ))

  /// A player comes, with or without all that MPRIS has.
  func open(
    _ name: String, _ status: String, without missing: [String] = [], isIgnored: Bool = false
  ) async throws {
    let peer = try await desktop.peer()
    var values: [String: DBusValue] = [
      "\(Self.title).Identity": .string(name), "\(Self.player).PlaybackStatus": .string(status),
      "\(Self.player).Volume": .double(0.5), "\(Self.player).Shuffle": .boolean(false),
      "\(Self.player).Position": .int64(61_000_000), "\(Self.player).Metadata": Self.metadata(of: name),
    ]
    var xml = Self.xml
    for member in missing {
      values["\(Self.player).\(member)"] = nil
      xml = xml.replacing(property(member, "d"), with: "")
    }
    let object = Exported(peer, xml, values, at: "/org/mpris/MediaPlayer2")
    players[name] = (peer, object)
    let known = reader.signals.count
    try await peer.own("\(Self.title).\(name)")
    guard !isIgnored else { return }
    let path = Focus1.field(Self.id(name))
    try await reader.signals("field of \(name)") { signals in
      signals.dropFirst(known).first {
        $0.member == "InterfacesAdded" && $0.arguments.first?.basicText == path
      }.map { _ in true }
    }
  }

  static func id(_ name: String) -> String { "player_" + name.replacing(".", with: "_") }

  private static func metadata(of name: String) -> DBusValue {
    .properties([("xesam:title", .string("Song of \(name)")), ("xesam:artist", .strings(["A", "B"]))])
  }

  func object(_ name: String) -> Exported? { players[name]?.object }

  /// A player changes a property by itself, and the daemon has taken it in.
  func change(_ name: String, _ property: String, to value: DBusValue) async throws {
    guard let player = players[name] else { throw UnexpectedReply(reply: [.string(name)]) }
    player.object.change("\(Self.player).\(property)", to: value)
    try await player.peer.settle()
  }

  /// A paused player keeps telling things.
  func chatter(_ name: String) async throws {
    try await change(name, "Metadata", to: Self.metadata(of: name + " again"))
    try await change(name, "Volume", to: .double(0.7))
    players[name]?.object.emit(Self.player, "Seeked", [.int64(1)])
    try await change(name, "Metadata", to: Self.metadata(of: name))
  }

  func quit(_ name: String) async throws {
    guard let player = players.removeValue(forKey: name) else { return }
    try await player.peer.leave()
    try await gone(name)
  }

  private func gone(_ name: String) async throws {
    let path = Focus1.field(Self.id(name))
    try await reader.signals("end of the field of \(name)") { signals in
      let last = signals.last {
        $0.member.hasPrefix("Interfaces") && $0.arguments.first?.basicText == path
      }
      return last?.member == "InterfacesRemoved" ? true : nil
    }
  }

  /// A player gives its name up, and stays on the bus.
  func release(_ name: String) async throws {
    try await players[name]?.peer.askBus("ReleaseName", [.string("\(Self.title).\(name)")])
    try await gone(name)
  }

  /// The window of a player comes to the front; an empty name: no window is in front.
  func bringToFront(_ name: String) async throws {
    let windows: Peer
    if let known = self.windows {
      windows = known
    } else {
      windows = try await desktop.peer()
      try await windows.own("org.focusd.Bridge1.Windows")
      try await windows.register("window", [("org.focusd.Window.Title", .string("Player"))])
      self.windows = windows
    }
    guard let player = players[name] else {
      try await windows.field("window", "Blur")
      return
    }
    try await windows.field("window", "Adopt", [.strings([player.peer.name])])
    try await windows.focus("window")
  }

  /// The daemon is killed and started again, and has looked at the objects of all players.
  func restart() async throws {
    let ids = try await registered().filter { $0.hasPrefix("player_") }
    try await desktop.crash()
    for id in ids { try await reader.restored("\(Self.player).PlaybackStatus", at: Focus1.field(id)) }
  }

  // MARK: What people get

  /// Whose `key` it is that keys go to; empty for nobody's.
  func front(_ key: String = "PlaybackStatus") async throws -> String {
    let field = try await reader.read("\(Self.player).\(key)").field
    return players.keys.first { Self.id($0) == field } ?? field
  }

  func registered() async throws -> [String] { try await reader.fields() }
}
