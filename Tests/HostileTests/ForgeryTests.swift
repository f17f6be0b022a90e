import BusSupport
import DBus
import DBusTypes
import TestSupport
import Testing

/// Somebody who answers what the daemon asks owners, and tells of them what they do not tell: none of it counts.
@Suite(.serialized) struct ForgeryTests {
  /// What has the daemon ask an owner.
  enum Deed: CaseIterable, Sendable {
    case write, writeBack, command, read, focus

    /// What the owner is asked.
    var member: String {
      switch self {
      case .write: "Set"
      case .writeBack, .read: "Get"
      case .command: "Say"
      case .focus: "RequestFocus"
      }
    }

    var lie: [DBusValue] {
      switch self {
      case .write, .focus: []
      case .writeBack, .read: [.variant(.int32(666))]
      case .command: [.string("forged")]
      }
    }

    var truth: Result<[DBusValue], CallError> {
      switch self {
      case .write, .writeBack: .success([.int32(6)])
      case .read: .success([.int32(7)])
      case .command: .success([.string("the truth")])
      case .focus: .failure(CallError(name: "demo.Held.Busy", message: "not now"))
      }
    }

    func done(by caller: Caller) -> Result<[DBusValue], CallError> {
      let field = Focus1.field(HeldOwner.id)
      do {
        switch self {
        case .write, .writeBack:
          let answer = try caller.call(
            field, Focus1.bindings, "Write", [.string(HeldOwner.key), .variant(.int32(6)), .properties([])])
          return .success(answer.prefix(1).map { $0.variantContent ?? $0 })
        case .command: return .success(try caller.call(field, "demo.Held", "Say"))
        case .read: return .success([try caller.read(HeldOwner.liveKey, at: field).value].compactMap(\.self))
        case .focus:
          try caller.field(HeldOwner.id, "Focus")
          return .success([])
        }
      } catch {
        return .failure((error as? CallError) ?? CallError(name: nil, message: "\(error)"))
      }
    }
  }

  /// The daemon's own connection.
  private static func daemon(_ caller: Caller) throws -> String {
    try caller.ask("GetNameOwner", [.string(Focus1.name)]).first?.basicText ?? ""
  }

  @Test(arguments: Deed.allCases, [true, false])
  func nobodyAnswersForAnOwnerThatTakesItsTime(deed: Deed, isAnswered: Bool) async throws {
    try await PrivateBus.with { bus in
      let process = try await Focus1.start(on: bus)
      let owner = try await HeldOwner(on: bus)
      try await owner.registered()
      let (judge, client) = (try Caller(on: bus), try Caller(on: bus))
      owner.hold(deed.member)
      async let outcome = onThread { deed.done(by: client) }
      try await owner.isAsked()
      try await onThread {
        let daemon = try Self.daemon(judge)
        let forger = try Forger(on: bus)
        let lies = [Forger.Lie.reply(deed.lie), .error("demo.Forged.Error")]
        try forger.answer(isAnswered ? lies : lies.reversed(), to: daemon)
        try forger.settle(daemon)
      }
      if isAnswered {
        try await onThread { try owner.answer(with: judge) }
        #expect(try await outcome == deed.truth)
        try await owner.leave(with: judge)
      } else {
        try await owner.leave(with: judge)
        let result = try await outcome
        #expect(throws: CallError.self) { try result.get() }
        if case .failure(let error) = result { #expect(error.name == "org.focusd.Focus1.Error.OwnerGone") }
      }
      try await process.stop()
    }
  }

  /// What an object is, and what it holds, as the daemon learns when a field is registered.
  @Test(arguments: ["Introspect", "GetAll"]) func nobodyDescribesAnotherOwnersObject(member: String) async throws {
    try await PrivateBus.with { bus in
      let process = try await Focus1.start(on: bus)
      let owner = try await HeldOwner(on: bus, holding: member)
      try await owner.isAsked()
      let judge = try Caller(on: bus)
      try await onThread {
        let daemon = try Self.daemon(judge)
        let forger = try Forger(on: bus)
        let evil = #"<node><interface name="evil.I"><property name="P" type="i" access="read"/></interface></node>"#
        let lie: DBusValue =
          member == "GetAll" ? .properties([(name: "Level", value: .int32(666))]) : .string(evil)
        try forger.answer([.reply([lie]), .error("demo.Forged.Error")], to: daemon)
        try forger.settle(daemon)
        try owner.answer(with: judge)
      }
      try await owner.registered()
      try await onThread {
        let field = Focus1.field(HeldOwner.id)
        let shown = try judge.call(field, "org.freedesktop.DBus.Introspectable", "Introspect").first?.basicText ?? ""
        #expect(shown.contains("demo.Held"))
        #expect(!shown.contains("evil.I"))
        #expect(try judge.read(HeldOwner.key, at: field).value == .int32(1))
      }
      try await owner.leave(with: judge)
      try await process.stop()
    }
  }

  /// Owners that answer at once, while lies about the next calls never end.
  @Test func nobodyIsQuickerThanAQuickOwner() async throws {
    try await PrivateBus.with { bus in
      let process = try await Focus1.start(on: bus)
      let owner = try await HeldOwner(on: bus)
      try await owner.registered()
      let client = try Caller(on: bus)
      let isOver = Observed(false)
      let daemon = try await onThread { try Self.daemon(client) }
      async let forgery: Void = onThread {
        let forger = try Forger(on: bus)
        let lies = [Forger.Lie.reply([.variant(.int32(666))]), .error("demo.Forged.Error")]
        while !isOver.now {
          let last = owner.state.now.lastSerial
          try forger.answer(lies, to: daemon, serials: last + 1...last + 16)
        }
      }
      defer { isOver.update { $0 = true } }
      try await onThread {
        let field = Focus1.field(HeldOwner.id)
        for number in 0..<Int32(isSlow ? 5_000 : 300) {
          try client.write(HeldOwner.key, .int32(number), at: field)
          #expect(try client.read(HeldOwner.key, at: field).value == .int32(number))
          #expect(try client.read(HeldOwner.liveKey, at: field).value == .int32(7))
          #expect(try client.call(field, "demo.Held", "Say") == [.string("the truth")])
        }
      }
      isOver.update { $0 = true }
      try await forgery
      try await owner.leave(with: client)
      try await process.stop()
    }
  }

  /// Signals that are sent to the daemon alone, by somebody else than they are of.
  @Test func nobodyTellsOfAnotherOwnersObject() async throws {
    try await PrivateBus.with { bus in
      let process = try await Focus1.start(on: bus)
      let owner = try await HeldOwner(on: bus)
      try await owner.registered()
      let judge = try Caller(on: bus)
      let emitted = Observed<[String]>([])
      judge.onSignal = { signal in
        let member = signal.member?.text ?? ""
        emitted.update { $0.append(member) }
      }
      try await onThread {
        try judge.listen()
        let daemon = try Self.daemon(judge)
        let forger = try Forger(on: bus)
        let name = DBusValue.string(owner.state.now.name)
        try forger.emit(
          to: daemon, "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", [name, name, .string("")])
        try forger.emit(
          to: daemon, HeldOwner.path, Focus1.properties, "PropertiesChanged",
          [.string("demo.Held"), .properties([(name: "Level", value: .int32(666))]), .strings([])])
        try forger.emit(to: daemon, HeldOwner.path, "demo.Held", "Forged", [])
        try forger.settle(daemon)
        #expect(try judge.owners() == [HeldOwner.id: owner.state.now.name])
        #expect(try judge.read(HeldOwner.key, at: Focus1.field(HeldOwner.id)).value == .int32(1))
        #expect(!emitted.now.contains("Forged"))
        #expect(!emitted.now.contains("PropertiesChanged"))
      }
      try await owner.leave(with: judge)
      try await process.stop()
    }
  }
}
