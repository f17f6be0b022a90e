import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// What cannot be made durable is refused, and everything else goes on.
@Suite struct FullDiskTests {
  /// The daemon's files may not grow: to it, that is a full disk, which needs no file system of its own.
  @Test func onAFullDiskReadsAreServedAndChangesRefused() async throws {
    try await TestDesktop.with { desktop in
      let client = try await desktop.peer()
      let owner = try await BoundOwner(on: desktop)
      let observer = try await desktop.peer()
      try await observer.subscribe()
      for id in ["a", "b"] {
        try await client.register(
          id, [("demo.Full.Value", .string(id)), ("demo.Full.Extra", .int32(1))],
          [("linger", .boolean(true))])
      }
      try await client.field("a", "Focus")
      try await observer.settle()
      let toldBefore = observer.signals
      try await desktop.limitFiles(to: "0")
      for _ in 0..<3 {
        for change in Self.changes { #expect(try await refusal { try await client.call(change) } == "IOError") }
      }
      #expect(try await client.read("demo.Full.Value").value == .string("a"))
      #expect(try await client.read("demo.Full.Value", at: Focus1.field("b")).value == .string("b"))
      #expect(try await client.fields("FocusPath") == ["a"])
      #expect(try await client.owners().keys.sorted() == ["a", "b", BoundOwner.id])
      try await Self.refusedAmongOthers(client)
      try await observer.settle()
      #expect(observer.signals == toldBefore, "what was refused was announced")
      // A bound field whose removal was refused is as it was: its owner is asked.
      try await client.write(BoundOwner.levelKey, .int32(77), at: Focus1.field(BoundOwner.id))
      #expect(try await client.read(BoundOwner.levelKey, at: Focus1.field(BoundOwner.id)).value == .int32(77))
      #expect(owner.level == .int32(77))
      try await desktop.said("cannot be saved")
      #expect(desktop.log("cannot be saved").count == 1)

      try await desktop.limitFiles(to: "unlimited")
      for change in Self.changes { try await client.call(change) }
      try await desktop.said("can be saved again")
      #expect(desktop.log("can be saved again").count == 1)
      try await desktop.crash()
      #expect(try await client.read("demo.Full.Value").value == .string("changed"))
      #expect(try await client.fields("FocusPath") == ["b"])
      #expect(try await client.owners().keys.sorted() == ["b", "c", BoundOwner.id])
    }
  }

  /// Its unregistering is taken back, since that cannot be saved; that it has left is not.
  @Test func whoUnregistersAndLeavesInOneTurnLeavesNothing() async throws {
    try await TestDesktop.with { desktop in
      let (leaver, stranger) = (try await desktop.peer(), try await desktop.peer())
      try await leaver.register("a", [("demo.A.B", .int32(1))])
      try await desktop.limitFiles(to: "0")
      desktop.daemon.terminate(SIGSTOP)
      leaver.begin(.field("a", "Unregister"))
      try await leaver.flush()
      try await leaver.leave()
      try await stranger.waitForDeparture(of: leaver.name)
      desktop.daemon.terminate(SIGCONT)
      #expect(try await stranger.owners() == [:])
    }
  }

  /// The state file's place is invalid at first: nothing can be registered until it is valid.
  @Test func withoutAStateDirectoryItServesAndWaitsForOne() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let place = desktop.bus.directory + "/place"
      try Data("in the way".utf8).write(to: URL(filePath: place))
      try await desktop.start(environment: ["XDG_STATE_HOME": place])
      let client = try await desktop.peer()
      let registration = DaemonCall.register("a", [("demo.A.B", .int32(1))], [("linger", .boolean(true))])
      for _ in 0..<3 { #expect(try await refusal { try await client.call(registration) } == "IOError") }
      #expect(try await client.read("demo.A.B").value == nil)
      #expect(try await client.owners() == [:])
      #expect(desktop.log("cannot save state in").count == 1)
      try FileManager.default.removeItem(atPath: place)
      // The daemon may have made it itself already.
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
      try await desktop.said("can be saved again")
      try await client.call(registration)
      try await desktop.kill()
      try await desktop.start(environment: ["XDG_STATE_HOME": place])
      #expect(try await client.owners().keys.sorted() == ["a"])
    }
  }

  /// The specification of base directories has a relative path ignored.
  @Test func aRelativeStateDirectoryIsNone() async throws {
    let names = ["STATE_DIRECTORY", "XDG_STATE_HOME", "HOME"]
    try await TestDesktop.with(environment: Dictionary(uniqueKeysWithValues: names.map { ($0, "relative") })) {
      desktop in
      #expect(desktop.log("cannot save state: neither STATE_DIRECTORY").count == 1)
      let client = try await desktop.peer()
      #expect(try await refusal { try await client.register("a", [("demo.A.B", .int32(1))]) } == "IOError")
    }
  }

  /// Two buses of one user share a state directory: the second daemon says who has it, and takes over when that ends.
  @Test func aSecondDaemonWithTheSameStateWaitsForTheFirst() async throws {
    try await TestDesktop.with { first in
      let client = try await first.peer()
      try await client.register("a", [("demo.A.B", .int32(1))], [("linger", .boolean(true))])
      try await client.field("a", "Focus")
      try await TestDesktop.with(environment: ["XDG_STATE_HOME": first.stateHome]) { second in
        let stranger = try await second.peer()
        try await stranger.subscribe()
        #expect(second.log("another focusd uses it").count == 1)
        #expect(try await stranger.owners() == [:])
        #expect(try await refusal { try await stranger.register("b") } == "IOError")
        try await first.end()
        try await stranger.signals("the other's state") { signals in
          Set(signals.map(\.member)).isSuperset(of: ["InterfacesAdded", "PropertiesChanged"]) ? true : nil
        }
        #expect(try await stranger.owners() == ["a": ""])
        #expect(try await stranger.read("demo.A.B").value == .int32(1))
        try await stranger.register("b")
      }
    }
  }

  /// Nothing is asked of the daemon meanwhile.
  @Test func aFileThatCannotBeUsedAtStartIsOpenedLater() async throws {
    try await TestDesktop.with { desktop in
      try await desktop.peer().register("a", [("demo.A.B", .int32(1))], [("linger", .boolean(true))])
      try await desktop.end()
      let directory = desktop.stateDirectory
      try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: directory)
      try await desktop.start()
      let stranger = try await desktop.peer()
      try await stranger.subscribe()
      #expect(try await stranger.owners() == [:])
      try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory)
      try await stranger.signals("the state") { $0.contains { $0.member == "InterfacesAdded" } ? true : nil }
      #expect(try await stranger.owners() == ["a": ""])
    }
  }

  @Test func aDamagedFileIsSetAsideInOneLine() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let directory = desktop.stateDirectory
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      try Data(repeating: 0x5a, count: 50_000).write(to: URL(filePath: directory + "/state.db"))
      try await desktop.start()
      #expect(desktop.log("damaged").count == 1)
      let client = try await desktop.peer()
      try await client.register("a")
      #expect(try Data(contentsOf: URL(filePath: directory + "/state.db.damaged-1")).count == 50_000)
    }
  }

  /// One change of each kind; done in this order, each of them succeeds.
  private static let changes: [DaemonCall] = [
    .register("c", [("demo.Full.Value", .string("c"))]), .field("b", "Focus"),
    .publish("b", [("demo.Full.More", .int32(1))]), .field("b", "Withdraw", [.strings(["demo.Full.Extra"])]),
    .write("demo.Full.Value", .string("changed"), at: Focus1.field("b")),
    .set("demo.Full.Value", .string("changed"), at: Focus1.field("b")), .field("a", "Unregister"),
  ]

  /// Reads and a refused change that arrive together: the reads are answered with what there was.
  private static func refusedAmongOthers(_ client: Peer) async throws {
    let (key, path) = ("demo.Full.Value", Focus1.field("b"))
    let pending = (0..<5).map { number in
      client.begin(number % 2 == 0 ? .read(key, at: path) : .write(key, .string("lost"), at: path))
    }
    for (number, call) in pending.enumerated() {
      switch try await call.outcome() {
      case .success(let values): #expect(number % 2 == 0 && values.first == .variants([.string("b")]))
      case .failure(let error): #expect(number % 2 == 1 && error.shortName == "IOError")
      }
    }
  }
}
