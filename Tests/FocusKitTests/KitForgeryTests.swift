import BusSupport
import DBusTypes
import FocusKit
import TestSupport
import Testing

/// Somebody else than the daemon answers what a program asks it, and tells of what has focus.
@Suite struct KitForgeryTests {
  @Test func onlyTheDaemonAnswersAndTells() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let lies: [Lie] = [
        .reply(BelatedDaemon.reading(666, isWritten: true)), .reply(BelatedDaemon.reading(666)),
        .error("demo.Forged.Error"),
      ]
      let daemon = try await BelatedDaemon(on: desktop, .init(lies, number: 666)) { member, arguments in
        switch member {
        case "ReadAll": (BelatedDaemon.readingAll(1), nil)
        case "Read": (BelatedDaemon.reading(1), nil)
        case "Write": (BelatedDaemon.reading(3, isWritten: true), 3)
        case "Get" where arguments.last == .string("FocusedField"):
          ([.variant(.objectPath(ObjectPath(known: Focus1.field("a"))))], nil)
        default: ([.variant(.dictionary(DBusDictionary(known: .string, .boolean, [])))], nil)
        }
      }
      let client = desktop.client()
      let seen = Changes(client.changes(of: \.number))
      try await seen.wait(for: 1)
      let read: Int? = try await client.read("demo.Form.Number")
      #expect(read == 1)
      #expect(try await client.write(\.number, 3) == 3)
      try await seen.wait(for: 3)
      #expect(seen.all.compactMap(\.self) == [1, 3])
      try await daemon.stop()
    }
  }
}
