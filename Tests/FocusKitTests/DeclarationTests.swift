import BusSupport
import FocusKit
import TestSupport
import Testing

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

  /// The daemon looks at the object once for all that came meanwhile: more looks than 256 at once are refused.
  @Test func aConstantThatIsPublishedOftenIsTheLast() async throws {
    try await TestDesktop.with { desktop in
      let owner = desktop.client()
      let errors = Errors(of: owner)
      let field = FocusField("form", client: owner).focusedValue(\.title, "value 0").register()
      try await field.focus()
      let seen = Changes(desktop.client().changes(of: \.title))
      for number in 1...1000 { field.focusedValue(\.title, "value \(number)") }
      try await seen.wait(for: "value 1000")
      #expect(errors.all.isEmpty, "\(errors.all.prefix(3))")
      withExtendedLifetime(field) {}
    }
  }

  @Test func aFieldWithinAnotherIsOfItsClient() async throws {
    try await TestDesktop.with { desktop in
      let window = FocusField("window", client: desktop.client()).register()
      let entry = FocusField("entry", parent: window).register()
      let other = try await desktop.peer()
      try await eventually("both fields") {
        let owners = try await other.owners()
        return owners["entry"] != nil && owners["entry"] == owners["window"]
      }
      withExtendedLifetime(entry) {}
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
