import BusSupport
import DBus
import DBusTypes
import Foundation
import TestSupport
import Testing

/// What cannot be made durable is refused, and everything else goes on.
@Suite struct NoSpaceTests {
  private static let ioError = "org.freedesktop.DBus.Error.IOError"

  /// The daemon's files may not grow: to it, that is a full disk, which needs no file system of its own.
  @Test func onAFullDiskReadsAreServedAndChangesRefused() async throws {
    try await PrivateBus.with { bus in
      let daemon = try await Focus1.start(on: bus)
      let client = try Caller(on: bus)
      let owner = try await BoundOwner(on: bus)
      let observer = try Caller(on: bus)
      try observer.listen()
      let told = Observed(0)
      observer.onSignal = { message in
        // The bus tells a newcomer its name.
        if message.path?.text.hasPrefix(Focus1.manager) == true { told.update { $0 += 1 } }
      }
      try await onThread {
        for id in ["a", "b"] {
          try client.register(
            id, [(name: "demo.Full.Value", value: .string(id)), (name: "demo.Full.Extra", value: .int32(1))],
            [(name: "linger", value: .boolean(true))])
        }
        try client.field("a", "Focus")
        try observer.call(Focus1.manager, "org.freedesktop.DBus.Peer", "Ping")
      }
      let toldBefore = told.now
      try await daemon.limitFiles(to: "0", on: bus)
      try await onThread {
        for _ in 0..<3 { try Self.changes(client).forEach(Self.refused) }
        #expect(try client.read("demo.Full.Value").value == .string("a"))
        #expect(try client.read("demo.Full.Value", at: Focus1.field("b")).value == .string("b"))
        #expect(try client.fields("FocusPath") == ["a"])
        #expect(try client.owners().keys.sorted() == ["a", "b", BoundOwner.id])
        try Self.refusedAmongOthers(client)
        try observer.call(Focus1.manager, "org.freedesktop.DBus.Peer", "Ping")
      }
      #expect(told.now == toldBefore, "what was refused was announced")
      // A bound field whose removal was refused is as it was: its owner is asked.
      try await onThread {
        try client.write(BoundOwner.levelKey, .int32(77), at: Focus1.field(BoundOwner.id))
        #expect(try client.read(BoundOwner.levelKey, at: Focus1.field(BoundOwner.id)).value == .int32(77))
      }
      #expect(owner.level == 77)
      #expect(Self.lines(of: daemon, "cannot be saved").count == 1)

      try await daemon.limitFiles(to: "unlimited", on: bus)
      try await onThread { for change in Self.changes(client) { try change() } }
      _ = try await daemon.progress.wait(for: "end of the refusals") { progress in
        progress.errors.first { $0.contains("can be saved again") }
      }
      #expect(Self.lines(of: daemon, "can be saved again").count == 1)
      try await daemon.stop()
      let again = try await Focus1.start(on: bus)
      try await onThread { () throws in
        #expect(try client.read("demo.Full.Value").value == .string("changed"))
        #expect(try client.fields("FocusPath") == ["b"])
        #expect(try client.owners().keys.sorted() == ["b", "c", BoundOwner.id])
      }
      try await owner.stop(with: client)
      try await again.stop()
    }
  }

  /// The place for the state file is none at first: nothing can be registered, until it is one.
  @Test func withoutAStateDirectoryItServesAndWaitsForOne() async throws {
    try await PrivateBus.with { bus in
      let place = bus.directory + "/place"
      try Data("in the way".utf8).write(to: URL(filePath: place))
      let daemon = try await Focus1.start(on: bus, extra: ["XDG_STATE_HOME": place])
      let client = try Caller(on: bus)
      let register: @Sendable () throws -> Void = {
        try client.register("a", [(name: "demo.A.B", value: .int32(1))], [(name: "linger", value: .boolean(true))])
      }
      try await onThread {
        for _ in 0..<3 { try Self.refused(register) }
        #expect(try client.read("demo.A.B").value == nil)
        #expect(try client.owners() == [:])
      }
      #expect(Self.lines(of: daemon, "cannot save state in").count == 1)
      try FileManager.default.removeItem(atPath: place)
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
      _ = try await daemon.progress.wait(for: "second try") { progress in
        progress.errors.first { $0.contains("can be saved again") }
      }
      try await onThread { try register() }
      try await daemon.stop()
      let again = try await Focus1.start(on: bus, extra: ["XDG_STATE_HOME": place])
      try await onThread { () throws in #expect(try client.owners().keys.sorted() == ["a"]) }
      try await again.stop()
    }
  }

  /// Two buses of one user share a state directory: the second daemon says who has it, and takes over when that ends.
  @Test func aSecondDaemonWithTheSameStateWaitsForTheFirst() async throws {
    try await PrivateBus.with { first in
      let daemon = try await Focus1.start(on: first)
      let client = try Caller(on: first)
      try await onThread {
        try client.register("a", [(name: "demo.A.B", value: .int32(1))], [(name: "linger", value: .boolean(true))])
        try client.field("a", "Focus")
      }
      try await PrivateBus.with { second in
        let other = try await Focus1.start(on: second, extra: ["XDG_STATE_HOME": first.directory + "/state"])
        let stranger = try Caller(on: second)
        let told = Observed<[String]>([])
        stranger.onSignal = { message in
          if let member = message.member?.text { told.update { $0.append(member) } }
        }
        try stranger.listen()
        #expect(Self.lines(of: other, "another focusd uses it").count == 1)
        try await onThread { () throws in
          #expect(try stranger.owners() == [:])
          try Self.refused { try stranger.register("b") }
        }
        daemon.terminate()
        #expect(try await daemon.finish() == .status(0))
        try await onThread {
          stranger.wait { told.now.contains("InterfacesAdded") && told.now.contains("PropertiesChanged") }
          #expect(try stranger.owners() == ["a": ""])
          #expect(try stranger.read("demo.A.B").value == .int32(1))
          try stranger.register("b")
        }
        try await other.stop()
      }
    }
  }

  @Test func aDamagedFileIsSetAsideInOneLine() async throws {
    try await PrivateBus.with { bus in
      let directory = bus.directory + "/state/focusd"
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      try Data(repeating: 0x5a, count: 50_000).write(to: URL(filePath: directory + "/state.db"))
      let daemon = try await Focus1.start(on: bus)
      #expect(Self.lines(of: daemon, "damaged").count == 1)
      let client = try Caller(on: bus)
      try await onThread { try client.register("a") }
      #expect(try Data(contentsOf: URL(filePath: directory + "/state.db.damaged-1")).count == 50_000)
      try await daemon.stop()
    }
  }

  /// One change of each kind; done in this order, each of them succeeds.
  private static func changes(_ client: Caller) -> [@Sendable () throws -> Void] {
    [
      { try client.register("c", [(name: "demo.Full.Value", value: .string("c"))]) },
      { try client.field("b", "Focus") },
      {
        try client.field("b", "Publish", [.properties([(name: "demo.Full.More", value: .int32(1))]), .properties([])])
      },
      { try client.field("b", "Withdraw", [.strings(["demo.Full.Extra"])]) },
      { try client.write("demo.Full.Value", .string("changed"), at: Focus1.field("b")) },
      {
        try client.call(
          Focus1.field("b"), Focus1.properties, "Set",
          [.string("demo.Full"), .string("Value"), .variant(.string("changed"))])
      },
      { try client.field("a", "Unregister") },
    ]
  }

  /// Reads and a refused change that arrive together: the reads are answered with what there was.
  private static func refusedAmongOthers(_ client: Caller) throws {
    var answers: [String] = []
    for member in ["Read", "Write", "Read", "Write", "Read"] {
      let more: [DBusValue] = member == "Read" ? [] : [.variant(.string("lost")), .properties([])]
      let message = try Caller.message(
        Focus1.field("b"), Focus1.bindings, member, [.string("demo.Full.Value")] + more)
      try client.begin(message) { result in
        switch result {
        case .success(let values):
          answers.append("\(values.first.map { "\($0)" } ?? "")".contains("lost") ? "lost" : "b")
        case .failure(let error): answers.append(error.name ?? "none")
        }
      }
    }
    client.wait { answers.count == 5 }
    #expect(answers == ["b", ioError, "b", ioError, "b"])
  }

  private static func refused(_ change: () throws -> Void) throws {
    do {
      try change()
      Issue.record("the change was not refused")
    } catch let error as CallError {
      #expect(error.name == ioError)
    }
  }

  private static func lines(of daemon: ManagedProcess, _ text: String) -> [String] {
    daemon.progress.now.errors.filter { $0.contains(text) }
  }
}

extension ManagedProcess {
  /// Has no file of the daemon grow past `size`: with 0 that is, to the daemon, a full disk.
  func limitFiles(to size: String, on bus: PrivateBus) async throws {
    let result = try await bus.run(["/usr/bin/prlimit", "--pid", "\(processID)", "--fsize=\(size):unlimited"])
    #expect(result.succeeded, "\(result)")
  }
}
