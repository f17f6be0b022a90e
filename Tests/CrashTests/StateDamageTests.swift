import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// A state file that is damaged under a daemon that runs: it knows itself what the file should hold.
@Suite struct StateDamageTests {
  private static let key = "demo.Damage.Text"

  @Test func whatIsDamagedIsKeptAndEverythingSavedAnew() async throws {
    try await TestDesktop.with(prefix: TestDesktop.journaled) { desktop in
      let client = try await desktop.peer()
      // More than SQLite keeps of a file in memory: what it wants of it again, it has to read.
      for number in 0..<8 {
        try await client.register(
          "f\(number)", [(Self.key, Self.text(number, "a"))],
          [("linger", .boolean(number < 4))])
      }
      try await client.field("f2", "Focus")
      // Such a turn does not wait: the bus has been asked before.
      let monitor = try await desktop.start([
        "/usr/bin/dbus-monitor", "--address", desktop.bus.address,
        "type='method_call',destination='org.freedesktop.DBus'",
      ])
      try await monitor.line()
      // While what was written is copied into the file, a write would be refused.
      try await eventually("one thread") {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(desktop.daemon.processID)/task").count == 1
      }
      let directory = desktop.stateDirectory
      for file in try FileManager.default.contentsOfDirectory(atPath: directory) {
        try Self.overwrite(directory + "/" + file)
      }
      for number in 0..<8 {
        try await client.write(Self.key, Self.text(number, "b"), at: Focus1.field("f\(number)"))
      }
      try await client.field("f3", "Focus")
      try await desktop.said("<3>")
      let said = desktop.log("<3>")
      #expect(said.count == 1 && said.allSatisfy { $0.contains("state.db.damaged-1") }, "\(said)")
      #expect(FileManager.default.fileExists(atPath: directory + "/state.db.damaged-1"))
      let busName = try await client.askBus("GetNameOwner", [.string(Focus1.name)]).first?.basicText ?? ""
      try await monitor.line("the client's question") { $0.contains("member=GetNameOwner") }
      #expect(monitor.progress.now.output.filter { $0.contains("sender=\(busName) ") } == [])
      try await monitor.stop()
      try await desktop.crash()
      #expect(try await client.fields("FocusPath") == ["f3"])
      #expect(try await client.fields("History") == ["f2"])
      for number in 0..<8 {
        let value = try await client.read(Self.key, at: Focus1.field("f\(number)")).value
        #expect(value == Self.text(number, "b"), "f\(number)")
      }
      #expect(desktop.log("damaged") == [])
    }
  }

  private static func text(_ number: Int, _ letter: Character) -> DBusValue {
    .string("\(number)" + String(repeating: letter, count: 900_000))
  }

  private static func overwrite(_ path: String) throws {
    let file = try FileHandle(forUpdating: URL(filePath: path))
    let length = try file.seekToEnd()
    try file.seek(toOffset: 0)
    try file.write(contentsOf: Data(repeating: 0xa5, count: Int(length)))
    try file.close()
  }

  /// A registration waits for its owner while the state file can be opened at last: its id stays its own.
  @Test func whatIsBeingRegisteredKeepsItsIdWhenTheStateComesBack() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let place = desktop.bus.directory + "/place"
      try Data("in the way".utf8).write(to: URL(filePath: place))
      try await desktop.start(environment: ["XDG_STATE_HOME": place])
      let (owner, client) = (try await desktop.peer(), try await desktop.peer())
      let object = Exported(owner, document(("demo.Slow", property("P", "i", "read"))), ["demo.Slow.P": .int32(1)])
      object.rule("Introspect") { _, _, _ in .hold }
      let registration = owner.begin(.register("a", object: object.path))
      try await object.called("Introspect")
      let early = try await refusal { try await client.register("a") }
      // What cannot be saved has the daemon try the file again.
      let unsaved = try await refusal { try await client.register("b") }
      #expect(unsaved == "IOError")
      try FileManager.default.removeItem(atPath: place)
      // The daemon may have made it itself already.
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
      try await desktop.said("can be saved again")
      let late = try await refusal { try await client.register("a") }
      object.rule("Introspect", nil)
      object.release()
      let outcome = try await registration.refusal()
      // On a machine that holds it up for 5 s the daemon no longer waits for the owner, and the id is free.
      if outcome == "Timeout" { return }
      #expect([early, late] == ["FieldExists", "FieldExists"])
      #expect(outcome == nil)
      #expect(try await client.owners() == ["a": owner.name])
    }
  }
}
