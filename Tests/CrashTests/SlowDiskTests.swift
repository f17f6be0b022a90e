import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// A disk that takes its time delays nobody.
@Suite struct SlowDiskTests {
  private static let key = "demo.Disk.Blob"

  /// Syncs are held for as long as the test likes, and each says on which thread it is.
  @Test func theLoopSyncsNothingAndServesWhileAnotherThreadDoes() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let disk = try await HeldDisk(on: desktop)
      try await desktop.start(environment: disk.environment)
      let client = try await desktop.peer()
      try await client.register("a", [(Self.key, Self.blob(0))], [("linger", .boolean(true))])
      for number in UInt8(1)...8 { try await client.write(Self.key, Self.blob(number), at: Focus1.field("a")) }
      try await desktop.said("sync in another thread")
      #expect(desktop.log("sync in").count == 1)
      #expect(try await client.read(Self.key, at: Focus1.field("a")).value == Self.blob(8))
      try await client.write(Self.key, Self.blob(9), at: Focus1.field("a"))
      #expect(try await client.read(Self.key, at: Focus1.field("a")).value == Self.blob(9))
      #expect(desktop.log("sync in").count == 1)

      // What is half copied when the daemon is killed is whole again.
      try await desktop.kill()
      try await desktop.start(environment: disk.environment)
      #expect(try await client.read(Self.key, at: Focus1.field("a")).value == Self.blob(9))
      for number in UInt8(10)...20 { try await client.write(Self.key, Self.blob(number), at: Focus1.field("a")) }
      try await desktop.said("sync in another thread")
      #expect(desktop.log("sync in the loop") == [])
      try disk.release()
      // The loop empties the log, which is then written from its start, and syncs nothing for that.
      try await disk.waitForSmallLog { number in
        try await client.write(Self.key, Self.blob(number), at: Focus1.field("a"))
      }
      #expect(desktop.log("sync in the loop") == [])
      try await desktop.end()
      #expect(try FileManager.default.contentsOfDirectory(atPath: desktop.stateDirectory) == ["state.db"])
    }
  }

  /// One that writes again and again, with no time between for a checkpoint to be complete.
  @Test func theLogStaysSmallUnderLoad() async throws {
    // On a busy machine no copy may be complete in the short time that it is waited for.
    try await inTime("a log that is emptied before 152 MiB are written") {
      try await TestDesktop.with { desktop in
        let clients = [try await desktop.peer(), try await desktop.peer()]
        for (number, client) in clients.enumerated() {
          try await client.register("f\(number)", [(Self.key, Self.blob(0))], [("linger", .boolean(true))])
        }
        try await withThrowingTaskGroup { group in
          for (number, client) in clients.enumerated() {
            group.addTask {
              for round in 0..<80 {
                try await client.write(
                  Self.key, Self.blob(UInt8(truncatingIfNeeded: round)), at: Focus1.field("f\(number)"))
              }
            }
          }
          try await group.waitForAll()
        }
        let log = try FileManager.default.attributesOfItem(atPath: desktop.stateDirectory + "/state.db-wal")
        let size = try #require(log[.size] as? Int)
        return size < 128 << 20
      }
    }
  }

  fileprivate static func blob(_ number: UInt8) -> DBusValue {
    .string(String(repeating: Character(UnicodeScalar(UInt8(ascii: "a") + number % 26)), count: 1_000_000))
  }
}

/// A disk whose syncs are held.
private struct HeldDisk {
  private let gate: String
  private let log: String
  let environment: [String: String]

  init(on desktop: TestDesktop) async throws {
    let library = desktop.bus.directory + "/held_sync.so"
    gate = desktop.bus.directory + "/gate"
    log = desktop.stateDirectory + "/state.db-wal"
    let source = try #require(Bundle.module.path(forResource: "held_sync", ofType: "c", inDirectory: "Resources"))
    let compiled = try await desktop.run(
      ["/usr/bin/cc", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library, source])
    try #require(compiled.succeeded, "\(compiled)")
    environment = ["LD_PRELOAD": library, "HELD_SYNC": gate]
    try #require(mkfifo(gate, 0o600) == 0)
  }

  /// Lets what is held go on, and holds nothing any more.
  func release() throws {
    let file = open(gate, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
    try #require(file >= 0, "no sync is held")
    unlink(gate)
    close(file)
  }

  /// Writes until the log begins anew.
  func waitForSmallLog(_ write: (UInt8) async throws -> Void) async throws {
    let before = size
    let deadline = SuspendingClock.now + .seconds(60)
    var number: UInt8 = 0
    while size >= before {
      try #require(SuspendingClock.now < deadline, "the log is not emptied")
      number = (number + 1) % 26
      try await write(number)
    }
  }

  private var size: Int { (try? FileManager.default.attributesOfItem(atPath: log)[.size] as? Int) ?? 0 }
}
