import BusSupport
import DBus
import DBusTypes
import TestSupport
import Testing

/// Somebody who answers what the daemon asks owners, and tells of them what they do not tell: none of it counts.
@Suite(.serialized) struct OwnerForgeryTests {
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

    var truth: Peer.Outcome {
      switch self {
      case .write, .writeBack: .success([.int32(6)])
      case .read: .success([.int32(7)])
      case .command: .success([.string("the truth")])
      case .focus: .failure(RemoteError(name: "demo.Held.Busy", message: "not now"))
      }
    }

    func done(by caller: Peer) async -> Peer.Outcome {
      let field = Focus1.field(HeldOwner.id)
      do {
        switch self {
        case .write, .writeBack:
          let answer = try await caller.call(.write(HeldOwner.key, .int32(6), at: field))
          return .success(answer.prefix(1).map { $0.variantContent ?? $0 })
        case .command: return .success(try await caller.call(field, "demo.Held", "Say"))
        case .read: return .success([try await caller.read(HeldOwner.liveKey, at: field).value].compactMap(\.self))
        case .focus:
          try await caller.field(HeldOwner.id, "Focus")
          return .success([])
        }
      } catch {
        return .failure((error as? RemoteError) ?? RemoteError(name: "local", message: "\(error)"))
      }
    }
  }

  /// The daemon's own connection.
  private static func daemon(_ caller: Peer) async throws -> String {
    try await caller.askBus("GetNameOwner", [.string(Focus1.name)]).first?.basicText ?? ""
  }

  @Test(arguments: Deed.allCases, [true, false])
  func nobodyAnswersForAnOwnerThatTakesItsTime(deed: Deed, isAnswered: Bool) async throws {
    // On a slow machine the owner's five seconds are over before the lies are told.
    try await inTime("an answer that is awaited") {
      try await TestDesktop.with { desktop in
        let owner = try await HeldOwner(on: desktop)
        try await owner.registered()
        let (forger, client) = (try await desktop.peer(), try await desktop.peer())
        let daemon = try await Self.daemon(forger)
        owner.hold(deed.member)
        async let result = deed.done(by: client)
        try await owner.object.called(deed.member)
        let lies = [Lie.reply(deed.lie), .error("demo.Forged.Error")]
        try await forger.forge(isAnswered ? lies : lies.reversed(), to: daemon)
        try await forger.settle(daemon)
        if isAnswered { owner.answer() } else { try await owner.peer.leave() }
        let outcome = await result
        if case .failure(let error) = outcome, error.shortName == "Timeout" { return false }
        // What the owner has taken is done, though nobody can say what it has made of it.
        if isAnswered || deed == .writeBack {
          #expect(outcome == deed.truth)
        } else {
          #expect(throws: RemoteError.self) { try outcome.get() }
          if case .failure(let error) = outcome { #expect(error.shortName == "OwnerGone") }
        }
        if isAnswered { try await owner.peer.leave() }
        return true
      }
    }
  }

  /// What an object is, and what it holds, as the daemon learns when a field is registered.
  @Test(arguments: ["Introspect", "GetAll"]) func nobodyDescribesAnotherOwnersObject(member: String) async throws {
    try await inTime("a registration that is awaited") {
      try await TestDesktop.with { desktop in try await Self.isDescribed(desktop, member) }
    }
  }

  /// - Returns: false if the owner's five seconds were over.
  private static func isDescribed(_ desktop: TestDesktop, _ member: String) async throws -> Bool {
    let owner = try await HeldOwner(on: desktop, holding: member)
    try await owner.object.called(member)
    let judge = try await desktop.peer()
    let daemon = try await Self.daemon(judge)
    let forger = try await desktop.peer()
    let evil = #"<node><interface name="evil.I"><property name="P" type="i" access="read"/></interface></node>"#
    let lie: DBusValue =
      member == "GetAll" ? .properties([("Level", .int32(666))]) : .string(evil)
    try await forger.forge([.reply([lie]), .error("demo.Forged.Error")], to: daemon)
    try await forger.settle(daemon)
    owner.answer()
    let refusal = try await owner.refusal()
    if refusal == "Timeout" { return false }
    #expect(refusal == nil)
    let field = Focus1.field(HeldOwner.id)
    let shown = try await judge.introspect(field)
    #expect(shown.contains("demo.Held"))
    #expect(!shown.contains("evil.I"))
    #expect(try await judge.read(HeldOwner.key, at: field).value == .int32(1))
    try await owner.peer.leave()
    return true
  }

  /// Owners that answer at once, while lies about the next calls never end.
  @Test func nobodyIsQuickerThanAQuickOwner() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await HeldOwner(on: desktop)
      try await owner.registered()
      let client = try await desktop.peer()
      let isOver = Observed(false)
      let daemon = try await Self.daemon(client)
      async let forgery: Void = {
        let forger = try await desktop.peer()
        let lies = [Lie.reply([.variant(.int32(666))]), .error("demo.Forged.Error")]
        while !isOver.now {
          let last = owner.object.state.now.calls.last?.serial ?? 0
          try await forger.forge(lies, to: daemon, serials: last + 1...last + 16)
        }
      }()
      defer { isOver.update { $0 = true } }
      let field = Focus1.field(HeldOwner.id)
      for number in 0..<Int32(isSlow ? 5_000 : 300) {
        try await client.write(HeldOwner.key, .int32(number), at: field)
        #expect(try await client.read(HeldOwner.key, at: field).value == .int32(number))
        #expect(try await client.read(HeldOwner.liveKey, at: field).value == .int32(7))
        #expect(try await client.call(field, "demo.Held", "Say") == [.string("the truth")])
      }
      isOver.update { $0 = true }
      try await forgery
      try await owner.peer.leave()
    }
  }

  /// Signals that are sent to the daemon alone, by somebody else than they are of.
  @Test func nobodyTellsOfAnotherOwnersObject() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await HeldOwner(on: desktop)
      try await owner.registered()
      let judge = try await desktop.peer()
      try await judge.subscribe()
      let daemon = try await Self.daemon(judge)
      let forger = try await desktop.peer()
      let name = DBusValue.string(owner.peer.name)
      try forger.forge(
        to: daemon, "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", [name, name, .string("")])
      try forger.forge(
        to: daemon, HeldOwner.path, Focus1.properties, "PropertiesChanged",
        [.string("demo.Held"), .properties([("Level", .int32(666))]), .strings([])])
      try forger.forge(to: daemon, HeldOwner.path, "demo.Held", "Forged", [])
      try await forger.settle(daemon)
      #expect(try await judge.owners() == [HeldOwner.id: owner.peer.name])
      #expect(try await judge.read(HeldOwner.key, at: Focus1.field(HeldOwner.id)).value == .int32(1))
      #expect(!judge.signals.contains { ["Forged", "PropertiesChanged"].contains($0.member) && !$0.tellsProcess })
      try await owner.peer.leave()
    }
  }
}
