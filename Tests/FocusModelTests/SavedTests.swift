import DBusTypes
import FocusContract
import TestSupport
import Testing

@testable import FocusModel

/// Everything that a model knows, what follows from its fields included; only counters are left out.
struct WholeState: Equatable {
  let fields: [FieldID: Field]
  let children: [FieldID: Set<FieldID>]
  let bindings: [FieldID: [Key: FieldBinding]]
  let properties: [FieldID: [Key: BoundObject.Property]]
  let commands: [FieldID: [Key: Bool]]
  let focus: Focus
  let names: SceneNames
  let memory: FocusMemory
  let session: SessionOrder
  let adoptions: [BusName: SortedList<RankedField>]
  let scenes: [BusName: Set<FieldID>]
  let allowances: Allowances
  let connections: [BusName: Set<FieldID>]
  let publishedFocus: Focus
  let publishedMembers: [InterfaceName: [Key: ShownMember]]
  let suppliers: [InterfaceName: FieldID]

  init(_ model: FocusModel) {
    fields = model.fields.mapValues(\.asSaved)
    children = model.fields.mapValues(\.children)
    bindings = model.fields.mapValues(\.bindings)
    properties = model.fields.compactMapValues { $0.object?.properties }
    commands = model.fields.mapValues(\.enabledCommands)
    focus = model.focus
    names = model.table.names
    memory = model.table.memory
    session = model.table.session
    adoptions = model.table.adoptions
    scenes = model.table.scenes
    allowances = model.table.allowances
    connections = model.table.connections
    publishedFocus = model.published.focus
    publishedMembers = model.published.members
    suppliers = model.published.suppliers
  }

  /// The parts that are not as in `other`, by name.
  func differences(from other: WholeState) -> [String] {
    zip(Mirror(reflecting: self).children, Mirror(reflecting: other).children).compactMap { mine, others in
      guard let a = mine.value as? any Equatable, !a.equals(others.value) else { return nil }
      return mine.label
    }
  }
}

extension Equatable {
  fileprivate func equals(_ other: Any) -> Bool { (other as? Self) == self }
}

/// The saved state of a model: saved, restored, and rolled back.
@Suite struct SavedTests {
  /// A bound object with two properties and two commands.
  static func object(_ number: Int32) throws -> BoundObject {
    BoundObject(
      .init(path: try ObjectPath("/object")),
      properties: [
        try Key("demo.Bound.A"): .init(type: .int32, isWritable: true),
        try Key("demo.Bound.B"): .init(type: .int32, isWritable: false),
      ],
      commands: [try Key("demo.Bound.Up"): .init(), try Key("demo.Bound.Down"): .init()],
      values: [try Key("demo.Bound.A"): .int32(number)])
  }

  /// Random turns on two models: what is taken back leaves nothing, what is not saved is listed, and what is saved makes
  /// the same model again.
  @Test(arguments: [11, 12, 13, 14] as [UInt64]) func randomTurns(seed: UInt64) throws {
    var walk = try SavedWalk(seed: seed)
    var saved: [FieldID: Field] = [:]
    for turn in 0..<1000 {
      let before = WholeState(walk.model)
      let revision = walk.model.revision
      let ending = Int.random(in: 0..<4, using: &walk.random)
      // What owners tell is not taken back: `BoundWalkTests` has such turns.
      for _ in 0..<Int.random(in: 1...5, using: &walk.random) { try walk.step(tells: ending != 0) }
      _ = walk.model.settle()
      switch ending {
      case 0:
        walk.model.rollBack()
        _ = walk.model.settle()
        try #require(WholeState(walk.model).differences(from: before) == [], "turn \(turn)")
        try #require(walk.model.staleIndexes == [], "turn \(turn)")
        #expect(walk.model.revision >= revision)
        walk.model.endTurn()
      case 1:
        // A turn that stays though it is not saved.
        walk.model.endTurn()
      default:
        try Self.check(walk.model, against: saved)
        saved = walk.model.fields.mapValues(\.asSaved)
        walk.model.saved()
        walk.model.endTurn()
        #expect(!walk.model.hasUnsavedChanges)
        try Self.haveBack(walk.model, walk.owners)
      }
    }
  }

  /// What a journal has after `field` was written to it, which told it apart from what it had.
  private static func replay(_ field: UnsavedField, upon saved: Field?) throws -> Field? {
    guard var now = field.hasChanged ? field.now?.asSaved : saved else {
      try #require(field.hasChanged == (saved != nil))
      return nil
    }
    let bindings = field.losesBindings ? [:] : saved?.bindings ?? [:]
    if field.hasChanged { now.bindings = bindings }
    for (key, binding) in field.changedBindings {
      try #require(binding != bindings[key])
      now.bindings[key] = binding
    }
    return now
  }

  /// What is listed as unsaved makes the fields of the last save those of now.
  private static func check(_ model: FocusModel, against saved: [FieldID: Field]) throws {
    var replayed = saved
    let changed = model.changed
    for field in model.unsavedFields {
      let before = changed.fields[field.id] ?? model.fields[field.id].map { changed.whole($0) }
      try #require(before.map(\.asSaved) == saved[field.id])
      replayed[field.id] = try Self.replay(field, upon: replayed[field.id])
    }
    for (id, lastFocused) in model.unsavedMemories { replayed[id]?.parts.lastFocused = lastFocused }
    try #require(replayed == model.fields.mapValues(\.asSaved))
  }

  /// A model that is made of what is saved, with its objects bound again, is the same.
  private static func haveBack(_ model: FocusModel, _ owners: [BusName]) throws {
    var state = SavedState()
    let fields = model.fields.values.map(\.asSaved).shuffled()
    state.focusedField = model.focusedField
    state.history = model.history
    state.revision = model.revision + 100
    let again = try FocusModel.restored(fields, state)
    #expect(again.revision == state.revision)
    for field in fields {
      guard let object = model.fields[field.id]?.object, field.isAwaitingObject else { continue }
      var fresh = BoundObject(
        object.choice, properties: object.properties, commands: object.commands.mapValues { .init($0.methods) })
      for (key, binding) in model.fields[field.id]?.bindings ?? [:] where binding.isBound {
        fresh.values[key] = binding.value
      }
      try again.bind(fresh, to: field.id)
    }
    _ = again.settle()
    // Bound bindings were read afresh: their revisions are new.
    let differences = WholeState(again).differences(from: WholeState(model))
    try #require(differences.allSatisfy { $0 == "bindings" }, "\(differences)")
    for (id, field) in model.fields {
      let found = again.fields[id]?.bindings ?? [:]
      try #require(found.mapValues(\.value) == field.bindings.mapValues(\.value))
      for (key, binding) in field.bindings where !binding.isBound { try #require(found[key] == binding) }
    }
    var observer = Observer()
    try observer.see(again.everything, again)
    #expect(observer.fields == again.fields.mapValues(\.shownValues))
    #expect(
      observer.focused == again.published.members.values.joined().reduce(into: [:]) { $0[$1.key] = $1.value.value })
  }

  @Test func anObjectThatIsBackInATurnThatIsTakenBackCanBeBoundAgain() throws {
    let id = try FieldID("slider")
    let model = try FocusModel.restored([
      Field(
        id: id, label: "slider", scope: .field, lingers: false, isSensitive: false, owner: try BusName(":1.1"),
        parent: nil, registration: 1,
        object: .init(.init(path: try ObjectPath("/object")), disabled: [try Key("demo.Bound.Up")]))
    ])
    for _ in 0..<2 {
      try model.bind(Self.object(7), to: id)
      #expect(model.fields[id]?.enabledCommands == [try Key("demo.Bound.Up"): false, try Key("demo.Bound.Down"): true])
      model.rollBack()
      #expect(model.fields[id]?.isAwaitingObject == true)
      #expect(model.fields[id]?.bindings.isEmpty == true)
      #expect(model.settle() == [])
    }
  }

  private static func field(_ id: String, in parent: String? = nil) throws -> Field {
    Field(
      id: try FieldID(id), label: id, scope: .field, lingers: true, isSensitive: false, owner: nil,
      parent: try parent.map { try FieldID($0) }, registration: 1, object: nil)
  }

  @Test func partsThatDoNotFitAreRefused() throws {
    for fields in [
      [try Self.field("a", in: "nowhere")], [try Self.field("a", in: "a")],
      [try Self.field("a", in: "b"), try Self.field("b", in: "a")],
    ] {
      #expect(throws: ModelError.self) { _ = try FocusModel.restored(fields) }
    }
  }

  @Test func aHistoryHasEachFieldOnceAndNoMoreThanItsLimit() throws {
    let ids = try (0..<40).map { try FieldID("f\($0)") }
    var state = SavedState()
    state.history = ids + ids
    let model = try FocusModel.restored(ids.map { try Self.field($0.text) }, state)
    #expect(model.history == Array(ids.prefix(32)))
  }

  @Test func focusOfAFieldThatIsNotThereIsNone() throws {
    var state = SavedState()
    state.focusedField = try FieldID("gone")
    state.history = [try FieldID("gone")]
    let model = try FocusModel.restored([], state)
    #expect(model.focusedField == nil)
    #expect(model.focusPath == [])
    #expect(model.history == [])
  }
}
