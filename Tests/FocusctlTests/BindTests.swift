import BusSupport
import DBusTypes
import FocusContract
import Foundation
import TestSupport
import Testing

@testable import focusctl

@Suite struct BindTests {
  private func plan(_ id: String, _ service: String, ignoring ignored: [String] = []) throws -> BindPlan {
    var options = Options()
    options.set(.service, service)
    options.set(.object, "/x")
    for name in ignored { options.set(.ignore, name) }
    return try BindPlan(id, options)
  }

  @Test(arguments: [
    ("a.b.vlc", [], "p_vlc"), ("a.b.firefox.instance_1_2", [], "p_firefox_instance_1_2"), ("a.b.x-y", [], "p_x_y"),
    ("a.b.x_y", ["p_x_y"], "p_x_y_2"), ("a.b.x-y", ["p_x_y", "p_x_y_2"], "p_x_y_3"),
    ("a.b." + String(repeating: "n", count: 90), [], "p_" + String(repeating: "n", count: 62)),
    (
      "a.b." + String(repeating: "n", count: 90), ["p_" + String(repeating: "n", count: 62)],
      "p_" + String(repeating: "n", count: 60) + "_2"
    ),
  ])
  func aNameHasAnID(name: String, taken: [String], id: String) throws {
    #expect(try plan("p", "a.b.*").id(for: name, besides: Set(taken)) == id)
    #expect(throws: Never.self) { try FocusContract.FieldID(id) }
  }

  @Test(arguments: [
    ("a.b.vlc", true), ("a.b.vlc.instance1", true), ("a.b", false), ("a.bc.x", false), ("a.b.firefox", false),
    ("a.b.firefox.instance1", false), ("a.b.firefoxes", true), ("a.b.whole.name", false),
  ])
  func namesAreIgnored(name: String, isIncluded: Bool) throws {
    #expect(try plan("p", "a.b.*", ignoring: ["firefox", "a.b.whole.name"]).includes(name) == isIncluded)
  }

  @Test func theUsersSettingsNameWhatIsIgnoredAndAreReadAgain() async throws {
    try await TestDesktop.with { desktop in
      try desktop.write(settings: "[players]\nIgnore=a\nIngore=b\n[menus]\nIgnore=c\n")
      let stage = try await PlayerStage(on: desktop)
      try await stage.open("a", "Playing", isIgnored: true)
      try await stage.open("b", "Playing")
      try await stage.open("c", "Playing")
      #expect(try await stage.registered() == ["player_b", "player_c"])
      #expect(stage.said.count == 1 && stage.said[0].contains("focusd.conf:3: unknown key 'Ingore' in [players]"))
      try desktop.write(settings: "[players]\nIgnore=b\n")
      stage.reload()
      try await eventually("other fields") { try await stage.registered() == ["player_a", "player_c"] }
      try desktop.write(settings: "")
      stage.reload()
      try await eventually("all fields") { try await stage.registered() == ["player_a", "player_b", "player_c"] }
      try await stage.end()
    }
  }

  @Test(arguments: [
    (
      ["bind", "p", "--service", "a.b.*", "--object", "/x", "--config", "x"],
      "'x' is not a section of focusd.conf: expected 'windows', 'accessibility', 'players', 'menus'"
    ),
    (
      ["bind", "p", "--service", "a.b", "--object", "/x", "--config", "players"], "'--config' needs '--service NAME.*'"
    ),
    (["bind", "p"], "'bind' needs '--service NAME' and '--object PATH'"),
    (["bind", "p", "--service", "a.b"], "'bind' needs '--service NAME' and '--object PATH'"),
    (["bind", "p", "--service", "a.b", "--object", "/x", "--ignore", "c"], "'--ignore' needs '--service NAME.*'"),
    (["bind", "p", "--service", "a.b", "--object", "/x", "--active", "a.B.C=1"], "'--active' needs '--scope session'"),
    (
      ["bind", "p-q", "--service", "a.b", "--object", "/x"],
      "'p-q' is not a field id: characters of [A-Za-z0-9_], at most 64 bytes"
    ),
    (
      ["bind", "p", "--service", "a.b", "--object", "/x", "--command", "a.B.C:("],
      "'(' is not a signature: it ends where a type should follow"
    ),
    (
      ["bind", "p", "--service", "a.b", "--object", "/x", "--live", "Position"],
      "'Position' is not a whole key: expected an interface name, a dot and a member name, such as demo.Form.Number"
    ),
  ])
  func badCallsAreRefused(arguments: [String], message: String) async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let result = try await desktop.focusctl(arguments)
      #expect(result.status == 2 && result.errors == ["focusctl: " + message], "\(result)")
    }
  }

  // MARK: With the daemon

  private static let xml = document(("demo.Lamp", property("Level", "i") + method("Blink")))

  private func lamp(_ desktop: TestDesktop, level: Int32 = 1) async throws -> Exported {
    Exported(try await desktop.peer(), Self.xml, ["demo.Lamp.Level": .int32(level)])
  }

  private func bind(_ desktop: TestDesktop, _ rest: String...) async throws -> ManagedProcess {
    try await desktop.start(
      [Products.focusctl, "--address", desktop.bus.address, "bind", "lamp", "--object", "/object"] + rest)
  }

  /// Waits until the fields are `ids`.
  private func fields(_ desktop: TestDesktop, are ids: [String]) async throws {
    let watcher = try await desktop.peer()
    try await watcher.subscribe()
    while try await watcher.fields() != ids {
      let count = watcher.signals.count
      guard try await watcher.fields() != ids else { return }
      try await watcher.signals("other fields than \(ids)") { $0.count > count ? true : nil }
    }
  }

  @Test func aFieldIsThereWhileItsNameHasAnOwner() async throws {
    try await TestDesktop.with { desktop in
      let bind = try await bind(desktop, "--service", "demo.Lamp.One", "--scope", "session")
      let lamp = try await lamp(desktop)
      try await lamp.owner.own("demo.Lamp.One")
      try await fields(desktop, are: ["lamp"])
      #expect(try await desktop.focusctl("set", "Level", "5").status == 0)
      #expect(lamp.state.now.values["demo.Lamp.Level"] == .int32(5))
      #expect(try await desktop.focusctl("run", "Blink").status == 0)
      try await lamp.called("Blink")
      // Whoever asks what it has need not wait.
      let owner = try #require(try await lamp.owner.owners()["lamp"])
      let question = DaemonCall(
        to: owner, "/org/focusd/Bridge1/Window", Focus1.properties, "GetAll", [.string("org.focusd.Bridge1.Window")])
      #expect(try await lamp.owner.begin(question).refusal() == "UnknownObject")
      // It stays on the bus, and so does its object.
      try await lamp.owner.askBus("ReleaseName", [.string("demo.Lamp.One")])
      try await fields(desktop, are: [])
      let other = try await self.lamp(desktop, level: 7)
      try await other.owner.own("demo.Lamp.One")
      try await fields(desktop, are: ["lamp"])
      #expect(try await desktop.focusctl("get", "Level").output == ["7"])
      bind.terminate()
      try await bind.finish()
      try await fields(desktop, are: [])
    }
  }

  /// The daemon, or the program, comes back twice while it is asked whose a field is.
  @Test func aFieldThatGoesWhileItIsAskedForIsRegisteredAgain() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let daemon = try await ScriptedDaemon(
        on: desktop,
        [
          .error("org.focusd.Focus1.Error.FieldExists"), .error("org.freedesktop.DBus.Error.UnknownObject"),
          .reply([Focus1.fieldPath("lamp")]),
        ])
      let lamp = try await lamp(desktop)
      try await lamp.owner.own("demo.Lamp.One")
      let bind = try await bind(desktop, "--service", "demo.Lamp.One")
      let calls = try await daemon.calls.wait(for: "the calls") { $0.count >= 3 ? $0 : nil }
      #expect(calls.map { $0.contains(" Register ") } == [true, false, true], "\(calls)")
      bind.terminate()
      try await bind.finish()
    }
  }

  /// Of a family's names, others may leave what they hold; one name alone is refused.
  @Test(
    arguments: [("demo.Lamp.*", "lamp_One"), ("demo.Lamp.One", "lamp")],
    ["org.freedesktop.DBus.Error.LimitsExceeded", "org.focusd.Focus1.Error.FieldExists"])
  func aNameThatOthersLeaveNoPlaceIsTriedAgain(_ name: (service: String, id: String), error: String) async throws {
    let (service, id) = name
    try await TestDesktop.with(isServed: false) { desktop in
      // Of an id that another has, its owner is asked.
      let refusal =
        [ScriptedDaemon.Answer.error(error)]
        + (error.hasSuffix("FieldExists") ? [.reply([.variant(.string(":1.999"))])] : [])
      let daemon = try await ScriptedDaemon(on: desktop, refusal + refusal + [.reply([Focus1.fieldPath("lamp_One")])])
      let lamp = try await lamp(desktop)
      try await lamp.owner.own("demo.Lamp.One")
      let bind = try await bind(desktop, "--service", service)
      if id == "lamp" {
        #expect(try await bind.finish() == .status(4))
      } else {
        let calls = 2 * refusal.count + 1
        _ = try await daemon.calls.wait(for: "three registrations") { $0.count >= calls ? true : nil }
        try await bind.stop()
      }
      let errors = bind.progress.now.errors
      #expect(errors.count == 1 && errors[0].contains("cannot bind 'demo.Lamp.One' as '\(id)': "), "\(errors)")
    }
  }

  /// As when the disk is full.
  @Test func aFieldThatCannotBeTakenAwayIsTakenAwayOnceItCan() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let unsaved = ScriptedDaemon.Answer.error("org.freedesktop.DBus.Error.IOError")
      let field = ScriptedDaemon.Answer.reply([Focus1.fieldPath("lamp")])
      let daemon = try await ScriptedDaemon(on: desktop, [field, unsaved, unsaved, .reply([]), field])
      let lamp = try await lamp(desktop)
      try await lamp.owner.own("demo.Lamp.One")
      let bind = try await bind(desktop, "--service", "demo.Lamp.One")
      _ = try await daemon.calls.wait(for: "a registration") { $0.count >= 1 ? true : nil }
      try await lamp.owner.askBus("ReleaseName", [.string("demo.Lamp.One")])
      _ = try await daemon.calls.wait(for: "a refusal") { $0.count >= 2 ? true : nil }
      // Its next owner has a field of its own.
      try await lamp.owner.own("demo.Lamp.One")
      let calls = try await daemon.calls.wait(for: "the calls") { $0.count >= 5 ? $0 : nil }
      #expect(calls.map { $0.contains(" Unregister") } == [false, true, true, true, false], "\(calls)")
      #expect(calls[4].contains(" Register "))
      bind.terminate()
      try await bind.finish()
    }
  }

  /// As Chromium's player: introspection shows nothing.
  @Test func commandsThatIntrospectionDoesNotShowCanBeNamed() async throws {
    try await TestDesktop.with { desktop in
      let hidden = Exported(try await desktop.peer(), document(), ["demo.Lamp.Level": .int32(1)])
      try await hidden.owner.own("demo.Lamp.One")
      let bind = try await bind(
        desktop, "--service", "demo.Lamp.One", "--interface", "demo.Lamp", "--command", "demo.Lamp.Blink", "--command",
        "demo.Lamp.Dim:i")
      try await fields(desktop, are: ["lamp"])
      #expect(try await desktop.focusctl("run", "Blink", "--field", "lamp").status == 0)
      #expect(try await desktop.focusctl("run", "Dim", "5", "--field", "lamp").status == 0)
      #expect(hidden.state.now.calls.last?.arguments == [.int32(5)])
      #expect(hidden.count("Blink") == 1)
      try await bind.stop()
    }
  }

  /// Many programs own their name before their object is there.
  @Test func anObjectThatComesLateIsBound() async throws {
    try await TestDesktop.with { desktop in
      let bind = try await bind(desktop, "--service", "demo.Lamp.*")
      let peer = try await desktop.peer()
      let asked = Observed(false)
      peer.answer { _, _ in
        asked.update { $0 = true }
        return .error("org.freedesktop.DBus.Error.UnknownObject", "not yet")
      }
      try await peer.own("demo.Lamp.One")
      _ = try await asked.wait(for: "question") { $0 ? true : nil }
      _ = Exported(peer, Self.xml, ["demo.Lamp.Level": .int32(3)])
      try await fields(desktop, are: ["lamp_One"])
      try await bind.stop()
    }
  }

  /// That there is no object yet is said once, and is not the end.
  @Test(arguments: [("demo.Lamp.*", "lamp_One"), ("demo.Lamp.One", "lamp")])
  func anObjectThatComesVeryLateIsBound(service: String, id: String) async throws {
    try await TestDesktop.with { desktop in
      let bind = try await bind(desktop, "--service", service)
      let peer = try await desktop.peer()
      peer.answer { _, _ in .error("org.freedesktop.DBus.Error.UnknownObject", "not yet") }
      try await peer.own("demo.Lamp.One")
      let errors = try await bind.progress.wait(for: "what is said") { $0.errors.isEmpty ? nil : $0.errors }
      #expect(errors.first?.contains("cannot bind 'demo.Lamp.One' as '\(id)': the object /object") == true, "\(errors)")
      _ = Exported(peer, Self.xml, ["demo.Lamp.Level": .int32(3)])
      try await fields(desktop, are: [id])
      #expect(bind.progress.now.errors.count == 1)
      try await bind.stop()
    }
  }

  @Test func eachNameOfAFamilyHasItsField() async throws {
    try await TestDesktop.with { desktop in
      let (one, two, three) = (try await lamp(desktop), try await lamp(desktop, level: 2), try await lamp(desktop))
      try await one.owner.own("demo.Lamp.a-b")
      let bind = try await bind(desktop, "--service", "demo.Lamp.*", "--ignore", "no")
      try await fields(desktop, are: ["lamp_a_b"])
      try await three.owner.own("demo.Lamp.no.really")
      try await two.owner.own("demo.Lamp.a_b")
      try await fields(desktop, are: ["lamp_a_b", "lamp_a_b_2"])
      #expect(try await desktop.focusctl("get", "Level", "--field", "lamp_a_b_2").output == ["2"])
      try await desktop.crash()
      try await one.owner.leave()
      try await fields(desktop, are: ["lamp_a_b_2"])
      try await bind.stop()
    }
  }

  /// The name goes to another program while the daemon is away.
  @Test func aRestartOfTheDaemonFindsTheOwnerOfNow() async throws {
    try await TestDesktop.with { desktop in
      let (one, two) = (try await lamp(desktop), try await lamp(desktop, level: 2))
      try await one.owner.own("demo.Lamp.One")
      let bind = try await bind(desktop, "--service", "demo.Lamp.One", "--scope", "session")
      try await fields(desktop, are: ["lamp"])
      try await desktop.kill()
      try await one.owner.askBus("ReleaseName", [.string("demo.Lamp.One")])
      try await two.owner.own("demo.Lamp.One")
      try await desktop.start()
      let level = try await desktop.background("exec focusctl watch Level")
      _ = try await level.progress.wait(for: "level 2") { $0.output.last == "2" ? true : nil }
      try await level.stop()
      try await bind.stop()
    }
  }

  @Test func thereIsOneBinderForAnID() async throws {
    try await TestDesktop.with { desktop in
      let lamp = try await lamp(desktop)
      try await lamp.owner.own("demo.Lamp.One")
      let first = try await bind(desktop, "--service", "demo.Lamp.One")
      try await fields(desktop, are: ["lamp"])
      let second = try await bind(desktop, "--service", "demo.Lamp.One").result()
      #expect(second.status == 4)
      #expect(
        second.errors == [
          "focusctl: another 'focusctl bind lamp' is running: the name 'org.focusd.Bridge1.Bind_lamp' is taken"
        ])
      try await first.stop()
      _ = try await desktop.focusctl("register", "lamp")
      let third = try await bind(desktop, "--service", "demo.Lamp.One").result()
      #expect(third.status == 4 && third.errors.first?.contains("'demo.Lamp.One' as 'lamp': ") == true, "\(third)")
    }
  }

  /// A service manager starts it again when there is another bus.
  @Test(arguments: [["bind", "lamp", "--object", "/object", "--service", "demo.Lamp.*"], ["hold", "a.B.C=1"]])
  func itEndsWithItsBus(arguments: [String]) async throws {
    try await TestDesktop.with { desktop in
      let process = try await desktop.start([Products.focusctl, "--address", desktop.bus.address] + arguments)
      let watcher = try await desktop.peer()
      try await eventually("the name, or a field") {
        let names = try await watcher.askBus("ListNames").first.map { "\($0)" } ?? ""
        let fields = try await watcher.fields()
        return names.contains("Bind_lamp") || !fields.isEmpty
      }
      try await desktop.bus.stop()
      #expect(try await process.finish() == .status(3))
      #expect(process.progress.now.errors == ["focusctl: lost the connection to the bus"])
      #expect(try await desktop.ended() == .status(1))
    }
  }

  /// The name may have any owner, but this registration can never be valid: it is sent once.
  @Test func whatCannotChangeIsNotTriedAgain() async throws {
    try await TestDesktop.with { desktop in
      let monitor = try await desktop.start(
        [
          "/usr/bin/dbus-monitor", "--address", desktop.bus.address,
          "type='method_call',member='Register'",
        ])
      _ = try await monitor.line("monitor")
      let result = try await bind(desktop, "--service", "org.focusd.Focus1").result()
      #expect(result.status == 4 && result.errors.first?.contains("must name another program") == true, "\(result)")
      _ = try await desktop.focusctl("register", "marker")
      _ = try await monitor.line("marker") { $0.contains("marker") }
      #expect(monitor.progress.now.output.count { $0.contains("member=Register") } == 2)
      try await monitor.stop()
    }
  }

  @Test func whatCannotBeStartedIsSaid() async throws {
    try await TestDesktop.with { desktop in
      let result = try await bind(desktop, "--service", "demo.Lamp.One", "--start").result()
      #expect(
        result.status == 4 && result.errors.first?.hasPrefix("focusctl: cannot start 'demo.Lamp.One': ") == true,
        "\(result)")
    }
  }
}
