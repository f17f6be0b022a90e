import BusSupport
import DBus
import DBusTypes
import Foundation
import TestSupport
import Testing

/// A state file that is damaged under a daemon that runs: it knows itself what the file should hold.
@Suite struct DamageTests {
  private static let key = "demo.Damage.Text"

  @Test func whatIsDamagedIsKeptAndEverythingSavedAnew() async throws {
    try await PrivateBus.with { bus in
      let daemon = try await Focus1.start(on: bus, extra: ["JOURNAL_STREAM": "8:1"])
      let client = try Caller(on: bus)
      // More than SQLite keeps of a file in memory: what it wants of it again, it has to read.
      try await onThread {
        for number in 0..<8 {
          try client.register(
            "f\(number)", [(name: Self.key, value: Self.text(number, "a"))],
            [(name: "linger", value: .boolean(number < 4))])
        }
        try client.field("f2", "Focus")
      }
      // Such a turn does not wait: the daemon already knows the state of the bus.
      let monitor = try await bus.start([
        "/usr/bin/dbus-monitor", "--address", bus.address, "type='method_call',destination='org.freedesktop.DBus'",
      ])
      try await monitor.line()
      let directory = bus.directory + "/state/focusd"
      for file in try FileManager.default.contentsOfDirectory(atPath: directory) {
        try Self.overwrite(directory + "/" + file)
      }
      try await onThread {
        for number in 0..<8 {
          try client.write(Self.key, Self.text(number, "b"), at: Focus1.field("f\(number)"))
        }
        try client.field("f3", "Focus")
      }
      let said = daemon.progress.now.errors.filter { $0.hasPrefix("<3>") }
      #expect(said.count == 1 && said.allSatisfy { $0.contains("state.db.damaged-1") }, "\(said)")
      #expect(FileManager.default.fileExists(atPath: directory + "/state.db.damaged-1"))
      let busName = try await onThread {
        try client.askBus("GetNameOwner", [.string(Focus1.name)]).first?.basicText ?? ""
      }
      try await monitor.line("the client's question") { $0.contains("member=GetNameOwner") }
      #expect(monitor.progress.now.output.filter { $0.contains("sender=\(busName) ") } == [])
      try await monitor.stop()
      try await daemon.stop()

      let again = try await Focus1.start(on: bus)
      try await onThread { () throws in
        #expect(try client.fields("FocusPath") == ["f3"])
        #expect(try client.fields("History") == ["f2"])
        for number in 0..<8 {
          let value = try client.read(Self.key, at: Focus1.field("f\(number)")).value
          #expect(value == Self.text(number, "b"), "f\(number)")
        }
      }
      #expect(!again.progress.now.errors.contains { $0.contains("damaged") })
      try await again.stop()
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
    try await PrivateBus.with { bus in
      let place = bus.directory + "/place"
      try Data("in the way".utf8).write(to: URL(filePath: place))
      let daemon = try await Focus1.start(on: bus, extra: ["XDG_STATE_HOME": place])
      let owner = try SlowOwner(on: bus)
      let client = try Caller(on: bus)
      try await onThread {
        try owner.beginRegistration(of: "a")
        #expect(Self.refusal { try client.register("a") } == "FieldExists")
        // What cannot be saved has the daemon try the file again.
        #expect(Self.refusal { try client.register("b") } == "IOError")
      }
      try FileManager.default.removeItem(atPath: place)
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
      _ = try await daemon.progress.wait(for: "second try") { progress in
        progress.errors.first { $0.contains("can be saved again") }
      }
      try await onThread {
        let refusal = Self.refusal { try client.register("a") }
        let outcome = try owner.finishRegistration()
        // On a machine that holds it up for 5 s the daemon no longer waits for the owner, and the id is free.
        if outcome == "Timeout" { return }
        #expect(refusal == "FieldExists")
        #expect(outcome == nil)
        #expect(try client.owners() == ["a": owner.name])
      }
      try await daemon.stop()
    }
  }

  private static func refusal(_ body: () throws -> Void) -> String? {
    do {
      try body()
      return nil
    } catch let error as CallError {
      return error.name?.split(separator: ".").last.map(String.init) ?? "no answer"
    } catch {
      return "\(error)"
    }
  }
}

/// Registers a field with an object, and says nothing of the object until it is told to.
private final class SlowOwner: @unchecked Sendable {
  private let caller: Caller
  private var held: [Message] = []
  private var answers = false
  private var outcome: Result<[DBusValue], CallError>?

  init(on bus: PrivateBus) throws {
    caller = try Caller(on: bus)
    caller.onCall = { [unowned self] message in
      guard answers else {
        held.append(message)
        return nil
      }
      return answer(message)
    }
  }

  var name: String { caller.name }

  private func answer(_ message: Message) -> OutgoingMessage? {
    switch message.member?.text {
    case "Introspect":
      try? message.reply([
        .string(#"<node><interface name="demo.Slow"><property name="P" type="i" access="read"/></interface></node>"#)
      ])
    default: try? message.reply([.properties([(name: "P", value: .int32(1))])])
    }
  }

  /// Returns when the daemon has asked for the object.
  func beginRegistration(of id: String) throws {
    try caller.begin(
      Caller.message(
        Focus1.manager, Focus1.managerInterface, "Register",
        [.string(id), .properties([]), .properties([(name: "object", value: .objectPath(try ObjectPath("/slow")))])])
    ) { [weak self] in self?.outcome = $0 }
    caller.wait { !held.isEmpty }
  }

  /// Returns the last part of the error's name, or nil.
  func finishRegistration() throws -> String? {
    answers = true
    for call in held {
      if let answer = answer(call) { try caller.send(answer) }
    }
    caller.wait { outcome != nil }
    guard case .failure(let error)? = outcome else { return nil }
    return error.name?.split(separator: ".").last.map(String.init) ?? "no answer"
  }
}
