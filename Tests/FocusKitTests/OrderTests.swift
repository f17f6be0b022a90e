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
  fileprivate var store: FocusedCommand? {
    get { self["demo.Form.Store"] }
    set { self["demo.Form.Store"] = newValue }
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

/// What a program says of a field, before and after it is registered.
@Suite struct DeclarationTests {
  @Test(arguments: [true, false])
  func aCommandThatIsOffStaysOff(isDeclaredFirst: Bool) async throws {
    try await TestDesktop.with { desktop in
      let (number, stored) = (State(wrappedValue: 0), State(wrappedValue: [Int]()))
      let field = FocusField("form", client: desktop.client()).focusedValue(\.number, number.projectedValue)
        .focusedValue(\.store) { stored.update { $0.append(1) } }
      if isDeclaredFirst { try await field.setEnabled(\.store, false) }
      try await field.register().registered()
      if !isDeclaredFirst { try await field.setEnabled(\.store, false) }
      try await field.focus()
      let client = desktop.client()
      let refused = await #expect(throws: FocusError.self) { try await client.run(\.store) }
      #expect(refused?.name.hasSuffix(".Disabled") == true)
      let seen = Changes(client.changes(of: \.number))
      try await seen.wait(for: 0)
      try await desktop.endBus()
      try await seen.wait(for: nil)
      let again = try await desktop.beginAgain()
      try await seen.wait(for: 0)
      let refusedAgain = await #expect(throws: FocusError.self) { try await client.run(\.store) }
      #expect(refusedAgain?.name.hasSuffix(".Disabled") == true)
      try await field.setEnabled(\.store, true)
      try await client.run(\.store)
      #expect(stored.wrappedValue == [1])
      for process in again { try await process.stop() }
    }
  }

  @Test func aCommandThatIsPublishedLaterIsOffAtOnce() async throws {
    try await TestDesktop.with { desktop in
      let client = desktop.client()
      let errors = Errors(of: client)
      let field = FocusField("form", client: client).focusedValue(\.number, .constant(1)).register()
      try await field.registered()
      field.focusedValue(\.store) {}
      try await field.setEnabled(\.store, false)
      try await field.focus()
      let states = Changes(client.commandChanges(of: \.store))
      try await states.wait(for: false)
      #expect(states.all.allSatisfy { $0 != true })
      #expect(errors.all == [])
    }
  }

  /// A command of the scene, and what is published again later, change nothing of that.
  @Test func whichCommandsAreOffOutlastsTheDaemon() async throws {
    try await TestDesktop.with { desktop in
      let owner = desktop.client()
      let errors = Errors(of: owner)
      let (one, two) = (State(wrappedValue: 1), State(wrappedValue: 2))
      let field = FocusField("form", client: owner).focusedValue(\.store) {}.focusedSceneValue(\.save) {}
      try await field.setEnabled(\.store, false)
      try await field.setEnabled(\.save, false)
      try await field.register().focus()
      let client = desktop.client()
      let seen = Changes(client.changes(of: \.number))
      let states = (Changes(client.commandChanges(of: \.store)), Changes(client.commandChanges(of: \.save)))
      func areOff(_ store: Bool, _ save: Bool) async throws {
        // A field of the scene is registered by itself, and what is off is told after that.
        try await states.0.wait(for: !store)
        try await states.1.wait(for: !save)
        let name = await #expect(throws: FocusError.self) { try await client.run(\.save) }?.name
        #expect(name == "org.focusd.Focus1.Error.Disabled")
        if !store { try await client.run(\.store) }
      }
      try await areOff(true, true)
      field.focusedValue(\.number, one.projectedValue)
      try await seen.wait(for: 1)
      try await field.setEnabled(\.store, true)
      field.focusedValue(\.number, two.projectedValue)
      try await seen.wait(for: 2)
      try await areOff(false, true)
      try await desktop.kill()
      try await seen.wait(for: nil)
      try await desktop.start()
      try await seen.wait(for: 2)
      try await areOff(false, true)
      // What is taken away and comes back is as it was declared.
      field.focusedSceneValue(\.save, SaveKey.Value?.none)
      try await states.1.wait(for: nil)
      field.focusedSceneValue(\.save) {}
      try await states.1.wait(for: false)
      #expect(errors.all == [])
    }
  }

  @Test func whatIsPublishedAfterwardsIsPublished() async throws {
    try await TestDesktop.with { desktop in
      let owner = desktop.client()
      let errors = Errors(of: owner)
      let number = State(wrappedValue: 1)
      @FocusState var isFocused: Bool
      let field = FocusField("form", client: owner).register()
      try await field.registered()
      field.focusedValue(\.number, number.projectedValue)
      field.focusedSceneValue(\.title, "scene").focused($isFocused)
      isFocused = true
      let client = desktop.client()
      let (seen, titles) = (Changes(client.changes(of: \.number)), Changes(client.changes(of: \.title)))
      try await seen.wait(for: 1)
      try await titles.wait(for: "scene")
      #expect(try await client.write(\.number, 2) == 2)
      #expect(number.wrappedValue == 2)
      field.focusedValue(\.position, .constant(0.5)).command("demo.Form.Reset") { number.wrappedValue = 0 }
      number.wrappedValue = 3
      try await seen.wait(for: 3)
      try await eventually("the key") { try await client.read(\.position) == 0.5 }
      try await eventually("the command") { (try? await client.run("demo.Form.Reset")) != nil }
      try await seen.wait(for: 0)
      try await desktop.endBus()
      try await seen.wait(for: nil)
      let again = try await desktop.beginAgain()
      try await seen.wait(for: 0)
      try await titles.wait(for: "scene")
      #expect(try await client.read(\.position) == 0.5)
      #expect(errors.all.isEmpty, "\(errors.all)")
      for process in again { try await process.stop() }
      withExtendedLifetime(field) {}
    }
  }

  /// Each declaration takes effect after the changes before it are told; others may be made before that.
  @Test func nothingThatIsPublishedAmongChangesIsLost() async throws {
    try await TestDesktop.with { desktop in
      let (owner, client) = (desktop.client(), desktop.client())
      let number = State(wrappedValue: 0)
      let field = FocusField("form", client: owner).focusedValue(\.number, number.projectedValue).register()
      try await field.focus()
      let names = (0..<30).map { "demo.Form.Command\($0)" }
      for name in names {
        number.wrappedValue += 1
        field.command(name) {}
      }
      for name in names { try await eventually(name) { (try? await client.run(name)) != nil } }
      #expect(try await client.read(\.number) == names.count)
      withExtendedLifetime(field) {}
    }
  }

  @Test func aPropertyThatIsNotOneKeyIsReported() async throws {
    try await TestDesktop.with { desktop in
      let client = desktop.client()
      let errors = Errors(of: client)
      for await _ in client.changes(of: \.firstOfTwo) {}
      try await errors.wait(count: 1)
    }
  }
}

extension FocusedValues {
  /// It computes something from two keys.
  fileprivate var firstOfTwo: Binding<Int>? {
    get { self["demo.Form.Number"] ?? self["demo.Form.Other"] }
    set { self["demo.Form.Number"] = newValue }
  }
}
