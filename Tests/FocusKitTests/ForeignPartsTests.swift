import BusSupport
import DBusTypes
import FocusKit
import TestSupport
import Testing

private struct Person: Codable, DBusRepresentable, Equatable {
  var name: String
  var age: Int
}

private struct Note: Codable, DBusRepresentable { var tags: Set<String> }

extension FocusedValues {
  fileprivate var person: Binding<Person>? {
    get { self["demo.Person.Current"] }
    set { self["demo.Person.Current"] = newValue }
  }
  fileprivate var team: Binding<[Person]>? {
    get { self["demo.Person.Team"] }
    set { self["demo.Person.Team"] = newValue }
  }
  fileprivate var counts: Binding<[Int: Int]>? {
    get { self["demo.Person.Counts"] }
    set { self["demo.Person.Counts"] = newValue }
  }
  fileprivate var storeOnMain: (@MainActor () async -> Void)? {
    get { self["demo.Person.Store"] }
    set { self["demo.Person.Store"] = newValue }
  }
}

/// What other programs publish, in their own form.
@Suite struct ForeignPartsTests {
  /// Numbers of other types than Swift's, as keys and as values.
  @Test func entriesAreAddedInTheTypesThatAreThere() async throws {
    func dictionary(_ counts: [UInt32: Int32]) throws -> DBusValue {
      let entries = counts.sorted { $0.key < $1.key }.map { DBusDictionary.Entry(key: .uint32($0), value: .int32($1)) }
      return .dictionary(try DBusDictionary(key: .uint32, value: .int32, entries))
    }
    try await TestDesktop.with { desktop in
      let (peer, client) = (try await desktop.peer(), desktop.client())
      let key = "demo.Person.Counts"
      try await peer.register("form", [(key, dictionary([1: 1, 2: 2]))], [("focus", .boolean(true))])
      try await client.update(\.counts) { $0[2] = 3 }
      #expect(try await peer.get(key) == dictionary([1: 1, 2: 3]))
      try await client.update(\.counts) { ($0[1], $0[4]) = (nil, 5) }
      #expect(try await peer.get(key) == dictionary([2: 3, 4: 5]))
      await #expect(throws: FocusError.self) { try await client.update(\.counts) { $0[5] = 1 << 40 } }
      #expect(try await peer.get(key) == dictionary([2: 3, 4: 5]))
    }
  }

  private static func dictionary(_ name: String, _ age: Int32, _ others: [(String, DBusValue)]) -> DBusValue {
    .properties(
      [(name: "name", value: .string(name)), (name: "age", value: .int32(age))] + others.map { (name: $0, value: $1) })
  }

  /// Another program's value has more members than this one's type, and numbers of another type.
  @Test func whatATypeDoesNotDeclareStays() async throws {
    try await TestDesktop.with { desktop in
      let (peer, client) = (try await desktop.peer(), desktop.client())
      let mail = [("email", DBusValue.string("a@x"))]
      let (current, team) = ("demo.Person.Current", "demo.Person.Team")
      let people = try DBusArray(
        of: .dictionary(key: .string, value: .variant),
        [("Ada", 36), ("Bob", 1), ("Cid", 2)].map { Self.dictionary($0, $1, [("email", .string("\($0)@x"))]) })
      try await peer.register(
        "form", [(current, Self.dictionary("Ada", 36, mail)), (team, .array(people))], [("focus", .boolean(true))])
      let person = FocusedBinding(\.person, client: client)
      try await eventually("the person") { person.wrappedValue == Person(name: "Ada", age: 36) }
      Binding(person.projectedValue)?.name.wrappedValue = "Eve"
      try await eventually("the name") { try await peer.get(current) == Self.dictionary("Eve", 36, mail) }
      try await client.update(\.person) { $0.age += 1 }
      #expect(try await peer.get(current) == Self.dictionary("Eve", 37, mail))
      try await client.update(\.team) { team in
        team[1].age = 5
      }
      try await client.update(\.team) { team in
        team.removeFirst()
        team.append(Person(name: "Dan", age: 4))
      }
      guard case .array(let left)? = try await peer.get(team) else { return }
      let (bob, cid) = (("email", DBusValue.string("Bob@x")), ("email", DBusValue.string("Cid@x")))
      #expect(Array(left).prefix(2) == [Self.dictionary("Bob", 5, [bob]), Self.dictionary("Cid", 2, [cid])])
      #expect(try await client.read("demo.Person.Team/2/name") == "Dan")
    }
  }

  /// A set is encoded in any order, so that its elements are not those at the same places.
  @Test func whatATypeReadsInAnotherOrderIsWrittenWhole() async throws {
    try await TestDesktop.with { desktop in
      let (peer, client) = (try await desktop.peer(), desktop.client())
      let tags = (0..<9).map { "tag\($0)" }
      let note = DBusValue.properties([(name: "tags", value: .strings(tags))])
      try await peer.register("form", [("demo.Note.Current", note)], [("focus", .boolean(true))])
      for removed in 0..<8 {
        try await client.update("demo.Note.Current") { (note: inout Note) in _ = note.tags.remove("tag\(removed)") }
        let left = try await client.read("demo.Note.Current", as: Note.self)
        #expect(left?.tags == Set(tags.dropFirst(removed + 1)))
      }
    }
  }

  @Test func aCommandOnTheMainActorMayWait() async throws {
    try await TestDesktop.with { desktop in
      let (peer, client) = (try await desktop.peer(), desktop.client())
      let xml = document(("demo.Person", method("Store")))
      let object = Exported(peer, xml, [:])
      try await peer.register("form", object: object.path, [("focus", .boolean(true))])
      let store = FocusedValue(\.storeOnMain, client: client)
      try await eventually("a command") { store.wrappedValue != nil }
      await store.wrappedValue?()
      #expect(object.count("Store") == 1)
    }
  }

  /// What a binding falls back to is what it was when it was asked for.
  @Test func aBindingKeepsTheValueOfTheFieldThatHadFocusLast() async throws {
    try await TestDesktop.with { desktop in
      let (peer, client) = (try await desktop.peer(), desktop.client())
      for (id, number) in [("a", 1), ("b", 7)] {
        try await peer.register(id, [("demo.Form.Number", .int64(Int64(number)))])
      }
      try await peer.focus("a")
      let number = FocusedValue(\.number, client: client)
      try await eventually("the first") { number.wrappedValue?.wrappedValue == 1 }
      try await peer.focus("b")
      try await eventually("the second") { try await client.read(\.number) == 7 && client.focusedField == "b" }
      let binding = try #require(number.wrappedValue)
      try await peer.field("b", "Blur")
      try await eventually("nothing") { number.wrappedValue == nil }
      #expect(binding.wrappedValue == 7)
    }
  }

  /// A field may have the longest id, and so may the one that publishes for its scene not.
  @Test func aFieldWithTheLongestIdPublishesForItsScene() async throws {
    try await TestDesktop.with { desktop in
      let id = String(repeating: "x", count: 64)
      let field = FocusField(id, client: desktop.client()).focusedSceneValue(\.title, "scene").register()
      try await field.focus()
      let client = desktop.client()
      try await eventually("the title") { try await client.read(\.title) == "scene" }
    }
  }

  /// A form that closes when it has what it wants: its writer is told that.
  @Test func whoWritesIntoAFieldThatGoesIsAnswered() async throws {
    try await TestDesktop.with { desktop in
      let number = State(wrappedValue: 0)
      let field = Observed<FocusField?>(nil)
      let published = FocusField("form", client: desktop.client())
        .focusedValue(\.number, number.projectedValue) { value in
          // Several changes, of which each waits for the daemon.
          for step in 1...20 { number.wrappedValue = step }
          if value == 9 { field.now?.unregister() }
        }
        .register()
      field.update { $0 = published }
      try await published.focus()
      #expect(try await desktop.client().write(\.number, 9) == 9)
      field.update { $0 = nil }
    }
  }
}
