import BusSupport
import DBus
import DBusTypes
import Testing

@testable import FocusService

/// What the service asks the bus before it serves.
@Suite struct StartTests {
  /// However many bridges' names there are, it asks for the owner of one: who owns the others matters when they say `service`.
  @Test(arguments: [0, 20_000]) func itAsksForTheWindowBridgeAlone(bridges: Int) async throws {
    try await Stage.with { stage in
      let names = Set((0..<bridges).map { "org.focusd.Bridge1.N\($0)" } + ["org.focusd.Bridge1.Windows"])
      let questions = try stage.start(names: everyone.union(names)).filter { $0.kind == .methodCall }.map(\.member)
      #expect(questions == ["Hello", "AddMatch", "AddMatch", "GetId", "ListNames", "GetNameOwner", "RequestName"])
    }
  }

  /// Each field is first shown with its process, so no signal has to add the process later.
  @Test func processesAreKnownBeforeItServes() async throws {
    try await Stage.with { stage in
      try stage.settle((0..<10).map { .call(anna, .register("f\($0)", [("demo.I.K", .int32(1))])) })
      let sent = try stage.start()
      let questions = sent.filter { $0.kind == .methodCall }.map(\.member)
      #expect(questions.filter { $0 == "GetConnectionUnixProcessID" }.count == 1)
      #expect(questions.last == "RequestName")
      #expect(sent.filter { $0.kind == .signal }.isEmpty)
      #expect(try stage.turn().isEmpty)
    }
  }
  /// In all, and while the service starts, which serves again within one second.
  @Test func howLongOwnersHave() async throws {
    #expect(OwnerCalls.timeout == .seconds(5))
    try await Stage.with { stage in
      #expect(stage.usualOwnersTime > .zero && stage.usualOwnersTime < .seconds(1))
    }
  }
}
