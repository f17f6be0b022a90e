import BusSupport
import DBus
import DBusTypes
import Foundation
import Glibc
import TestSupport
import Testing

/// The daemon starts while its state cannot be written to: what is saved is there to be read, and changes are refused.
@Suite struct ReadOnlyTests {
  private static let ioError = "org.freedesktop.DBus.Error.IOError"

  /// Killed, the daemon before left much of its state in the log; ended in order, it left no log.
  @Test(arguments: [Int32(9), 15]) func whatIsSavedIsServedAndChangesWorkLater(signal: Int32) async throws {
    try await PrivateBus.with { bus in
      var daemon = try await Focus1.start(on: bus)
      let owner = try await BoundOwner(on: bus)
      let client = try Caller(on: bus)
      let before = try await onThread { () throws -> UInt64 in
        for id in ["a", "b"] {
          try client.register(id, [(name: "demo.A.B", value: .string(id))], [(name: "linger", value: .boolean(true))])
        }
        try client.field("a", "Focus")
        return try client.write("demo.A.B", .string("last"))
      }
      daemon.terminate(signal)
      try await daemon.finish()

      let state = ReadOnlyState(bus.directory + "/state/focusd")
      try await state.close(on: bus)
      daemon = try await Focus1.start(on: bus, prefix: state.prefix)
      try await onThread { () throws in
        #expect(try client.owners().keys.sorted() == ["a", "b", BoundOwner.id])
        #expect(try client.fields("FocusPath") == ["a"])
        let read = try client.read("demo.A.B")
        #expect(read.value == .string("last") && read.revision == before)
        let level = try client.call(
          Focus1.field(BoundOwner.id), Focus1.properties, "Get", [.string("demo.Bound"), .string("Level")])
        #expect(level.first?.variantContent == .int32(owner.level))
        for _ in 0..<2 {
          for change in Self.changes(client) {
            #expect { try change() } throws: { ($0 as? CallError)?.name == Self.ioError }
          }
        }
        #expect(try client.read("demo.A.B", at: Focus1.field("b")).value == .string("b"))
      }
      #expect(daemon.progress.now.errors.filter { $0.contains("is read-only") }.count == 1)

      try await state.open(for: daemon, on: bus)
      try await onThread { () throws in
        for change in Self.changes(client) { try change() }
        #expect(try client.read(BoundOwner.levelKey, at: Focus1.field(BoundOwner.id)).revision > before)
      }
      try await daemon.stop()

      daemon = try await Focus1.start(on: bus)
      try await onThread { () throws in
        #expect(try client.owners().keys.sorted() == ["a", "b", "c", BoundOwner.id])
        #expect(try client.fields("FocusPath") == ["b"])
        let read = try client.read("demo.A.B")
        #expect(read.value == .string("changed") && read.revision > before)
        #expect(try client.read("demo.A.B", at: Focus1.field("a")).value == .string("last"))
      }
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: state.directory).filter { $0.hasPrefix("state.db.") } == [])
      try await owner.stop(with: client)
      try await daemon.stop()
    }
  }

  private static func changes(_ client: Caller) -> [() throws -> Void] {
    [
      { try client.write("demo.A.B", .string("changed"), at: Focus1.field("b")) },
      { try client.field("b", "Focus") },
      { try client.register("c", [], [(name: "linger", value: .boolean(true))]) },
    ]
  }
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
  func close(on bus: PrivateBus) async throws {
    guard !isRoot else { return }
    #expect(try await bus.run(["/bin/sh", "-ec", "chmod 400 \(directory)/*; chmod 500 \(directory)"]).succeeded)
  }

  /// Lets `daemon` write.
  func open(for daemon: ManagedProcess, on bus: PrivateBus) async throws {
    let command =
      isRoot
      ? [
        "/usr/bin/nsenter", "--mount", "--target", "\(daemon.processID)", "/bin/mount", "-o", "remount,bind,rw",
        directory,
      ]
      : ["/bin/sh", "-ec", "chmod 700 \(directory); chmod 600 \(directory)/*"]
    let result = try await bus.run(command)
    #expect(result.succeeded, "\(result)")
  }
}
