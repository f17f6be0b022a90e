import BusSupport
import DBusTypes
import TestSupport
import Testing

/// Commands of elements that go because of them.
@Suite struct ClickTests {
  /// A click closes the window, or ends the program; one that was not answered may not have come to that.
  @Test(
    arguments: [
      (unanswered: "GetState", endsProgram: false, succeeds: true), ("GetState", true, true),
      ("DoAction", false, true), ("DoAction", true, false),
    ]) func aClickThatTakesItsElementAway(unanswered: String, endsProgram: Bool, succeeds: Bool) async throws
  {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program(toolkit: "GTK")
      program.set("/button", .check(false))
      program.activate()
      program.focus("/button")
      try await eventually("its action") { try await desktop.session.commands()["org.focusd.Action.Click"] == true }
      // A window that goes because of the click goes by itself: the test may be held up for longer than the bridge waits.
      let closesItself = unanswered == "DoAction" && !endsProgram
      program.change("/button") { element in
        element.silent = [unanswered]
        if closesItself { element.closing = ["DoAction"] }
      }
      let click = desktop.session.begin(.invoke("org.focusd.Action.Click"))
      try await eventually("what is not answered") {
        program.state.now.calls.drop { $0.member != "DoAction" }.contains { $0.member == unanswered }
      }
      if endsProgram { try await program.peer.leave() } else if !closesItself { program.destroy() }
      #expect((try await click.refusal() == nil) == succeeds)
    }
  }
}
