import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// Someone moves, deletes or replaces the state under a daemon that runs: what it acknowledges is still in a file that the
/// next daemon finds.
@Suite struct GoneTests {
  /// What happens, as a shell command in the directory above the state's.
  enum Accident: String, CaseIterable, Sendable {
    case directoryDeleted = "rm -r focusd"
    case directoryMoved = "mv focusd elsewhere"
    case directoryReplacedByAnEmptyOne = "mv focusd elsewhere && mkdir -m 700 focusd"
    case databaseDeleted = "rm focusd/state.db"
    case logDeleted = "rm focusd/state.db-wal"
    case allDeleted = "rm focusd/state.db*"
    case databaseReplacedByAnother = "cp backup/state.db focusd/new && mv focusd/new focusd/state.db"
    case databaseReplacedByItsCopy = "cp focusd/state.db focusd/new && mv focusd/new focusd/state.db"
    case logReplaced = "cp focusd/state.db-wal focusd/new && mv focusd/new focusd/state.db-wal"
    case directoryReplacedByACopy = "cp -a focusd copy && mv focusd elsewhere && mv copy focusd"
  }

  @Test(arguments: Accident.allCases) func whatIsAcknowledgedIsFound(accident: Accident) async throws {
    try await TestDesktop.with { desktop in
      let state = desktop.stateHome
      try await Self.makeBackup(on: desktop)
      try await desktop.start()
      let client = try await desktop.peer()
      for id in ["a", "b"] {
        try await client.register(
          id, [("demo.Gone.Text", .string(id))], [("linger", .boolean(true))])
      }
      try await client.field("a", "Focus")
      let done = try await desktop.run(["/bin/sh", "-ec", "cd \(state)\n" + accident.rawValue])
      #expect(done.succeeded, "\(done)")
      let written = try await client.write("demo.Gone.Text", .string("changed"), at: Focus1.field("b"))
      // Killed, so that nothing is made good at the end.
      try await desktop.kill()
      #expect(desktop.log("has been moved, deleted or replaced").count == 1)

      try await desktop.start()
      #expect(try await client.owners().keys.sorted() == ["a", "b"])
      #expect(try await client.fields("FocusPath") == ["a"])
      #expect(try await client.read("demo.Gone.Text", at: Focus1.field("a")).value == .string("a"))
      #expect(written.value == .string("changed"))
      #expect(try await client.read("demo.Gone.Text", at: Focus1.field("b")) == written)
      #expect(!desktop.log.contains { $0.contains("damaged") || $0.contains("cannot") })
      // What somebody has put there is kept.
      let kept = FileManager.default.fileExists(atPath: state + "/focusd/state.db.replaced-1")
      let puts: [Accident] = [.databaseReplacedByAnother, .databaseReplacedByItsCopy, .directoryReplacedByACopy]
      #expect(kept == puts.contains(accident))
    }
  }

  /// Leaves, as a backup beside it, the state of a daemon that has the field `old`.
  private static func makeBackup(on desktop: TestDesktop) async throws {
    let client = try await desktop.peer()
    try await client.register("old", [], [("linger", .boolean(true))])
    try await desktop.end()
    try FileManager.default.moveItem(atPath: desktop.stateDirectory, toPath: desktop.stateHome + "/backup")
  }

  /// Where the directory cannot be made anew, changes are refused until it can.
  @Test func whatCannotBeMadeAnewIsRefused() async throws {
    try await TestDesktop.with { desktop in
      let state = desktop.stateHome
      let client = try await desktop.peer()
      try await client.register("a", [("demo.A.B", .int32(1))], [("linger", .boolean(true))])
      try FileManager.default.removeItem(atPath: state)
      try Data("in the way".utf8).write(to: URL(filePath: state))
      for _ in 0..<2 {
        #expect(try await refusal { try await client.write("demo.A.B", .int32(2), at: Focus1.field("a")) } == "IOError")
        #expect(try await client.read("demo.A.B", at: Focus1.field("a")).value == .int32(1))
      }
      try FileManager.default.removeItem(atPath: state)
      try await client.write("demo.A.B", .int32(3), at: Focus1.field("a"))
      try await desktop.crash()
      #expect(try await client.read("demo.A.B", at: Focus1.field("a")).value == .int32(3))
    }
  }

  /// A second daemon has made the directory anew: its state is its own.
  @Test func theStateOfAnotherDaemonIsLeftAlone() async throws {
    try await TestDesktop.with { first in
      let client = try await first.peer()
      try await client.register("a", [("demo.A.B", .int32(1))], [("linger", .boolean(true))])
      try FileManager.default.removeItem(atPath: first.stateHome)
      try await TestDesktop.with(environment: ["XDG_STATE_HOME": first.stateHome]) { second in
        let stranger = try await second.peer()
        try await stranger.register("b", [("demo.A.B", .int32(1))], [("linger", .boolean(true))])
        await #expect { try await client.write("demo.A.B", .int32(2), at: Focus1.field("a")) } throws: { error in
          (error as? RemoteError)?.message.contains("another focusd uses it") == true
        }
        try await stranger.write("demo.A.B", .int32(2), at: Focus1.field("b"))
        #expect(second.log("replaced").isEmpty)
      }
    }
  }
}
