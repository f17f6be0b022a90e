import BusSupport
import TestSupport
import Testing

/// Which events programs are asked for.
@Suite struct ListeningTests {
  /// Programs tell nothing of what nobody is shown: each of them asks the registry what is heard.
  @Test func withoutFieldsOnlyMovesOfFocusAreHeard() async throws {
    try await AccessibleDesktop.with { desktop in
      let events: Set = ["Object:StateChanged:checked", "Object:TextChanged", "Object:TextCaretMoved"]
      let first = try await desktop.program("first", entry: "abc")
      let second = try await desktop.program("second", entry: "def")
      try await desktop.status.wait(for: "events") { events.isSubset(of: $0.events) ? () : nil }
      for program in [first, second] { try await program.peer.leave() }
      try await desktop.status.wait(for: "the end of the events") { events.isDisjoint(with: $0.events) ? () : nil }
      let heard = desktop.status.now.events
      #expect(heard.contains("Object:StateChanged:focused") && heard.contains("Window:Activate"), "\(heard)")
      try await desktop.program("third", entry: "ghi")
      try await desktop.status.wait(for: "events") { events.isSubset(of: $0.events) ? () : nil }
    }
  }
}
