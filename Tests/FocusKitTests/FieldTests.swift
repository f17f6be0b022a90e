import BusSupport
import DBusTypes
import FocusKit
import TestSupport
import Testing

/// What becomes of a field, of what it published, and of its focus state.
@Suite struct FieldTests {
  /// An id is one field's, whoever asks for it next; the daemon's end changes nothing of that.
  @Test func aSecondFieldWithTheSameIDIsRefused() async throws {
    try await TestDesktop.with { desktop in
      let client = desktop.client()
      let first = FocusField("text1", client: client).focusedValue(\.title, "first").register()
      try await first.focus()
      for other in [client, desktop.client()] {
        let second = FocusField("text1", client: other).focusedValue(\.title, "second").register()
        let error = await #expect(throws: FocusError.self) { try await second.registered() }
        #expect(error?.name == "org.focusd.Focus1.Error.FieldExists", "\(error as Any)")
        withExtendedLifetime(second) {}
      }
      #expect(try await client.read(\.title) == "first")
      try await desktop.crash()
      try await Changes(client.changes(of: \.title)).wait(for: "first")
      try await first.focus()
      #expect(try await client.read(\.title) == "first")
    }
  }

  /// While it is asked whose the field is that is there already, the bus ends.
  @Test func aFieldThatIsAskedForAtTheEndOfTheBusIsRegisteredWithTheNext() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let daemon = try await desktop.peer()
      let asked = Observed(false)
      daemon.answer { call, _ in
        guard call.key == Focus1.fieldInterface + ".Owner" else {
          return .error("org.focusd.Focus1.Error.FieldExists", "it is there")
        }
        asked.update { $0 = true }
        return .hold
      }
      try await daemon.own(Focus1.name)
      let client = desktop.client()
      let errors = Errors(of: client)
      let field = FocusField("text1", client: client).focusedValue(\.title, "first").register()
      _ = try await asked.wait(for: "the question") { $0 ? true : nil }
      try await desktop.bus.stop()
      let again = try await desktop.beginAgain()
      try await field.registered()
      #expect(errors.all.allSatisfy { !$0.message.contains("it is there") }, "\(errors.all)")
      for process in again { try await process.stop() }
    }
  }

  /// What another program holds up is not missing for the others.
  @Test func valuesAreKnownWhileTheOwnerOfAnotherIsSilent() async throws {
    try await TestDesktop.with { desktop in
      let player = Exported(
        try await desktop.peer(),
        document(("org.mpris.MediaPlayer2.Player", property("Position", "x", emits: "false"))),
        ["org.mpris.MediaPlayer2.Player.Position": .int64(7)], at: "/player")
      try await player.owner.register("player", object: player.path, [("scope", .string("session"))])
      let field = FocusField("text1", client: desktop.client()).focusedValue(\.title, "first").register()
      try await field.focus()
      player.rule("Get") { _, _, _ in .hold }
      let client = desktop.client()
      let titles = Changes(client.changes(of: \.title))
      let positions = Changes(client.changes(of: \.mediaPlayer.position))
      try await titles.wait(for: "first")
      try await positions.wait(for: nil)
      // The daemon would not wait for so long. What it asks on the way is answered, too.
      player.rule("Get", nil)
      player.release()
      try await positions.wait(for: 7)
      withExtendedLifetime(field) {}
    }
  }

  /// Whoever takes a field away does not hear that the daemon found it gone.
  @Test func aFieldThatIsTakenAwayAtOnceIsNoError() async throws {
    try await TestDesktop.with { desktop in
      let client = desktop.client()
      let errors = Errors(of: client)
      for _ in 1...50 {
        FocusField(client: client).focusedValue(\.title, "gone").register().unregister()
        let last = FocusField(client: client).focusedValue(\.title, "here").register()
        try await last.registered()
      }
      #expect(errors.all.isEmpty, "\(errors.all)")
    }
  }

  /// As in SwiftUI, a value that is nil is not published.
  @Test func whatIsPublishedAsNilIsTakenAway() async throws {
    try await TestDesktop.with { desktop in
      let owner = desktop.client()
      let errors = Errors(of: owner)
      let former = State(wrappedValue: 1)
      let window = FocusField("window", client: owner).focusedValue(\.title, "window").register()
      let field = FocusField("text1", parent: window, client: owner)
        .focusedValue(\.title, "field").focusedValue(\.title, nil)
        .focusedValue(\.number, former.projectedValue).focusedValue(\.save) {}
        .focusedSceneValue(\.position, nil)
        .register()
      try await field.focus()
      let reader = desktop.client()
      #expect(try await reader.read(\.title) == "window")
      let numbers = Changes(reader.changes(of: \.number))
      try await numbers.wait(for: 1)

      field.focusedValue(\.number, nil)
      try await numbers.wait(for: nil)
      former.wrappedValue = 2
      field.focusedSceneValue(\.position, .constant(0.5))
      try await Changes(reader.changes(of: \.position)).wait(for: 0.5)
      #expect(numbers.all == [1, nil])

      // With nothing left to show, the field is there, and shows something again later.
      field.focusedValue(\.save, nil).focusedSceneValue(\.position, nil)
      try await Changes(reader.changes(of: \.position)).wait(for: nil)
      try await eventually("no command") { try await desktop.focusctl("commands").output.isEmpty }
      field.focusedValue(\.number, .constant(3))
      try await numbers.wait(for: 3)
      former.wrappedValue = 4
      field.focusedValue(\.number, former.projectedValue)
      try await numbers.wait(for: 4)
      former.wrappedValue = 5
      try await numbers.wait(for: 5)

      field.focusedValue(\.number, nil)
      try await numbers.wait(for: nil)
      try await desktop.crash()
      try await field.focus()
      #expect(try await reader.read(\.number) == nil)
      #expect(numbers.all.filter { $0 != nil } == [1, 3, 4, 5])
      #expect(errors.all.isEmpty, "\(errors.all)")
    }
  }

  /// D-Bus has no text with a zero in it.
  @Test func aValueThatCannotBePublishedIsNil() async throws {
    try await TestDesktop.with { desktop in
      let (owner, title) = (desktop.client(), State(wrappedValue: "one"))
      let errors = Errors(of: owner)
      let field = FocusField("text1", client: owner).focusedValue(\.title, title.projectedValue).register()
      try await field.focus()
      let reader = desktop.client()
      let titles = Changes(reader.changes(of: \.title))
      try await titles.wait(for: "one")
      title.wrappedValue = "\0"
      try await titles.wait(for: nil)
      try await errors.wait(count: 1)
      try await desktop.crash()
      try await field.focus()
      #expect(try await reader.read(\.title) == nil)
      title.wrappedValue = "one"
      try await titles.wait(for: "one")
      #expect(titles.all.filter { $0 != nil } == ["one", "one"])
    }
  }

  /// As in SwiftUI, a state says nothing of a field that is not there.
  @Test(arguments: [true, false]) func theStateOfAFieldThatGoesIsReset(isLetGo: Bool) async throws {
    try await TestDesktop.with { desktop in
      let owner = desktop.client()
      let (form, search) = (FocusState<Int?>(), FocusState<Bool>())
      func field() -> FocusField {
        FocusField("text1", client: owner).focusedValue(\.title, "one").focused(form.projectedValue, equals: 1)
          .register()
      }
      var first: FocusField? = field()
      let other = FocusField("search", client: owner).focusedValue(\.title, "search").focused(search.projectedValue)
        .register()
      try await other.registered()
      try await first?.registered()
      form.wrappedValue = 1
      let reader = desktop.client()
      let titles = Changes(reader.changes(of: \.title))
      try await titles.wait(for: "one")
      if !isLetGo { first?.unregister() }
      first = nil
      try await titles.wait(for: nil)
      try await until("the reset") { form.wrappedValue == nil }

      // A later field with the same value does not take focus.
      search.wrappedValue = true
      try await titles.wait(for: "search")
      first = field()
      try await first?.registered()
      #expect(try await reader.read(\.title) == "search")
      #expect(search.wrappedValue && form.wrappedValue == nil)
    }
  }

  /// To change what is fixed at registration, such as the label, a program replaces the field.
  @Test func aFieldThatTakesAnothersPlaceHasItsFocus() async throws {
    try await TestDesktop.with { desktop in
      let owner = desktop.client()
      let form = FocusState<Int?>()
      func field(_ label: String) -> FocusField {
        FocusField(label: label, client: owner).focusedValue(\.title, label).focused(form.projectedValue, equals: 1)
          .register()
      }
      var current = field("first")
      form.wrappedValue = 1
      let titles = Changes(desktop.client().changes(of: \.title))
      try await titles.wait(for: "first")
      current = field("second")
      try await current.registered()
      try await titles.wait(for: "second")
      #expect(form.wrappedValue == 1)
    }
  }
}
