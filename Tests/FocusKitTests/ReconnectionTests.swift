import BusSupport
import DBusTypes
import FocusKit
import TestSupport
import Testing

/// What a program has registered and watched comes back with the daemon.
@Suite struct ReconnectionTests {
  @Test(arguments: [Int32(9), 15])
  func theDaemonIsEndedAndStartedAgain(signal: Int32) async throws {
    try await TestDesktop.with { desktop in
      let (owner, reader) = (desktop.client(), desktop.client())
      let number = State(wrappedValue: 1)
      @FocusState var isFocused: Bool
      let window = FocusField("window", client: owner).register()
      let field = FocusField("text1", parent: window, client: owner).focusedValue(\.number, number.projectedValue)
        .focused($isFocused).register()
      isFocused = true
      let seen = Changes(reader.changes(of: \.number))
      try await seen.wait(for: 1)
      try await desktop.end(signal)
      try await seen.wait(for: nil)
      number.wrappedValue = 2
      try await desktop.start()
      try await seen.wait(for: 2)
      #expect(try await reader.write(\.number, 3) == 3)
      #expect(number.wrappedValue == 3)
      #expect(isFocused)
      withExtendedLifetime(field) {}
    }
  }

  /// Nothing says that it goes on, and each call may take 25 s.
  @Test(.enabled(if: isSlow, ".ci/slow runs it")) func aDaemonThatIsHeldUpForLongIsWaitedFor() async throws {
    try await TestDesktop.with { desktop in
      let (owner, reader) = (desktop.client(), desktop.client())
      desktop.daemon.terminate(19)
      @FocusState var isFocused: Bool
      isFocused = true
      let field = FocusField(client: owner).focusedValue(\.number, .constant(1)).focused($isFocused).register()
      let seen = Changes(reader.changes(of: \.number))
      await #expect(throws: FocusError.self) { try await reader.read(\.number) }
      desktop.daemon.terminate(18)
      try await seen.wait(for: 1)
      #expect(try await desktop.focusctl("list").output.count == 1)
      withExtendedLifetime(field) {}
    }
  }

  @Test func theBusIsEndedAndStartedAgain() async throws {
    try await TestDesktop.with { desktop in
      let (owner, reader) = (desktop.client(), desktop.client())
      let number = State(wrappedValue: 1)
      @FocusState var isFocused: Bool
      let window = FocusField("window", client: owner).register()
      let field = FocusField(parent: window, client: owner).focusedValue(\.number, number.projectedValue)
        .focused($isFocused).register()
      isFocused = true
      let seen = Changes(reader.changes(of: \.number))
      try await seen.wait(for: 1)
      try await desktop.endBus()
      try await seen.wait(for: nil)
      let failure = await #expect(throws: FocusError.self) { try await reader.write(\.number, 9) }
      #expect(failure?.name == "org.freedesktop.DBus.Error.Disconnected")
      number.wrappedValue = 2
      let again = try await desktop.beginAgain()
      try await seen.wait(for: 2)
      #expect(try await reader.write(\.number, 3) == 3)
      #expect(number.wrappedValue == 3)
      #expect(isFocused)
      withExtendedLifetime(field) {}
      for process in again { try await process.stop() }
    }
  }

  @Test func focusWithoutAFocusStateComesBackToo() async throws {
    try await TestDesktop.with { desktop in
      let owner = desktop.client()
      let other = FocusField("other", client: owner).focusedValue(\.number, .constant(1)).register()
      let field = FocusField("text1", client: owner).focusedValue(\.number, .constant(2)).register()
      try await other.focus()
      try await field.focus()
      let seen = Changes(desktop.client().changes(of: \.number))
      try await seen.wait(for: 2)
      try await desktop.endBus()
      try await seen.wait(for: nil)
      let again = try await desktop.beginAgain()
      try await seen.wait(for: 2)
      for process in again { try await process.stop() }
      withExtendedLifetime((other, field)) {}
    }
  }

  /// The daemon does not wait for long while it looks at an object, and this program may have been held up.
  @Test func whatTheDaemonGaveUpOnIsAskedForAgain() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let (daemon, calls) = (try await desktop.peer(), Observed<[String]>([]))
      try await Self.serve(daemon, calls) { _, count in
        count == 1 ? .error("org.freedesktop.DBus.Error.Timeout", "the object did not reply") : nil
      }
      let owner = desktop.client()
      let errors = Errors(of: owner)
      let field = FocusField("text1", client: owner).focusedValue(\.number, .constant(1)).register()
      _ = try await calls.wait(for: "the second Register") { $0.count == 2 ? true : nil }
      try await field.registered()
      field.focusedValue(\.title, "more")
      _ = try await calls.wait(for: "the second Examine") { $0.count == 4 ? true : nil }
      #expect(calls.now == ["Register", "Register", "Examine", "Examine"])
      #expect(errors.all.isEmpty, "\(errors.all)")
      withExtendedLifetime(field) {}
    }
  }

  /// The field comes back with all of its keys.
  @Test func anExamineThatTheDaemonLeavesUnansweredIsNoError() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let (daemon, next) = (try await desktop.peer(), try await desktop.peer())
      let calls = Observed<[String]>([])
      try await Self.serve(daemon, calls) { member, _ in member == "Examine" ? .hold : nil }
      let owner = desktop.client()
      let errors = Errors(of: owner)
      let field = FocusField("text1", client: owner).focusedValue(\.number, .constant(1)).register()
      try await field.registered()
      field.focusedValue(\.title, "more")
      _ = try await calls.wait(for: "Examine") { $0.last == "Examine" ? true : nil }
      try await daemon.leave()
      try await next.waitForDeparture(of: Focus1.name)
      try await Self.serve(next, calls) { _, _ in nil }
      _ = try await calls.wait(for: "the next Register") { $0.last == "Register" ? true : nil }
      #expect(errors.all.isEmpty, "\(errors.all)")
      withExtendedLifetime(field) {}
    }
  }

  /// The daemon refuses what it does not know yet.
  @Test(arguments: [true, false])
  func whichCommandsAreOffIsToldWhenTheDaemonHasLooked(isRegistered: Bool) async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let (daemon, calls) = (try await desktop.peer(), Observed<[String]>([]))
      try await Self.serve(daemon, calls) { member, _ in
        member == "Examine" || (member == "Register" && !isRegistered) ? .hold : nil
      }
      func answer(_ member: String, _ values: [DBusValue]) {
        daemon.perform { thread in
          thread.release { call in
            guard call.member == member else { return .hold }
            calls.update { $0.append("answer to \(member)") }
            return .values(values)
          }
        }
      }
      let field = FocusField("text1", client: desktop.client()).focusedValue(\.number, .constant(1)).register()
      _ = try await calls.wait(for: "Register") { $0.isEmpty ? nil : true }
      if isRegistered { try await field.registered() }
      field.focusedValue(\.save) {}
      let isOff = Task { try await field.setEnabled(\.save, false) }
      if !isRegistered { answer("Register", [Focus1.fieldPath("text1")]) }
      _ = try await calls.wait(for: "Examine") { $0.contains("Examine") ? true : nil }
      answer("Examine", [])
      try await isOff.value
      let told = calls.now.drop { $0 != "Examine" }
      #expect(told.prefix(3) == ["Examine", "answer to Examine", "SetEnabled"], "\(told)")
    }
  }

  /// Has `daemon` hold the daemon's name, and note in `calls` what it is asked of fields; it takes all, unless `answer`
  /// has another answer to the call of a member with a number.
  private static func serve(
    _ daemon: Peer, _ calls: Observed<[String]>, _ answer: @escaping @Sendable (String, Int) -> Answer?
  ) async throws {
    daemon.answer { call, _ in
      guard ["Register", "Examine", "SetEnabled"].contains(call.member) else { return .hold }
      let count = calls.update { calls in
        calls.append(call.member)
        return calls.count { $0 == call.member }
      }
      return answer(call.member, count) ?? .values(call.member == "Register" ? [Focus1.fieldPath("text1")] : [])
    }
    try await daemon.own(Focus1.name)
  }

  /// A list that is too long for a signal is only told to be another.
  @Test func commandsThatAreToldWithoutTheListAreReadAgain() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let daemon = try await desktop.peer()
      let isEnabled = Observed(true)
      daemon.answer { call, _ in
        switch call.member {
        case "ReadAll": return .values(BelatedDaemon.readingAll(1))
        case "Get" where call.arguments.last == .string("FocusedField"):
          return .values([.variant(Focus1.fieldPath("a"))])
        default:
          let entry = DBusDictionary.Entry(key: .string("demo.Form.Save"), value: .boolean(isEnabled.now))
          return .values([.variant(.dictionary(DBusDictionary(known: .string, .boolean, [entry])))])
        }
      }
      try await daemon.own(Focus1.name)
      let seen = Changes(desktop.client().commandChanges(of: \.save))
      try await seen.wait(for: true)
      isEnabled.update { $0 = false }
      daemon.perform { $0.emitChanged(Focus1.focused, Focus1.bindings, [], invalidated: ["Commands"]) }
      try await seen.wait(for: false)
    }
  }

  /// The daemon looks at a field's object before the program knows that it is the daemon.
  @Test func aSecretIsWritableAfterTheDaemonHasComeBack() async throws {
    try await TestDesktop.with { desktop in
      let number = State(wrappedValue: 1)
      let owner = desktop.client()
      let errors = Errors(of: owner)
      let field = FocusField("secret", client: owner).privacySensitive().focusedValue(\.number, number.projectedValue)
        .focusedValue(\.save) {}
      try await field.setEnabled(\.save, false)
      try await field.register().registered()
      try await desktop.kill()
      try await desktop.start()
      let peer = try await desktop.peer()
      try await eventually("it is written") {
        try? await peer.set("demo.Form.Number", .int64(5), at: Focus1.field("secret"))
        return number.wrappedValue == 5
      }
      try await eventually("its command is off") {
        try await peer.commands(at: Focus1.field("secret"))["demo.Form.Save"] == false
      }
      #expect(errors.all == [])
    }
  }

  @Test func programsMayComeBeforeTheDaemon() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let (owner, reader) = (desktop.client(), desktop.client())
      @FocusState var isFocused: Bool
      let field = FocusField("text1", client: owner).focusedValue(\.number, .constant(1)).focused($isFocused).register()
      isFocused = true
      let seen = Changes(reader.changes(of: \.number))
      try await seen.wait(for: nil)
      try await desktop.start()
      try await seen.wait(for: 1)
      withExtendedLifetime(field) {}
    }
  }

  @Test func aWriteNeverLandsInAnotherField() async throws {
    try await TestDesktop.with { desktop in
      let (one, two) = (State(wrappedValue: 1), State(wrappedValue: 2))
      let owner = desktop.client()
      let first = FocusField("text1", client: owner).focusedValue(\.number, one.projectedValue).register()
      let second = FocusField("text2", client: owner).focusedValue(\.number, two.projectedValue).register()
      try await second.registered()
      let reader = desktop.client()
      let errors = Errors(of: reader)
      let seen = Changes(reader.changes(of: \.number))
      @FocusedBinding(\.number, client: reader) var number
      var (value, refused) = (1, 0)
      for next in 100..<120 {
        try await first.focus()
        try await seen.wait(for: value)
        #expect(number == value)
        // Begun in this order, since a write after the reader has seen the move is one into the second field.
        number = next
        try await second.focus()
        try await seen.wait(for: 2)
        // Either the write was first, which may be known later, or it was refused and undone.
        try await eventually("the end of the write") { one.wrappedValue == next || errors.all.count > refused }
        if one.wrappedValue == next { value = next } else { refused += 1 }
        #expect(two.wrappedValue == 2)
      }
      #expect(errors.all.count == refused)
    }
  }
}
