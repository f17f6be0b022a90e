import BusSupport
import DBusTypes
import Glibc
import TestSupport
import Testing

/// What comes and goes beside the bridge.
@Suite struct SteadyTests {
  @Test func theAccessibilityBusMayDieAndComeBack() async throws {
    try await AccessibleDesktop.with { desktop in
      try await desktop.program(entry: "before")
      try await desktop.endBus()
      try await desktop.waitsForNothing()
      #expect(try await desktop.fields().isEmpty)
      try await desktop.startBus()
      try await desktop.isListening()
      try await desktop.program(entry: "after")
    }
  }

  /// The one that was offered first answers only when there is the other.
  @Test func anotherAccessibilityBusMayBeOfferedBeforeTheFirstAnswers() async throws {
    try await AccessibleDesktop.with { desktop in
      try await desktop.endBridge()
      let first = try #require(desktop.bus)
      first.terminate(SIGSTOP)
      desktop.status.update { ($0.events, $0.enabledQuestions) = ([], 0) }
      try await desktop.startBridge(waits: false)
      // It knows the address by then.
      _ = try await desktop.status.wait(for: "the first address") { $0.enabledQuestions >= 1 ? true : nil }
      _ = try await desktop.replaceBus()
      _ = try await desktop.status.wait(for: "the second address") { $0.enabledQuestions >= 2 ? true : nil }
      first.terminate(SIGCONT)
      try await desktop.isListening()
      try await desktop.program("new", entry: "new")
      try await first.stop()
    }
  }

  @Test func theDaemonMayDieAndComeBack() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program()
      program.set("/entry", .entry("abc"))
      program.set("/slider", .slider(3))
      program.activate()
      program.focus("/slider")
      try await desktop.waits(for: "Range.Value", .double(3))
      program.focus("/entry")
      try await desktop.waits(for: "Text.Content", .string("abc"))
      try await desktop.desktop.crash()
      try await desktop.waits(for: "Text.Content", .string("abc"))
      try await desktop.set("Text.Content", .string("written"))
      #expect(program.text(of: "/entry") == "written")
      program.focus("/slider")
      try await desktop.waits(for: "Range.Value", .double(3))
    }
  }

  @Test func itStaysOutOfProgramsThatRegisterFieldsOfTheirOwn() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program(entry: "abc")
      // The stub is in the process of the tests, as this peer is.
      let own = try await desktop.desktop.peer()
      try await own.register("own", [("demo.Form.Number", .int32(1))])
      try await eventually("only the field of its own") { try await desktop.fields().count == 1 }
      program.set("/other", .entry("other"))
      program.focus("/other")
      try await desktop.waitsForNothing()
      try await own.leave()
      program.focus("/other")
      try await desktop.waits(for: "Text.Content", .string("other"))
    }
  }

  @Test func itStaysOutOfThemWhileTheDaemonIsAway() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program(entry: "abc")
      let own = try await desktop.desktop.peer()
      try await own.register("own", [("demo.Form.Number", .int32(1))], [("focus", .boolean(true))])
      try await eventually("only the field of its own") { try await desktop.fields().count == 1 }
      program.set("/other", .entry("other"))
      program.focus("/other")
      // What it asks before that is answered.
      try await eventually("its own field has focus") { try await desktop.focusedField() == Focus1.field("own") }
      let calls = program.state.now.calls.count
      try await desktop.desktop.kill()
      try await desktop.desktop.start()
      try await eventually("the field of its own") { try await desktop.focusedField() == Focus1.field("own") }
      #expect(
        program.state.now.calls[calls...].allSatisfy { $0.path != "/other" }, "\(program.state.now.calls[calls...])")
      #expect(try await desktop.fields().count == 1)
      try await own.leave()
    }
  }

  /// What it writes would keep the bus and the bridge busy.
  @Test func aProgramBehindIsNotHeard() async throws {
    try await AccessibleDesktop.with { desktop in
      let first = try await desktop.program("first", entry: "abc")
      let monitor = try await desktop.desktop.start(["/usr/bin/dbus-monitor", "--address", desktop.address.now])
      try await monitor.line("monitor")
      try await desktop.program("second", entry: "def")
      _ = try await monitor.progress.wait(for: "the end of the rule") { progress in
        zip(progress.output, progress.output.dropFirst()).contains { call, rule in
          call.contains("member=RemoveMatch") && rule.contains("'\(first.peer.name)'") && rule.contains("'/entry'")
        } ? () : nil
      }
      try await monitor.stop()
    }
  }

  /// Such as a shell in it that runs 'focusctl hold'.
  @Test func itStaysOutOfProgramsWhoseChildrenRegister() async throws {
    try await AccessibleDesktop.with { desktop in
      try await desktop.program(entry: "abc")
      let hold = "'\(Products.focusctl)' --address '\(desktop.desktop.bus.address)' hold child demo.Form.Number=1"
      let child = try await desktop.desktop.start(["/bin/sh", "-c", hold + " <&0 & echo $!; wait"])
      let process = try #require(Int32(try await child.line("the process")))
      try await eventually("only the child's field") {
        let fields = try await desktop.fields()
        return fields.count == 1 && fields[0].contains("child")
      }
      kill(process, SIGTERM)
      try await child.finish()
    }
  }

  /// Such as an editor whose user has a shell in it that registers its prompt.
  @Test func itStaysOutOfTerminalsInWhichProgramsRegister() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program(entry: "abc")
      program.set("/terminal", StubElement(role: 60))
      program.focus("/terminal")
      try await desktop.waits(for: "Element.Role", .string("terminal"))
      let hold =
        "sleep 1000 | '\(Products.focusctl)' --address '\(desktop.desktop.bus.address)' hold child demo.Form.Number=1"
      let shell = try await desktop.desktop.start(["/usr/bin/script", "-qefc", hold, "/dev/null"])
      try await eventually("the child's field, and the entry's") {
        let fields = try await desktop.fields()
        return fields.count == 2 && fields.contains { $0.contains("child") }
      }
      program.focus("/entry")
      try await desktop.waits(for: "Text.Content", .string("abc"))
      program.focus("/terminal")
      try await desktop.waitsForNothing()
      program.focus("/entry")
      try await desktop.waits(for: "Text.Content", .string("abc"))
      try await shell.stop()
    }
  }

  @Test func focusThatAnotherProgramMovedIsNotTakenBack() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program(entry: "abc")
      // Of processes other than this one, whose fields would end those of the stub.
      let register = ["register", "--focus", "other", "demo.Form.Number=1"]
      #expect(try await desktop.desktop.focusctl(register).succeeded)
      #expect(try await desktop.desktop.focusctl("register", "third", "demo.Form.Number=1").succeeded)
      try await eventually("three fields") { try await desktop.fields().count == 3 }
      #expect(try await desktop.focusedField() == Focus1.field("other"))
      // What it tells before the bridge has learned of the other moves nothing.
      try await eventually("what the program tells counts") {
        program.focus("/entry")
        return try await desktop.get("Text.Content") == .string("abc")
      }
    }
  }

  @Test func theFieldsOfBridgesAreNotTheProgramsOwn() async throws {
    try await AccessibleDesktop.with { desktop in
      let windows = try await desktop.desktop.peer()
      try await windows.own("org.focusd.Bridge1.Windows")
      try await windows.register("window", [("demo.Form.Number", .int32(1))])
      try await desktop.program(entry: "abc")
      // The keys of windows are the window bridge's.
      try await desktop.waits(for: "Window.Title", nil)
      #expect(try await desktop.get("Window.Application") == nil)
      try await windows.leave()
      try await desktop.waits(for: "Window.Title", .string("The window"))
      #expect(try await desktop.get("Window.Application") == .string("stub"))
    }
  }

  @Test func focusThatEndsWhileTheDaemonIsAwayIsNotRemembered() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program(entry: "abc")
      try await desktop.desktop.kill()
      let count = program.state.now.calls.count { $0.path == "/window" && $0.member == "GetState" }
      program.deactivate()
      // It looks for another window when it has taken focus away.
      try await program.state.wait(for: "the question") { state in
        state.calls.count { $0.path == "/window" && $0.member == "GetState" } > count ? () : nil
      }
      try await desktop.desktop.start()
      try await eventually("no focus") { try await desktop.focusedField() == nil }
      #expect(try await desktop.fields().count == 1)
    }
  }

  @Test func accessibilityIsOnWhileItRunsAndPutBack() async throws {
    try await AccessibleDesktop.with { desktop in
      _ = try await desktop.status.wait(for: "IsEnabled") { $0.isEnabled ? true : nil }
      try await desktop.endBridge()
      try await desktop.isPutBack()
      desktop.status.update {
        $0.isEnabled = true
        $0.events = []
      }
      try await desktop.startBridge()
      try await desktop.endBridge()
      #expect(desktop.status.now.isEnabled)
      desktop.status.update {
        $0.isEnabled = false
        $0.events = []
      }
      try await desktop.startBridge(["--no-enable"])
      #expect(!desktop.status.now.isEnabled)
    }
  }

  /// It would be the user's setting that is changed.
  @Test func accessibilityThatFollowsFromListeningIsNotTurnedOn() async throws {
    try await AccessibleDesktop.with { desktop in
      try await desktop.endBridge()
      desktop.status.update { ($0.tellsNoScreenReader, $0.isEnabled, $0.events) = (true, false, []) }
      try await desktop.startBridge()
      try await desktop.isListening()
      let program = try await desktop.program(entry: "abc")
      #expect(!desktop.status.now.isEnabled)
      withExtendedLifetime(program) {}
    }
  }

  @Test func whatAnotherProgramTurnsOffIsOnAgain() async throws {
    try await AccessibleDesktop.with { desktop in
      _ = try await desktop.status.wait(for: "IsEnabled") { $0.isEnabled ? true : nil }
      desktop.status.update { $0.isEnabled = false }
      desktop.session.perform { thread in
        thread.emitChanged("/org/a11y/bus", "org.a11y.Status", [("IsEnabled", .boolean(false))])
      }
      _ = try await desktop.status.wait(for: "IsEnabled again") { $0.isEnabled ? true : nil }
    }
  }

  /// It takes several times its size, and the service may take 256 MiB.
  @Test func aMessageThatIsTooLongEndsTheConnectionAndNotTheBridge() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program(entry: "abc")
      desktop.status.update { $0.events = [] }
      let before = desktop.bridge.residentMemory
      desktop.bridge.forgetPeak()
      program.peer.perform { thread in
        let text = DBusValue.string(String(repeating: "x", count: 40 << 20))
        thread.emit("/entry", StubProgram.interface + "Event.Object", "StateChanged", [.string("focused"), text])
      }
      try await desktop.isListening()
      program.focus("/entry")
      try await desktop.waits(for: "Text.Content", .string("abc"))
      let peak = desktop.bridge.peakMemory
      #expect(isSanitized || peak < before + (32 << 10), "\(before) KiB before, \(peak) KiB at most")
    }
  }

  /// Any name that is told would be remembered.
  @Test func onlyTheRegistryTellsOfPrograms() async throws {
    try await AccessibleDesktop.with { desktop in
      let front = try await desktop.program("front", entry: "abc")
      let bridge = try #require(front.state.now.calls.last?.sender)
      // While a window is in front, no other is looked for.
      front.change("/window") { $0.states = 0 }
      front.deactivate()
      try await desktop.waitsForNothing()
      let next = try await desktop.program("next", isRegistered: false)
      let child = DBusValue.structure([.string(next.peer.name), .objectPath(ObjectPath(known: StubProgram.root))])
      let event: [DBusValue] = [.string("add"), .int32(0), .int32(0), .variant(child), .properties([])]
      let (path, interface) = (StubProgram.root, StubProgram.interface + "Event.Object")
      try front.peer.forge(to: bridge, path, interface, "ChildrenChanged", event)
      try await front.peer.settle(bridge)
      // The registry tells of another after that, which is looked for as long before it is asked.
      let other = try await desktop.program("other", isRegistered: false)
      other.change("/window") { $0.states = 0 }
      desktop.tell("add", of: other, isListed: false)
      try await other.state.wait(for: "the first question") { $0.calls.isEmpty ? nil : () }
      try await next.peer.settleAtBus()
      #expect(next.state.now.calls.isEmpty)
      let registry = try #require(desktop.registry)
      registry.perform { $0.emit(path, interface, "ChildrenChanged", event) }
      try await next.state.wait(for: "the first question") { $0.calls.isEmpty ? nil : () }
    }
  }

  /// Orca only listens if a user starts it, and no desktop.
  @Test(arguments: [true, false]) func aScreenReaderKeepsAccessibilityOn(saysSo: Bool) async throws {
    try await AccessibleDesktop.with { desktop in
      _ = try await desktop.status.wait(for: "IsEnabled") { $0.isEnabled ? true : nil }
      try await desktop.isListening()
      desktop.status.update { ($0.hasScreenReader, $0.hasListener) = (saysSo, !saysSo) }
      try await desktop.endBridge()
      #expect(desktop.status.now.isEnabled)
      // What it turned on is from then on that of the screen reader which says so.
      desktop.status.update { ($0.hasScreenReader, $0.hasListener, $0.events) = (false, false, []) }
      try await desktop.startBridge()
      try await desktop.endBridge()
      if saysSo { #expect(desktop.status.now.isEnabled) } else { try await desktop.isPutBack() }
      desktop.status.update { $0.events = [] }
      try await desktop.startBridge()
    }
  }

  /// The bridge does not wait long for it.
  @Test(arguments: ["ScreenReaderEnabled", "listeners"])
  func aScreenReaderOfWhichNothingIsToldKeepsAccessibilityOn(silent: String) async throws {
    try await AccessibleDesktop.with { desktop in
      _ = try await desktop.status.wait(for: "IsEnabled") { $0.isEnabled ? true : nil }
      try await desktop.isListening()
      desktop.status.update { $0.silent = [silent] }
      try await desktop.endBridge()
      #expect(desktop.status.now.isEnabled)
      // The next bridge learns that there is no screen reader, and turns accessibility off again.
      desktop.status.update { ($0.events, $0.silent) = ([], []) }
      try await desktop.startBridge()
      try await desktop.endBridge()
      try await desktop.isPutBack()
      desktop.status.update { $0.events = [] }
      try await desktop.startBridge()
    }
  }

  /// As after a logout, which keeps the setting, too.
  @Test func whatAKilledBridgeTurnedOnIsPutBackByTheNext() async throws {
    try await AccessibleDesktop.with { desktop in
      _ = try await desktop.status.wait(for: "IsEnabled") { $0.isEnabled ? true : nil }
      try await desktop.bridge.stop()
      #expect(desktop.status.now.isEnabled)
      desktop.status.update { $0.events = [] }
      try await desktop.startBridge()
      try await desktop.endBridge()
      try await desktop.isPutBack()
      desktop.status.update { $0.events = [] }
      try await desktop.startBridge()
    }
  }

  /// The one after a killed bridge ends before it is told whether accessibility is on.
  @Test func whatAKilledBridgeTurnedOnIsPutBackByTheNextThatEndsAtOnce() async throws {
    try await AccessibleDesktop.with { desktop in
      _ = try await desktop.status.wait(for: "IsEnabled") { $0.isEnabled ? true : nil }
      try await desktop.bridge.stop()
      desktop.status.update { ($0.events, $0.enabledQuestions, $0.silent) = ([], 0, ["IsEnabled"]) }
      try await desktop.startBridge()
      _ = try await desktop.status.wait(for: "the question") { $0.enabledQuestions >= 1 ? true : nil }
      try await desktop.endBridge()
      try await desktop.isPutBack()
      desktop.status.update { ($0.events, $0.silent) = ([], []) }
      try await desktop.startBridge()
    }
  }

  @Test func aSecondBridgeIsRefused() async throws {
    try await AccessibleDesktop.with { desktop in
      let second = try await desktop.desktop.run([Products.accessibility, "--address", desktop.desktop.bus.address])
      #expect(second.status == 1 && second.errorText.contains("only one bridge can run"), "\(second)")
    }
  }

  @Test(arguments: [
    (["--help"], 0, "Usage: focusd-accessibility"), (["--version"], 0, "focusd-accessibility "),
    (["--ignore"], 2, "option '--ignore' requires an argument: the name of a program"),
    (["--terminal", "x"], 2, "unexpected argument 'x'"), (["--nothing"], 2, "unknown option '--nothing'"),
  ])
  func theCommandLineIsChecked(_ arguments: [String], _ status: Int32, _ text: String) async throws {
    try await PrivateBus.with { bus in
      let result = try await bus.run([Products.accessibility] + arguments)
      #expect(result.status == status && (result.text + result.errorText).contains(text), "\(result)")
    }
  }

  @Test func anIdleBridgeWaitsForEventsAlone() async throws {
    try await AccessibleDesktop.with { desktop in
      let program = try await desktop.program()
      for index in 0..<16 {
        program.set("/field\(index)", .entry("text \(index)"))
        program.focus("/field\(index)")
        try await desktop.waits(for: "Text.Content", .string("text \(index)"))
      }
      try await eventually("nothing is scheduled") { desktop.bridge.isWaitingWithoutEnd }
    }
  }
}

extension AccessibleDesktop {
  /// Waits until accessibility is off; the bridge that puts it back does not wait long for that.
  fileprivate func isPutBack() async throws {
    _ = try await status.wait(for: "its end") { $0.isEnabled ? nil : true }
  }
}
