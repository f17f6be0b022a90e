import BusSupport
import DBusTypes
import FocusKit
import Observation
import Synchronization
import TestSupport
import Testing

/// A type whose values are equal if their ids are.
private struct Contact: Codable, DBusRepresentable {
  var id = 1
  var name = "Ada"
}

extension Contact: Equatable {
  static func == (left: Self, right: Self) -> Bool { left.id == right.id }
}

private struct ContactKey: FocusedValueKey {
  typealias Value = Binding<Contact>
  static let name = "demo.Form.Contact"
}

extension FocusedValues {
  fileprivate var contact: ContactKey.Value? {
    get { self[ContactKey.self] }
    set { self[ContactKey.self] = newValue }
  }
  fileprivate var caption: Binding<String>? {
    get { self["demo.Form.Caption"] }
    set { self["demo.Form.Caption"] = newValue }
  }
}

/// Values that `==` calls equal, and that are not the same.
@Suite struct EqualityTests {
  private static let decomposed = "e\u{301}"
  private static let composed = "\u{E9}"

  /// A field whose values are equal to others that are not the same.
  private struct Card {
    let text = State(wrappedValue: decomposed)
    let number = State(wrappedValue: 0.0)
    let contact = State(wrappedValue: Contact())
    let field: FocusField

    init(_ desktop: TestDesktop) async throws {
      field = FocusField("text1", client: desktop.client()).focusedValue(\.caption, text.projectedValue)
        .focusedValue(\.position, number.projectedValue).focusedValue(\.contact, contact.projectedValue).register()
      try await field.focus()
    }
  }

  private static func isTold<Value>(of state: State<Value>, _ change: () -> Void) -> Bool {
    let isTold = Mutex(false)
    withObservationTracking({ _ = state.wrappedValue }, onChange: { isTold.withLock { $0 = true } })
    change()
    return isTold.withLock { $0 }
  }

  @Test func whatIsAssignedIsStored() {
    let text = State(wrappedValue: Self.decomposed)
    #expect(Self.isTold(of: text) { text.wrappedValue = Self.composed })
    #expect(Array(text.wrappedValue.utf8) == Array(Self.composed.utf8))

    let texts = State(wrappedValue: [Self.decomposed])
    #expect(Self.isTold(of: texts) { texts.projectedValue[0].wrappedValue = Self.composed })
    #expect(Array(texts.wrappedValue[0].utf8) == Array(Self.composed.utf8))
    #expect(Self.isTold(of: texts) { texts.wrappedValue = [Self.decomposed] })

    let contact = State(wrappedValue: Contact())
    #expect(!Self.isTold(of: contact) { contact.wrappedValue = Contact(name: "Grace") })
    #expect(contact.wrappedValue.name == "Grace")

    let contacts = State(wrappedValue: [Contact()])
    contacts.projectedValue[0].wrappedValue = Contact(name: "Grace")
    #expect(contacts.wrappedValue[0].name == "Grace")

    let number = State(wrappedValue: 0.0)
    #expect(!Self.isTold(of: number) { number.wrappedValue = -0.0 })
    #expect(number.wrappedValue.sign == .minus)
  }

  @Test func whatIsStoredIsPublished() async throws {
    try await TestDesktop.with { desktop in
      let card = try await Card(desktop)
      let (text, number, contact) = (card.text, card.number, card.contact)
      let reader = desktop.client()
      #expect(try await reader.read(\.caption)?.utf8.count == 3)
      text.wrappedValue = Self.composed
      try await eventually("the text") { try await reader.read(\.caption)?.utf8.count == 2 }
      number.wrappedValue = -0.0
      try await eventually("the sign") { try await reader.read(\.position)?.sign == .minus }
      contact.wrappedValue = Contact(name: "Grace")
      try await eventually("the name") { try await reader.read(\.contact)?.name == "Grace" }
      contact.projectedValue.name.wrappedValue = "Edith"
      try await eventually("the name") { try await reader.read(\.contact)?.name == "Edith" }
    }
  }

  /// A binding of closures for the whole key, which only Observation tells of changes.
  @Test func whatIsStoredBehindClosuresIsPublished() async throws {
    try await TestDesktop.with { desktop in
      let contact = State(wrappedValue: Contact())
      let anywhere = Binding(get: { contact.wrappedValue }, set: { contact.wrappedValue = $0 })
      let owner = desktop.client()
      try await Self.publishes(contact, by: anywhere, owner, desktop)
      contact.wrappedValue = Contact()
      let main = await MainActor.run {
        Binding(get: { @MainActor in contact.wrappedValue }, set: { @MainActor in contact.wrappedValue = $0 })
      }
      try await Self.publishes(contact, by: main, owner, desktop)
    }
  }

  private static func publishes(
    _ contact: State<Contact>, by binding: Binding<Contact>, _ owner: FocusClient, _ desktop: TestDesktop
  ) async throws {
    let field = FocusField("text1", client: owner).focusedValue(\.contact, binding).register()
    try await field.focus()
    let reader = desktop.client()
    #expect(try await reader.read(\.contact)?.name == "Ada")
    for name in ["Grace", "Edith"] {
      contact.wrappedValue = Contact(name: name)
      try await eventually(name) { try await reader.read(\.contact)?.name == name }
    }
    #expect(try await reader.write(\.contact, Contact(name: "Ada")).name == "Ada")
    #expect(contact.wrappedValue.name == "Ada")
    contact.projectedValue.name.wrappedValue = "Grace"
    try await eventually("the member") { try await reader.read(\.contact)?.name == "Grace" }
    field.unregister()
  }

  @Test func whatAnotherProgramAssignsIsStored() async throws {
    try await TestDesktop.with { desktop in
      let card = try await Card(desktop)
      let (text, number, contact) = (card.text, card.number, card.contact)
      let client = desktop.client()
      @FocusedBinding(\.caption, client: client) var caption
      @FocusedBinding(\.position, client: client) var position
      @FocusedBinding(\.contact, client: client) var focused
      try await until("the values") { [$caption, $position, $focused] in
        $caption.wrappedValue != nil && $position.wrappedValue != nil && $focused.wrappedValue != nil
      }
      caption = Self.composed
      position = -0.0
      focused = Contact(name: "Grace")
      try await eventually("the text") { text.wrappedValue.utf8.count == 2 }
      try await eventually("the sign") { number.wrappedValue.sign == .minus }
      try await eventually("the name") { contact.wrappedValue.name == "Grace" }
    }
  }

  @Test func whoFollowsATextIsToldOfItsBytes() async throws {
    let text = State(wrappedValue: Self.decomposed)
    let seen = Observed<[Int]>([])
    let task = Task { for await value in text.changes() { seen.update { $0.append(value.utf8.count) } } }
    _ = try await seen.wait(for: "the first") { $0 == [3] ? true : nil }
    text.wrappedValue = Self.composed
    _ = try await seen.wait(for: "the second") { $0 == [3, 2] ? true : nil }
    task.cancel()
  }
}

/// Changes of one state by several threads.
@Suite struct UpdateTests {
  private struct Counters: Sendable {
    var one = 0
    var others = [0, 0]
  }

  private static func manyTimes(_ count: Int = 10_000, _ change: @escaping @Sendable () -> Void) async throws {
    try await withThrowingTaskGroup { group in
      for _ in 0..<4 {
        group.addTask { try await onThread { for _ in 0..<count { change() } } }
      }
      try await group.waitForAll()
    }
  }

  @Test func noUpdateIsLost() async throws {
    let state = State(wrappedValue: Counters())
    try await Self.manyTimes {
      state.update { $0.one += 1 }
      state.projectedValue.others[1].update { $0 += 1 }
      state.projectedValue.one.update { $0 += 1 }
    }
    #expect(state.wrappedValue.one == 80_000)
    #expect(state.wrappedValue.others == [0, 40_000])
    let list = State(wrappedValue: [0, 0])
    try await Self.manyTimes { list.projectedValue[1].update { $0 += 1 } }
    #expect(list.wrappedValue == [0, 40_000])
    let optional = State<Int?>(wrappedValue: 0)
    try await Self.manyTimes { Binding(optional.projectedValue)?.update { $0 += 1 } }
    #expect(optional.wrappedValue == 40_000)
  }

  @Test @MainActor func anUpdateOfTheMainActorsValueIsNotInterrupted() async throws {
    var count = 0
    let binding = Binding(get: { count }, set: { count = $0 })
    try await Self.manyTimes(200) { binding.update { $0 += 1 } }
    #expect(count == 800)
  }

  @Test func noUpdateOfAFocusedValueIsLost() async throws {
    try await TestDesktop.with { desktop in
      let state = State(wrappedValue: 0)
      let field = FocusField("text1", client: desktop.client()).focusedValue(\.number, state.projectedValue).register()
      try await field.focus()
      let client = desktop.client()
      let number = FocusedBinding(\.number, client: client)
      try await until("the value") { number.wrappedValue == 0 }
      try await Self.manyTimes { Binding(number.projectedValue)?.update { $0 += 1 } }
      #expect(number.wrappedValue == 40_000)
      #expect(try await client.read(\.number) == 40_000)
      #expect(state.wrappedValue == 40_000)
    }
  }
}
