import FocusKit
import TestSupport
import Testing

/// What a program has registered and watched comes back with the daemon.
@Suite struct ReconnectionTests {
  @Test(arguments: [Int32(9), 15])
  func theDaemonIsEndedAndStartedAgain(signal: Int32) async throws {
    try await PrivateBus.with { bus in
      let daemon = try await Session.start(on: bus)
      let (owner, reader) = (FocusClient(address: bus.address), FocusClient(address: bus.address))
      let number = State(wrappedValue: 1)
      @FocusState var isFocused: Bool
      let window = FocusField("window", client: owner).register()
      let field = FocusField("text1", parent: window, client: owner).focusedValue(\.number, number.projectedValue)
        .focused($isFocused).register()
      isFocused = true
      let seen = Changes(reader.changes(of: \.number))
      try await seen.wait(for: 1)
      daemon.terminate(signal)
      try await daemon.finish()
      try await seen.wait(for: nil)
      number.wrappedValue = 2
      let next = try await Session.start(on: bus)
      try await seen.wait(for: 2)
      #expect(try await reader.write(\.number, 3) == 3)
      #expect(number.wrappedValue == 3)
      #expect(isFocused)
      withExtendedLifetime(field) {}
      try await next.stop()
    }
  }

  @Test func theBusIsEndedAndStartedAgain() async throws {
    try await PrivateBus.with { bus in
      let daemon = try await Session.start(on: bus)
      let (owner, reader) = (FocusClient(address: bus.address), FocusClient(address: bus.address))
      let number = State(wrappedValue: 1)
      @FocusState var isFocused: Bool
      let window = FocusField("window", client: owner).register()
      let field = FocusField(parent: window, client: owner).focusedValue(\.number, number.projectedValue)
        .focused($isFocused).register()
      isFocused = true
      let seen = Changes(reader.changes(of: \.number))
      try await seen.wait(for: 1)
      try await bus.stop()
      try await daemon.finish()
      try await seen.wait(for: nil)
      let failure = await #expect(throws: FocusError.self) { try await reader.write(\.number, 9) }
      #expect(failure?.name == "org.freedesktop.DBus.Error.Disconnected")
      number.wrappedValue = 2
      let again = try await bus.start([
        "/usr/bin/dbus-daemon", "--nofork", "--nopidfile", "--print-address=1",
        "--config-file=\(bus.directory)/bus.conf",
      ])
      let address = try await again.line("address")
      let next = try await bus.start([Products.focusd, "--address", address])
      try await seen.wait(for: 2)
      #expect(try await reader.write(\.number, 3) == 3)
      #expect(number.wrappedValue == 3)
      #expect(isFocused)
      withExtendedLifetime(field) {}
      try await next.stop()
      try await again.stop()
    }
  }

  @Test func programsMayComeBeforeTheDaemon() async throws {
    try await PrivateBus.with { bus in
      let (owner, reader) = (FocusClient(address: bus.address), FocusClient(address: bus.address))
      @FocusState var isFocused: Bool
      let field = FocusField("text1", client: owner).focusedValue(\.number, .constant(1)).focused($isFocused).register()
      isFocused = true
      let seen = Changes(reader.changes(of: \.number))
      try await seen.wait(for: nil)
      let daemon = try await Session.start(on: bus)
      try await seen.wait(for: 1)
      withExtendedLifetime(field) {}
      try await daemon.stop()
    }
  }

  @Test func aWriteNeverLandsInAnotherField() async throws {
    try await Session.with { session in
      let (one, two) = (State(wrappedValue: 1), State(wrappedValue: 2))
      let owner = session.client()
      let first = FocusField("text1", client: owner).focusedValue(\.number, one.projectedValue).register()
      let second = FocusField("text2", client: owner).focusedValue(\.number, two.projectedValue).register()
      try await second.registered()
      let reader = session.client()
      let errors = Errors(of: reader)
      let seen = Changes(reader.changes(of: \.number))
      @FocusedBinding(\.number, client: reader) var number
      var refused = 0
      for round in 0..<20 {
        try await first.focus()
        try await seen.wait(for: 1)
        #expect(number == 1)
        async let moved: Void = second.focus()
        // Half of the writes are made when the move is known, and still belong to what was read before.
        if round.isMultiple(of: 2) { try await seen.wait(for: 2) }
        number = 100
        try await moved
        // Either the write was first, or it was refused and undone.
        try await seen.wait(for: 2)
        if one.wrappedValue == 100 { one.wrappedValue = 1 } else { refused += 1 }
        #expect(two.wrappedValue == 2)
      }
      #expect(refused >= 10)
      try await errors.wait(count: refused)
    }
  }
}
