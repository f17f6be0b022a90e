import BusSupport
import DBusTypes
import FocusKit
import TestSupport
import Testing

extension FocusedValues {
  /// The short form of a key, which names it and no more.
  fileprivate var entry: Binding<Int>? {
    get { self["demo.Entry.Number"] }
    set { self["demo.Entry.Number"] = newValue }
  }
  fileprivate var entryTitle: String? {
    get { self["demo.Entry.Title"] }
    set { self["demo.Entry.Title"] = newValue }
  }
  fileprivate var entrySave: (@Sendable () async throws -> Void)? {
    get { self["demo.Entry.Save"] }
    set { self["demo.Entry.Save"] = newValue }
  }
  fileprivate var percent: Binding<Int>? {
    get { self["demo.Entry.Percent", as: .byte] }
    set { self["demo.Entry.Percent", as: .byte] = newValue }
  }
  /// It gets one key and sets another, by mistake.
  fileprivate var mistaken: Binding<Int>? {
    get { self["demo.Entry.Number"] }
    set { self["demo.Entry.Nmber"] = newValue }
  }
}

@Suite struct ShortFormTests {
  private struct Toolbar {
    @FocusedBinding var number: Int?
    @FocusedValue var title: String?
    @FocusedValue var save: (@Sendable () async throws -> Void)?

    init(_ client: FocusClient) {
      _number = FocusedBinding(\.entry, client: client)
      _title = FocusedValue(\.entryTitle, client: client)
      _save = FocusedValue(\.entrySave, client: client)
    }
  }

  @Test func aKeyThatIsDeclaredByItsNameIsLikeAnyOther() async throws {
    try await TestDesktop.with { desktop in
      let (number, saved) = (State(wrappedValue: 1), State(wrappedValue: 0))
      let field = FocusField("text1", client: desktop.client())
        .focusedValue(\.entry, number.projectedValue)
        .focusedValue(\.entryTitle, "First")
        .focusedValue(\.entrySave) { saved.wrappedValue += 1 }
        .register()
      try await field.focus()
      let client = desktop.client()
      let (toolbar, seen) = (Toolbar(client), Changes(client.changes(of: \.entry)))
      try await seen.wait(for: 1)
      try await until("the title") { toolbar.title == "First" }
      toolbar.number? *= 8
      // A write is seen here before the field has taken it.
      try await Changes(desktop.client().changes(of: \.entry)).wait(for: 8)
      #expect(try await client.read(\.entry) == 8)
      #expect(number.wrappedValue == 8)
      try await until("the command") { toolbar.save != nil }
      try await toolbar.save?()
      #expect(saved.wrappedValue == 1)
      #expect(try await desktop.busctl(get: "demo.Entry.Number") == "x 8")
    }
  }

  @Test func aNumberIsPublishedWithTheTypeOfItsKey() async throws {
    try await TestDesktop.with { desktop in
      let percent = State(wrappedValue: 40)
      let publisher = desktop.client()
      let errors = Errors(of: publisher)
      let field = FocusField("slider", client: publisher)
        .focusedValue(\.percent, percent.projectedValue) { value in
          guard value <= 100 else { throw FocusError("at most 100") }
        }
        .register()
      try await field.focus()
      #expect(try await desktop.busctl(get: "demo.Entry.Percent") == "y 40")
      #expect(try await desktop.busctl(set: "demo.Entry.Percent", "y", "50") == "")
      #expect(percent.wrappedValue == 50)
      #expect(try await desktop.busctl(set: "demo.Entry.Percent", "y", "101").contains("at most 100"))
      let client = desktop.client()
      let seen = Changes(client.changes(of: \.percent))
      percent.wrappedValue = 60
      try await seen.wait(for: 60)
      #expect(try await client.write(\.percent, 70) == 70)
      #expect(percent.wrappedValue == 70)
      #expect(errors.all.isEmpty)
    }
  }

  @Test func aKeyThatIsGotAndSetByDifferentNamesIsRefused() async throws {
    try await TestDesktop.with { desktop in
      await #expect(throws: FocusError.self) { try await desktop.client().read(\.mistaken) }
      await #expect(throws: FocusError.self) { try await desktop.client().write(\.mistaken, 1) }
    }
  }
}
