import BusSupport
import DBus
import EventLoop
import TestSupport
import Testing

/// A process built on FocusKit that plays a part of a scene.
final class Player: Sendable {
  let process: ManagedProcess
  private let orders = Locked(0)

  init(on desktop: TestDesktop, _ program: String = "ScenePlayer", _ arguments: String...) async throws {
    process = try await desktop.start([Products.directory + "/" + program] + arguments)
  }

  /// Gives an order and waits for the answer to it; a refusal is its name and message.
  /// - Throws: `DeadlinePassed`.
  @discardableResult
  func play(_ order: String, within limit: Duration = .seconds(60)) async throws -> String {
    let number = orders.withLock { number in
      number += 1
      return number
    }
    process.send(line: order)
    let answer = try await process.progress.wait(for: "an answer to '\(order)'", within: limit) { progress -> String? in
      let answers = progress.output.filter { $0.hasPrefix("= ") || $0.hasPrefix("! ") }
      return answers.count >= number ? answers[number - 1] : nil
    }
    return String(answer.dropFirst(2))
  }

  /// The name of the error that an order is refused with.
  func refusal(of order: String) async throws -> String {
    let name = try await play(order).prefix { $0 != " " }
    return name.split(separator: ".").last.map(String.init) ?? ""
  }

  /// What was told of a watched key, in order.
  func told(_ key: String) -> [String] { Self.told(key, process.progress.now.output) }

  private static func told(_ key: String, _ output: [String]) -> [String] {
    output.filter { $0.hasPrefix("~ \(key) ") }.map { String($0.dropFirst(key.count + 3)) }
  }

  /// Waits until `value` is the last that was told of the watched key `key`.
  func wait(_ key: String, is value: String) async throws {
    _ = try await process.progress.wait(for: "\(key) \(value)") { Self.told(key, $0.output).last == value ? true : nil }
  }

  /// Waits until so many values were told of the watched key `key`, and returns them.
  func told(_ key: String, count: Int) async throws -> [String] {
    try await process.progress.wait(for: "\(count) values of \(key)") { progress -> [String]? in
      let told = Self.told(key, progress.output)
      return told.count >= count ? told : nil
    }
  }

  /// Waits until the error handler was told of an error of this name.
  func waitForError(_ name: String) async throws {
    _ = try await process.progress.wait(for: "the error \(name)") { progress in
      progress.output.contains { $0.hasPrefix("* ") && $0.contains(".\(name) ") } ? true : nil
    }
  }

  /// What the error handler was told of.
  var errors: [String] { process.progress.now.output.filter { $0.hasPrefix("* ") } }
}

extension TestDesktop {
  /// Starts `count` players, and plays `body` with them.
  static func play(
    _ count: Int, isolation: isolated (any Actor)? = #isolation,
    _ body: (TestDesktop, [Player]) async throws -> Void
  ) async throws {
    try await with { desktop in
      var players: [Player] = []
      for _ in 0..<count { players.append(try await Player(on: desktop)) }
      try await body(desktop, players)
      for player in players { try await player.process.stop() }
    }
  }
}
