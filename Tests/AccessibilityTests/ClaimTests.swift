import AccessibilityBridge
import BridgeSupport
import BusSupport
import DBusTypes
import TestSupport
import Testing

/// What programs claim of focus while another one is in front.
@Suite struct ClaimTests {
  private static func event(_ path: String) -> FocusTracker.Event {
    .gained(ElementReference(BusName(known: ":1.1"), ObjectPath(known: path)))
  }

  @Test func onlyWhatIsAskedIsRefused() {
    var claims = FocusClaims()
    claims.add(Self.event("/first"))
    claims.ask()
    claims.add(Self.event("/first"))
    #expect(!claims.hasNewer)
    claims.add(Self.event("/second"))
    #expect(claims.hasNewer)
    claims.refuse()
    #expect(claims.events == [Self.event("/second")])
  }

  @Test func whatIsWithdrawnIsNotRefused() {
    var claims = FocusClaims()
    claims.add(Self.event("/first"))
    claims.ask()
    claims.withdraw(ElementReference(BusName(known: ":1.1"), ObjectPath(known: "/first")))
    claims.add(Self.event("/second"))
    #expect(claims.hasNewer)
    claims.refuse()
    #expect(claims.events == [Self.event("/second")])
  }

  @Test func theNewestElementIsAskedForAndTheNewestWindow() {
    let window = FocusTracker.Event.activated(ElementReference(BusName(known: ":1.1"), ObjectPath(known: "/window")))
    var claims = FocusClaims()
    for event in [Self.event("/first"), window, Self.event("/second"), Self.event("/third")] { claims.add(event) }
    claims.ask()
    #expect(claims.events == [window, Self.event("/third")])
    claims.add(window)
    claims.ask()
    #expect(claims.events == [Self.event("/third"), window])
    #expect(!claims.hasNewer)
  }

  @Test func oneOfEachKindWaitsUntilItIsAskedFor() {
    let window = ElementReference(BusName(known: ":1.1"), ObjectPath(known: "/window"))
    var claims = FocusClaims()
    claims.add(Self.event("/asked"))
    claims.ask()
    for number in 1...9 {
      claims.add(Self.event("/\(number)"))
      claims.add(.activated(window))
    }
    #expect(claims.events == [Self.event("/asked"), Self.event("/9"), .activated(window)])
    claims.refuse()
    #expect(claims.events == [Self.event("/9"), .activated(window)])
  }

  /// The bridge asks again for the window of an element that is in none, later each time.
  @Test func aClaimThatWaitsDelaysNoLaterOne() async throws {
    try await AccessibleDesktop.with { desktop in
      try await desktop.program("front", entry: "abc")
      let (clock, next) = (try await desktop.program("clock"), try await desktop.program("next"))
      for program in [clock, next] {
        program.set("/loose", StubElement(role: 95, parent: "/org/a11y/atspi/null"))
      }
      next.set("/entry", .entry("served"))
      next.focus("/loose")
      // The sixth check comes eight seconds after the fifth.
      let unknown = "whether \(next.peer.name) is in front as it claims is not known yet"
      try await desktop.bridge.progress.wait(for: "five checks") { progress in
        progress.errors.count { $0.contains(unknown) } >= 5 ? () : nil
      }
      clock.stateChanged("/loose", "focused", 1)
      next.focus("/entry")
      try await desktop.waits(for: "Text.Content", .string("served"))
      // Five of them take seven seconds.
      #expect(Self.questions(clock.state.now) < 5)
    }
  }

  private static func questions(_ state: StubProgram.State) -> Int {
    state.calls.count { $0.path == "/loose" && $0.key.hasSuffix("Parent") }
  }

  /// What a program answers about the one says nothing of the other.
  @Test func aClaimAfterOneThatWasWithdrawn() async throws {
    try await AccessibleDesktop.with { desktop in
      try await desktop.program("front", entry: "abc")
      let next = try await desktop.program("next")
      next.set("/behind", StubElement(role: 23, name: "Behind", parent: StubProgram.root))
      next.change("/behind") { $0.silent = ["GetState"] }
      for (path, parent) in [("/first", "/behind"), ("/second", "/window")] {
        next.set(path, .entry(path))
        next.change(path) { $0.parent = parent }
      }
      next.stateChanged("/first", "focused", 1)
      try await next.state.wait(for: "its state") { state in
        state.calls.contains { $0.path == "/behind" && $0.member == "GetState" } ? () : nil
      }
      next.stateChanged("/first", "focused", 0)
      next.stateChanged("/second", "focused", 1)
      next.peer.perform { thread in
        thread.release { _ in .values([.array(DBusArray(known: .uint32, [.uint32(0), .uint32(0)]))]) }
      }
      try await desktop.waits(for: "Text.Content", .string("/second"))
    }
  }
}
