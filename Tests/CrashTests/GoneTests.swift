import BusSupport
import DBus
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
    try await PrivateBus.with { bus in
      let state = bus.directory + "/state"
      try await Self.makeBackup(on: bus)
      var daemon = try await Focus1.start(on: bus)
      let client = try Caller(on: bus)
      try await onThread {
        for id in ["a", "b"] {
          try client.register(
            id, [(name: "demo.Gone.Text", value: .string(id))], [(name: "linger", value: .boolean(true))])
        }
        try client.field("a", "Focus")
      }
      let done = try await bus.run(["/bin/sh", "-ec", "cd \(state)\n" + accident.rawValue])
      #expect(done.succeeded, "\(done)")
      let revision = try await onThread {
        try client.write("demo.Gone.Text", .string("changed"), at: Focus1.field("b"))
      }
      // Killed, so that nothing is made good at the end.
      try await daemon.stop()
      #expect(daemon.progress.now.errors.filter { $0.contains("has been moved, deleted or replaced") }.count == 1)

      daemon = try await Focus1.start(on: bus)
      try await onThread { () throws in
        #expect(try client.owners().keys.sorted() == ["a", "b"])
        #expect(try client.fields("FocusPath") == ["a"])
        #expect(try client.read("demo.Gone.Text", at: Focus1.field("a")).value == .string("a"))
        let read = try client.read("demo.Gone.Text", at: Focus1.field("b"))
        #expect(read.value == .string("changed"))
        #expect(read.revision == revision)
      }
      #expect(!daemon.progress.now.errors.contains { $0.contains("damaged") || $0.contains("cannot") })
      // What somebody has put there is kept.
      let kept = FileManager.default.fileExists(atPath: state + "/focusd/state.db.replaced-1")
      let puts: [Accident] = [.databaseReplacedByAnother, .databaseReplacedByItsCopy, .directoryReplacedByACopy]
      #expect(kept == puts.contains(accident))
      try await daemon.stop()
    }
  }

  /// Leaves, as a backup beside it, the state of a daemon that has the field `old`.
  private static func makeBackup(on bus: PrivateBus) async throws {
    let daemon = try await Focus1.start(on: bus)
    let client = try Caller(on: bus)
    try await onThread { try client.register("old", [], [(name: "linger", value: .boolean(true))]) }
    daemon.terminate()
    try await daemon.finish()
    try FileManager.default.moveItem(atPath: bus.directory + "/state/focusd", toPath: bus.directory + "/state/backup")
  }

  /// Where the directory cannot be made anew, changes are refused until it can.
  @Test func whatCannotBeMadeAnewIsRefused() async throws {
    try await PrivateBus.with { bus in
      let state = bus.directory + "/state"
      let daemon = try await Focus1.start(on: bus)
      let client = try Caller(on: bus)
      try await onThread {
        try client.register("a", [(name: "demo.A.B", value: .int32(1))], [(name: "linger", value: .boolean(true))])
      }
      try FileManager.default.removeItem(atPath: state)
      try Data("in the way".utf8).write(to: URL(filePath: state))
      try await onThread { () throws in
        for _ in 0..<2 {
          #expect { try client.write("demo.A.B", .int32(2), at: Focus1.field("a")) } throws: { error in
            (error as? CallError)?.name == "org.freedesktop.DBus.Error.IOError"
          }
          #expect(try client.read("demo.A.B", at: Focus1.field("a")).value == .int32(1))
        }
      }
      try FileManager.default.removeItem(atPath: state)
      try await onThread { () throws in
        try client.write("demo.A.B", .int32(3), at: Focus1.field("a"))
      }
      try await daemon.stop()
      let again = try await Focus1.start(on: bus)
      try await onThread { () throws in
        #expect(try client.read("demo.A.B", at: Focus1.field("a")).value == .int32(3))
      }
      try await again.stop()
    }
  }

  /// A second daemon has made the directory anew: its state is its own.
  @Test func theStateOfAnotherDaemonIsLeftAlone() async throws {
    try await PrivateBus.with { first in
      let daemon = try await Focus1.start(on: first)
      let client = try Caller(on: first)
      try await onThread {
        try client.register("a", [(name: "demo.A.B", value: .int32(1))], [(name: "linger", value: .boolean(true))])
      }
      try FileManager.default.removeItem(atPath: first.directory + "/state")
      try await PrivateBus.with { second in
        let other = try await Focus1.start(on: second, extra: ["XDG_STATE_HOME": first.directory + "/state"])
        let stranger = try Caller(on: second)
        try await onThread { () throws in
          try stranger.register("b", [(name: "demo.A.B", value: .int32(1))], [(name: "linger", value: .boolean(true))])
          #expect { try client.write("demo.A.B", .int32(2), at: Focus1.field("a")) } throws: { error in
            (error as? CallError)?.message.contains("another focusd uses it") == true
          }
          try stranger.write("demo.A.B", .int32(2), at: Focus1.field("b"))
        }
        #expect(!other.progress.now.errors.contains { $0.contains("replaced") })
        try await other.stop()
      }
      try await daemon.stop()
    }
  }
}
