import DBusTypes
import FocusContract
import TestSupport
import Testing

@testable import FocusModel

/// The contract's rules once more, without any index: everything is found by looking at every field.
struct NaiveModel {
  struct Entry {
    let id: FieldID
    let owner: Int
    var parent: FieldID?
    let isSceneScoped: Bool
    var values: [Key: MarshalledValue]

    /// The values with `new` among them, numbers in the type that the key has; nil if one does not fit.
    func merged(_ new: [Key: MarshalledValue]) -> [Key: MarshalledValue]? {
      var merged = values
      for (key, value) in new {
        guard let fitting = value.value.sameNumber(as: values[key]?.type ?? value.type) else { return nil }
        merged[key] = MarshalledValue(fitting)
      }
      return merged
    }
  }

  /// In the order of registration.
  var entries: [Entry] = []
  var focused: FieldID?
  var history: [FieldID] = []

  func entry(_ id: FieldID) -> Entry? { entries.first { $0.id == id } }

  func path(_ id: FieldID?) -> [FieldID] {
    guard let id, let entry = entry(id) else { return [] }
    return [id] + path(entry.parent)
  }

  func resolve(_ key: Key) -> FieldID? {
    let path = path(focused)
    if let id = path.first(where: { entry($0)?.values[key] != nil }) { return id }
    return entries.last {
      $0.isSceneScoped && $0.values[key] != nil && !path.isEmpty && self.path($0.id).last == path.last
    }?.id
  }

  mutating func focus(_ id: FieldID?) {
    guard id != focused else { return }
    let previous = focused
    focused = id
    if let previous, !path(history.first).contains(previous) {
      history = [previous] + history.filter { $0 != previous }
    }
    trimHistory()
    history = Array(history.prefix(32))
  }

  /// Leaves out the ancestors of what has focus, and those of what had it last.
  mutating func trimHistory() {
    let path = path(focused)
    history.removeAll { path.contains($0) }
    let above = self.path(history.first).dropFirst()
    history.removeAll { above.contains($0) }
  }

  mutating func remove(_ id: FieldID) {
    guard let gone = entry(id) else { return }
    entries.removeAll { $0.id == id }
    for index in entries.indices where entries[index].parent == id { entries[index].parent = gone.parent }
    if focused == id { focused = gone.parent }
    history.removeAll { $0 == id }
    trimHistory()
  }
}

@Suite("Random walk against a model that looks at everything")
struct RandomWalkTests {
  /// A generator that anyone can replay: `SplitMix64`.
  struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }

  @Test("Thousands of operations each", arguments: [1, 2, 3, 4] as [UInt64])
  func walk(_ seed: UInt64) async throws {
    var random = Generator(state: seed)
    let stage = try Stage()
    let owners = [stage.owner, stage.other]
    let keys = try (0..<6).map { try Key("demo.I\($0 / 2).K\($0)") }
    let ids = try (0..<10).map { try FieldID("f\($0)") }
    var naive = NaiveModel()
    var observer = Observer()

    func randomValue() -> MarshalledValue {
      let number = Int32.random(in: 0..<4, using: &random)
      return switch Int.random(in: 0..<12, using: &random) {
      case 0: .string("\(number)")
      case 1: .double(Double(number) / 2)
      case 2: .double(-0.0)
      case 3: .byte(UInt8(number))
      case 4: .int64(Int64(number) - 1)
      default: .int32(number)
      }
    }

    func randomValues() -> [Key: MarshalledValue] {
      var values: [Key: MarshalledValue] = [:]
      for key in keys where Int.random(in: 0..<3, using: &random) == 0 { values[key] = randomValue() }
      return values
    }

    for step in 0..<(isSlow ? 25_000 : 4_000) {
      // Other tests wait for a thread.
      if step.isMultiple(of: 500) { await Task.yield() }
      guard let id = ids.randomElement(using: &random) else { return }
      let owner = naive.entry(id)?.owner ?? Int.random(in: 0..<2, using: &random)
      var changes: [Change] = []
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<5 where naive.entry(id) == nil:
        var options = FieldOptions()
        options.parent = Bool.random(using: &random) ? naive.entries.randomElement(using: &random)?.id : nil
        options.scope = Bool.random(using: &random) ? .scene : .field
        let values = randomValues()
        _ = try stage.model.register(id, values, options, owner: owners[owner])
        naive.entries.append(
          .init(id: id, owner: owner, parent: options.parent, isSceneScoped: options.scope == .scene, values: values))
      case 5..<10 where naive.entry(id) != nil:
        try stage.model.focus(id, by: owners[owner])
        naive.focus(id)
      case 10..<12 where naive.entry(id) != nil:
        try stage.model.blur(id, by: owners[owner])
        if naive.focused == id { naive.focus(naive.entry(id)?.parent) }
      case 12..<14:
        guard let index = naive.entries.firstIndex(where: { $0.id == id }) else { continue }
        let values = randomValues()
        guard let merged = naive.entries[index].merged(values) else {
          #expect(throws: ModelError.self) { try stage.model.publish(values, on: id, by: owners[owner]) }
          continue
        }
        try stage.model.publish(values, on: id, by: owners[owner])
        naive.entries[index].values = merged
      case 14:
        guard let index = naive.entries.firstIndex(where: { $0.id == id }) else { continue }
        let gone = Set(naive.entries[index].values.keys.filter { _ in Bool.random(using: &random) })
        try stage.model.withdraw(gone, from: id, by: owners[owner])
        for key in gone { naive.entries[index].values[key] = nil }
      case 15 where naive.entry(id) != nil:
        try stage.model.unregister(id, by: owners[owner])
        naive.remove(id)
      case 16 where step % 7 == 0:
        let leaving = Int.random(in: 0..<2, using: &random)
        stage.model.ownerLeft(owners[leaving])
        for entry in naive.entries where entry.owner == leaving { naive.remove(entry.id) }
      default:
        guard let key = keys.randomElement(using: &random) else { continue }
        let value = randomValue()
        guard let holder = naive.resolve(key), let index = naive.entries.firstIndex(where: { $0.id == holder }) else {
          refused(.notFocused(key)) {
            _ = try stage.model.written(value, to: BindingPath(key), at: .focused, by: owners[0])
          }
          continue
        }
        guard let merged = naive.entries[index].merged([key: value]) else {
          #expect(throws: ModelError.self) {
            _ = try stage.model.written(value, to: BindingPath(key), at: .focused, by: owners[0])
          }
          continue
        }
        changes = try stage.model.written(value, to: BindingPath(key), at: .focused, by: owners[0]).changes
        naive.entries[index].values = merged
      }
      try observer.see(changes, stage.model)
      if Bool.random(using: &random) {
        try observer.see(stage.model.settle(), stage.model)
        try observer.check(against: stage.model)
      }
      if step.isMultiple(of: 20) { try #require(stage.model.staleIndexes == []) }
      try compare(stage.model, naive, keys)
    }
  }

  private func compare(_ model: FocusModel, _ naive: NaiveModel, _ keys: [Key]) throws {
    try #require(model.fields.count == naive.entries.count)
    try #require(model.focusedField == naive.focused)
    try #require(model.focusPath == naive.path(naive.focused))
    try #require(model.history == naive.history)
    for key in keys { try #require(model.resolve(key) == naive.resolve(key)) }
    for entry in naive.entries {
      let field = try #require(model.fields[entry.id])
      try #require(field.parent == entry.parent)
      try #require(field.bindings.mapValues(\.value) == entry.values)
    }
  }
}
