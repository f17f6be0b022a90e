import BusSupport
import DBusTypes
import Foundation
import Glibc
import TestSupport
import Testing

/// The daemon starts while its state cannot be written to: what is saved is there to be read, and changes are refused.
@Suite struct ReadOnlyStateTests {
  /// Killed, the daemon before left much of its state in the log; ended in order, it left no log.
  @Test(arguments: [Int32(9), 15]) func whatIsSavedIsServedAndChangesWorkLater(signal: Int32) async throws {
    try await TestDesktop.with { desktop in
      let owner = try await BoundOwner(on: desktop)
      let client = try await desktop.peer()
      for id in ["a", "b"] {
        try await client.register(id, [("demo.A.B", .string(id))], [("linger", .boolean(true))])
      }
      try await client.field("a", "Focus")
      let before = try await client.write("demo.A.B", .string("last"))
      try await desktop.end(signal)

      let state = ReadOnlyState(desktop.stateDirectory)
      try await state.close(on: desktop)
      try await desktop.start(prefix: state.prefix)
      #expect(try await client.owners().keys.sorted() == ["a", "b", BoundOwner.id])
      #expect(try await client.fields("FocusPath") == ["a"])
      #expect(before.value == .string("last"))
      #expect(try await client.read("demo.A.B") == before)
      // The field is back before its object if that takes a while.
      try await eventually("the object's value") {
        (try? await client.get(BoundOwner.levelKey, at: Focus1.field(BoundOwner.id))) == owner.level
      }
      for _ in 0..<2 {
        for change in Self.changes { #expect(try await refusal { try await client.call(change) } == "IOError") }
      }
      #expect(try await client.read("demo.A.B", at: Focus1.field("b")).value == .string("b"))
      #expect(desktop.log("is read-only").count == 1)

      try await state.open(on: desktop)
      for change in Self.changes { try await client.call(change) }
      #expect(try await client.read(BoundOwner.levelKey, at: Focus1.field(BoundOwner.id)).revision > before.revision)
      try await desktop.crash()
      #expect(try await client.owners().keys.sorted() == ["a", "b", "c", BoundOwner.id])
      #expect(try await client.fields("FocusPath") == ["b"])
      let read = try await client.read("demo.A.B")
      #expect(read.value == .string("changed") && read.revision > before.revision)
      #expect(try await client.read("demo.A.B", at: Focus1.field("a")).value == .string("last"))
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: state.directory).filter { $0.hasPrefix("state.db.") } == [])
    }
  }

  private static let changes: [DaemonCall] = [
    .write("demo.A.B", .string("changed"), at: Focus1.field("b")), .field("b", "Focus"),
    .register("c", [], [("linger", .boolean(true))]),
  ]
}

/// A directory that a daemon cannot write to: for root, in a mount namespace of the daemon's own.
private struct ReadOnlyState {
  let directory: String
  private let isRoot = geteuid() == 0

  init(_ directory: String) { self.directory = directory }

  /// What the daemon is started with.
  var prefix: [String] {
    guard isRoot else { return [] }
    let script = """
      mount --bind "$STATE" "$STATE"
      mount -o remount,bind,ro "$STATE"
      exec "$0" "$@"
      """
    return ["/usr/bin/env", "STATE=\(directory)", "/usr/bin/unshare", "--mount", "/bin/sh", "-ec", script]
  }

  /// Takes the user's own right to write away.
  func close(on desktop: TestDesktop) async throws {
    guard !isRoot else { return }
    #expect(try await desktop.run(["/bin/sh", "-ec", "chmod 400 \(directory)/*; chmod 500 \(directory)"]).succeeded)
  }

  /// Lets the daemon write.
  func open(on desktop: TestDesktop) async throws {
    let command =
      isRoot
      ? [
        "/usr/bin/nsenter", "--mount", "--target", "\(desktop.daemon.processID)", "/bin/mount", "-o", "remount,bind,rw",
        directory,
      ]
      : ["/bin/sh", "-ec", "chmod 700 \(directory); chmod 600 \(directory)/*"]
    let result = try await desktop.run(command)
    #expect(result.succeeded, "\(result)")
  }
}
