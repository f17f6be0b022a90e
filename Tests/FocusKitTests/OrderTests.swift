import BusSupport
import DBusTypes
import Dispatch
import FocusKit
import TestSupport
import Testing

/// A value whose conversion waits for a gate.
private struct Weight: DBusRepresentable {
  var grams = 0
  var gate: DispatchSemaphore?

  static var dbusType: DBusType { .int64 }
  init(grams: Int = 0, gate: DispatchSemaphore? = nil) { (self.grams, self.gate) = (grams, gate) }
  init(dbusValue: DBusValue) throws { grams = try Int(dbusValue: dbusValue) }
  func dbusValue() -> DBusValue {
    gate?.wait()
    gate?.signal()
    return grams.dbusValue()
  }
}

extension FocusedValues {
  fileprivate var weight: Binding<Weight>? {
    get { self["demo.Form.Weight"] }
    set { self["demo.Form.Weight"] = newValue }
  }
  fileprivate var storeOnMain: (@MainActor () -> Void)? {
    get { self["demo.Form.StoreOnMain"] }
    set { self["demo.Form.StoreOnMain"] = newValue }
  }
  fileprivate var storeAtOnce: (@Sendable () -> Void)? {
    get { self["demo.Form.StoreAtOnce"] }
    set { self["demo.Form.StoreAtOnce"] = newValue }
  }
}

/// What another program sees of the field.
private struct Form: Sendable {
  @FocusedBinding(\.number) var number
  @FocusedBinding(\.position) var position
  @FocusedValue(\.storeAtOnce) var store

  init(_ client: FocusClient) {
    _number = FocusedBinding(\.number, client: client)
    _position = FocusedBinding(\.position, client: client)
    _store = FocusedValue(\.storeAtOnce, client: client)
  }
}

/// Writes and commands that one program sends one after another.
@Suite struct OrderTests {
  /// Twice as many calls may wait for one owner.
  private static let count = 50

  /// A field whose commands note the number that they find.
  private static func field(
    _ number: State<Int>, _ stored: State<[Int]>, _ client: FocusClient
  ) -> FocusField {
    FocusField("form", client: client).focusedValue(\.number, number.projectedValue)
      .focusedValue(\.store) {
        stored.update { $0.append(number.wrappedValue) }
        await Task.yield()
      }
      .focusedValue(\.storeOnMain) { stored.update { $0.append(number.wrappedValue) } }
      .focusedValue(\.storeAtOnce) { stored.update { $0.append(number.wrappedValue) } }
  }

  @Test func aCommandFindsWhatWasWrittenBeforeIt() async throws {
    try await TestDesktop.with { desktop in
      let (number, stored) = (State(wrappedValue: 0), State(wrappedValue: [Int]()))
      let field = Self.field(number, stored, desktop.client()).register()
      try await field.focus()
      let caller = try await desktop.peer()
      // The main thread is that of all tests, and few wait for it here.
      let commands = ["Store", "StoreAtOnce"]
      var replies: [Peer.Pending] = []
      for value in 1...Self.count {
        replies.append(caller.begin(.set("demo.Form.Number", .int64(Int64(value)))))
        let command = value % 25 == 0 ? "StoreOnMain" : commands[value % 2]
        replies.append(caller.begin(.invoke("demo.Form.\(command)")))
        // The daemon waits 5 s for an owner, which a loaded machine needs for more of them.
        guard value.isMultiple(of: 5) else { continue }
        for reply in replies { try await reply.values() }
        replies = []
      }
      #expect(stored.wrappedValue == Array(1...Self.count))
    }
  }

  @Test func aCommandFollowsTheWritesOfItsOwnClient() async throws {
    try await TestDesktop.with { desktop in
      let (number, stored) = (State(wrappedValue: 0), State(wrappedValue: [Int]()))
      let field = Self.field(number, stored, desktop.client()).register()
      try await field.focus()
      let client = desktop.client()
      @FocusedBinding(\.number, client: client) var shown
      let store = FocusedValue(\.storeAtOnce, client: client)
      try await until("the field") { [$shown] in $shown.wrappedValue == 0 && store.wrappedValue != nil }
      for value in 1...20 {
        shown = value
        store.wrappedValue?()
        try await eventually("it is stored") { stored.wrappedValue.count == value }
      }
      for value in 21...40 {
        shown = value
        try await client.run(\.store)
        #expect(try await client.read(\.number) == value)
      }
      #expect(stored.wrappedValue == Array(1...40))
    }
  }

  /// The first write is under way until the gate is open, and all else waits.
  @Test func whatAProgramAssignsAndCallsArrivesInOrder() async throws {
    try await inTime("an owner that answers") {
      try await TestDesktop.with { desktop in
        let (log, gate) = (Observed<[String]>([]), DispatchSemaphore(value: 0))
        let note = { @Sendable (text: String) in log.update { $0.append(text) } }
        let (number, size) = (State(wrappedValue: 0), State(wrappedValue: 0.0))
        let field = FocusField("form", client: desktop.client())
          .focusedValue(\.number, number.projectedValue) { value in
            note("number \(value)")
            if value == 1 { gate.wait() }
          }
          .focusedValue(\.position, size.projectedValue) { note("position \($0)") }
          .focusedValue(\.storeAtOnce) { note("store") }.register()
        try await field.focus()
        let client = desktop.client()
        let errors = Errors(of: client)
        let form = Form(client)
        try await until("the field") { form.number == 0 && form.position == 0 && form.store != nil }
        form.number = 1
        _ = try await log.wait(for: "the first write") { $0.isEmpty ? nil : true }
        form.number = 2
        form.store?()
        // What is assigned after a command is not assigned before it.
        form.number = 3
        form.position = 1
        // Of what no command comes between, the last.
        form.number = 4
        form.store?()
        form.position = 2
        gate.signal()
        let expected = ["number 1", "number 2", "store", "number 4", "position 1.0", "store", "position 2.0"]
        try await eventually("all") { log.now.count >= expected.count || !errors.all.isEmpty }
        // An owner that is held up for 4 s refuses, which shows nothing.
        guard errors.all.isEmpty else { return false }
        #expect(log.now == expected)
        #expect(form.number == 4 && form.position == 2)
        return true
      }
    }
  }

  @Test func anOwnerThatHangsHoldsUpNoWriteOfAnother() async throws {
    try await inTime("an owner that answers") {
      try await TestDesktop.with { desktop in
        let (hangs, gate) = (Observed(false), DispatchSemaphore(value: 0))
        defer { gate.signal() }
        let radio = ["register", "radio", "--scope", "session", "demo.Slider.Position=0.5"]
        #expect(try await desktop.focusctl(radio).status == 0)
        let owner = desktop.client()
        let refused = Errors(of: owner)
        let field = FocusField("form", client: owner).focusedValue(\.number, State(wrappedValue: 0).projectedValue) {
          _ in
          hangs.update { $0 = true }
          gate.wait()
        }.register()
        try await field.focus()
        let client = desktop.client()
        let form = Form(client)
        try await until("the fields") { form.number == 0 && form.position == 0.5 }
        form.number = 1
        _ = try await hangs.wait(for: "the write") { $0 ? true : nil }
        form.number = 2
        form.position = 0.75
        try await eventually("the write of another field") {
          try await desktop.focusctl("get", "Position", "--field", "radio").text == "0.75"
        }
        return refused.all.isEmpty
      }
    }
  }

  /// The program has not answered yet when its client goes.
  @Test func whatAFieldHoldsIsFreedWithItsClient() async throws {
    final class Document: Sendable {}
    try await TestDesktop.with { desktop in
      let (hangs, gate) = (Observed(false), DispatchSemaphore(value: 0))
      let other = try await desktop.peer()
      nonisolated(unsafe) weak var document: Document?
      var owner = ""
      do {
        let held = Document()
        document = held
        let field = FocusField("form", client: desktop.client())
          .focusedValue(\.number, State(wrappedValue: 0).projectedValue) { _ in
            hangs.update { $0 = true }
            gate.wait()
            withExtendedLifetime(held) {}
          }.register()
        try await field.focus()
        owner = try #require(try await other.owners()["form"])
        other.begin(.set("demo.Form.Number", .int64(1)))
        _ = try await hangs.wait(for: "the write") { $0 ? true : nil }
        withExtendedLifetime(field) {}
      }
      try await eventually("the end of the client") {
        try await other.askBus("NameHasOwner", [.string(owner)]) == [.boolean(false)]
      }
      gate.signal()
      try await eventually("it is freed") { document == nil }
    }
  }

  /// Else each reader of a program that hangs would take some of its memory until it goes on.
  @Test func anOwnerThatHangsIsAskedOnceHoweverOftenOthersRead() async throws {
    try await TestDesktop.with { desktop in
      let (isHeld, reads) = (Observed(false), Observed(0))
      let gate = DispatchSemaphore(value: 0)
      let number = Binding<Int> {
        reads.update { $0 += 1 }
        if isHeld.now { gate.wait() }
        return 1
      } set: { _ in
      }
      let field = FocusField("form", client: desktop.client()).focusedValue(\.number, number).register()
      try await field.registered()
      let other = try await desktop.peer()
      let owner = try #require(try await other.owners()["form"])
      let path = try await other.path(ofTheFieldOf: owner)
      func read() async throws -> DBusValue? {
        let call = DaemonCall(to: owner, path, Focus1.properties, "Get", [.string("demo.Form"), .string("Number")])
        return try await other.call(call).first
      }
      isHeld.update { $0 = true }
      let before = reads.now
      for _ in 1...200 { await #expect(throws: (any Error).self) { try await read() } }
      isHeld.update { $0 = false }
      gate.signal()
      try await eventually("an answer") { (try? await read()) == .variant(.int64(1)) }
      // That of the one that was held, of one more, and of what follows the answers.
      #expect(reads.now < before + 50)
    }
  }

  @Test func whatIsReadWhileItChangesNeverGoesBack() async throws {
    try await TestDesktop.with { desktop in
      let number = State(wrappedValue: 0)
      let field = FocusField("form", client: desktop.client()).focusedValue(\.number, number.projectedValue).register()
      try await field.registered()
      let other = try await desktop.peer()
      let owner = try #require(try await other.owners()["form"])
      let path = try await other.path(ofTheFieldOf: owner)
      try await other.askBus("AddMatch", [.string("type='signal',sender='\(owner)'")])
      let last = 20_000
      async let changes: Void = onThread { for value in 1...last { number.wrappedValue = value } }
      var read: Int128 = 0
      while read < last {
        let value = try await other.call(
          DaemonCall(to: owner, path, Focus1.properties, "Get", [.string("demo.Form"), .string("Number")]))
        let next = try #require(value.first?.variantContent?.integer)
        #expect(next >= read)
        read = next
      }
      try await changes
      let told = try await other.signals("the last value") { signals in
        let told = signals.compactMap { $0.told["demo.Form.Number"] ?? nil }
        return told.last == .int64(Int64(last)) ? told.compactMap(\.integer) : nil
      }
      #expect(told == told.sorted())
    }
  }

  /// The first change is being converted until the gate is open, and so none is told.
  @Test("What a command or a write changes is told before its reply", arguments: [true, false])
  func whatACallChangesIsToldBeforeItsReply(isCommand: Bool) async throws {
    try await inTime("an owner that answers") {
      try await TestDesktop.with { desktop in
        let (number, weight) = (State(wrappedValue: 0), State(wrappedValue: Weight()))
        let gate = DispatchSemaphore(value: 0)
        let change = { @Sendable in
          weight.wrappedValue = Weight(grams: 1, gate: gate)
          number.wrappedValue = 1
        }
        let owner = desktop.client()
        let field = FocusField("form", client: owner).focusedValue(\.number, number.projectedValue)
          .focusedValue(\.weight, weight.projectedValue).focusedValue(\.store) { change() }
          .focusedValue(\.position, Binding(get: { 0 }, set: { _ in change() })).register()
        try await field.focus()
        let client = desktop.client()
        let shown = FocusedBinding(\.number, client: client)
        try await until("the field") { shown.wrappedValue == 0 }
        let task = Task {
          if isCommand { try await client.run(\.store) } else { try await client.write(\.position, 1) }
          return shown.wrappedValue
        }
        try await eventually("it is changed") { number.wrappedValue == 1 }
        // A reply that does not wait for the change comes before this.
        _ = try await client.read(\.title)
        gate.signal()
        // It fails if the owner is held up for 4 s, which shows nothing.
        guard let seen = try? await task.value else { return false }
        #expect(seen == 1)
        return true
      }
    }
  }

  @Test func aCommandThatWaitsHoldsNothingUp() async throws {
    try await TestDesktop.with { desktop in
      let (number, stored) = (State(wrappedValue: 0), State(wrappedValue: [Int]()))
      let (isOver, hasBegun) = (Observed(false), Observed(false))
      let field = Self.field(number, stored, desktop.client()).command("demo.Form.Wait") {
        hasBegun.update { $0 = true }
        _ = try await isOver.wait(for: "the end") { $0 ? true : nil }
      }.register()
      try await field.focus()
      let caller = try await desktop.peer()
      let wait = caller.begin(.invoke("demo.Form.Wait"))
      _ = try await hasBegun.wait(for: "the command") { $0 ? true : nil }
      try await caller.begin(.set("demo.Form.Number", .int64(1))).values()
      try await caller.begin(.invoke("demo.Form.Store")).values()
      #expect(stored.wrappedValue == [1])
      isOver.update { $0 = true }
      try await wait.values()
    }
  }
}
