import BusSupport
import DBusTypes
import TestSupport
import Testing

/// Somebody else than the daemon answers what `focusctl` asks it, before it does.
@Suite struct FocusctlForgeryTests {
  private static let key = "demo.Form.Number"

  @Test(arguments: [
    ["get", key], ["get", "--timeout", "50", key], ["set", key, "8"], ["get", "--field", "a", key], ["wait", key],
  ])
  func onlyTheDaemonAnswers(arguments: [String]) async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let lies: [Lie] = [
        .reply(BelatedDaemon.reading(666, isWritten: arguments[0] == "set")), .reply(BelatedDaemon.readingAll(666)),
        .error("demo.Forged.Error"),
      ]
      for told in [lies, lies.reversed()] {
        let daemon = try await BelatedDaemon(on: desktop, .init(told, number: 666)) { member, _ in
          switch member {
          case "Read": (BelatedDaemon.reading(1), nil)
          case "Write": (BelatedDaemon.reading(8, isWritten: true), nil)
          default: (BelatedDaemon.readingAll(1), nil)
          }
        }
        let result = try await desktop.focusctl(arguments)
        #expect(result.succeeded, "\(result)")
        #expect(result.output == (["set", "wait"].contains(arguments[0]) ? [] : ["1"]))
        // What the daemon itself says was waited for.
        #expect(!daemon.calls.now.isEmpty)
        try await daemon.stop()
      }
    }
  }

  @Test func onlyTheDaemonTellsOfChanges() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let lies = BelatedDaemon.Lies(
        [.reply(BelatedDaemon.readingAll(666)), .error("demo.Forged.Error")], number: 666)
      let daemon = try await BelatedDaemon(on: desktop, lies) { _, _ in (BelatedDaemon.readingAll(1), 2) }
      let watch = try await desktop.start([Products.focusctl, "watch", Self.key])
      #expect(try await watch.lines(2) == ["1", "2"])
      try await watch.stop()
      try await daemon.stop()
    }
  }
}
