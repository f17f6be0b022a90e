import DBusTypes
import FocusContract
import TestSupport
import Testing

@testable import FocusModel

/// The rules of bound fields once more, without any index: everything is found by looking at every field.
private struct NaiveBoundModel {
  struct Entry {
    let id: FieldID
    let serial: Int
    let owner: Int
    /// Whose object it is, if not the owner's.
    let service: Int?
    var parent: FieldID?
    let isSceneScoped: Bool
    let isSensitive: Bool
    var stored: [Key: MarshalledValue]
    let properties: [Key: DBusType]
    var bound: [Key: MarshalledValue]
    var commands: [Key: Bool]

    var values: [Key: MarshalledValue] { stored.merging(bound) { stored, _ in stored } }
    /// The interfaces of which something is there.
    var interfaces: Set<InterfaceName> { Set((Array(values.keys) + Array(commands.keys)).map(\.interface)) }
    /// Those that the object declares.
    var declared: Set<InterfaceName> { Set((Array(properties.keys) + Array(commands.keys)).map(\.interface)) }
  }

  /// In the order of registration.
  var entries: [Entry] = []
  var focused: FieldID?
  /// What the owners of fields that are gone told last, by registration.
  var gone: [Int: [Key: MarshalledValue]] = [:]

  func index(_ id: FieldID) -> Int? { entries.firstIndex { $0.id == id } }

  func path(_ id: FieldID?) -> [FieldID] {
    guard let id, let index = index(id) else { return [] }
    return [id] + path(entries[index].parent)
  }

  /// The innermost field on the path that has something, else the newest scene-scoped one of its scene.
  func resolve(_ has: (Entry) -> Bool) -> Entry? {
    let path = path(focused)
    for id in path {
      if let index = index(id), has(entries[index]) { return entries[index] }
    }
    return entries.last { $0.isSceneScoped && has($0) && !path.isEmpty && self.path($0.id).last == path.last }
  }

  mutating func update(_ id: FieldID, _ values: [Key: MarshalledValue?]) {
    guard let index = index(id) else { return }
    for (key, value) in values.sorted(by: { $0.key < $1.key }) {
      guard entries[index].properties[key] != nil else { continue }
      entries[index].bound[key] = value
    }
  }

  /// Takes back what was done since `begin`, but what owners told.
  mutating func rollBack(to begin: NaiveBoundModel) {
    let now = self
    self = begin
    for index in entries.indices {
      let serial = entries[index].serial
      let same = now.entries.first { $0.serial == serial }
      entries[index].bound = same?.bound ?? now.gone[serial] ?? [:]
    }
  }

  mutating func remove(_ id: FieldID) {
    guard let index = index(id) else { return }
    let entry = entries.remove(at: index)
    gone[entry.serial] = entry.bound
    for index in entries.indices where entries[index].parent == id { entries[index].parent = entry.parent }
    if focused == id { focused = entry.parent }
  }

  var focusedValues: [Key: MarshalledValue] {
    var values: [Key: MarshalledValue] = [:]
    for key in Set(entries.flatMap { $0.values.keys }) {
      if let entry = resolve({ $0.values[key] != nil }), !entry.isSensitive { values[key] = entry.values[key] }
    }
    return values
  }

  var focusedCommands: [Key: Bool] {
    var commands: [Key: Bool] = [:]
    for key in Set(entries.flatMap { $0.commands.keys }) {
      commands[key] = resolve { $0.commands[key] != nil }?.commands[key]
    }
    return commands
  }
}

/// What is known of what was told: the values, and how often the commands at a place were said to be others.
private struct BoundObserver {
  var values: [Place: [Key: MarshalledValue]] = [:]
  var commandChanges: [Place: Int] = [:]

  mutating func see(_ changes: [Change], _ model: FocusModel) throws {
    for change in changes {
      switch change {
      case .fieldAdded(let id): values[.field(id)] = try #require(model.fields[id]).shownValues
      case .fieldRemoved(let id, _): values[.field(id)] = nil
      case .valuesChanged(let place, let interface, let changed, let invalidated):
        for named in changed {
          let key = try Key(interface: interface.text, member: named.name.text)
          try #require(values[place]?[key] != named.value, "told of \(key) at \(place) though it did not change")
          values[place, default: [:]][key] = named.value
        }
        for member in invalidated {
          let key = try Key(interface: interface.text, member: member.text)
          try #require(values[place]?.removeValue(forKey: key) != nil, "\(key) at \(place) was nil already")
        }
      case .membersChanged(let place, _, let commands):
        if commands { commandChanges[place, default: 0] += 1 }
      default: break
      }
    }
  }
}

@Suite("Random walk of bound fields against a model that looks at everything")
struct BoundWalkTests {
  private static let types: [DBusType] = [.int32, .string]

  private struct Walk {
    var random: SeededGenerator
    var stage: Stage
    var naive = NaiveBoundModel()
    /// The naive model when the turn began.
    var begin = NaiveBoundModel()
    var observer = BoundObserver()
    var serial = 0
    let keys: [Key]
    let commands: [Key]
    let ids: [FieldID]

    init(seed: UInt64) throws {
      random = SeededGenerator(seed: seed)
      stage = try Stage()
      keys = try (0..<6).map { try Key("demo.I\($0 / 2).K\($0)") }
      commands = try (0..<4).map { try Key("demo.I\($0).C\($0)") }
      ids = try (0..<8).map { try FieldID("f\($0)") }
    }

    /// Two owners, and a program for which they may speak.
    var connections: [BusName] { [stage.owner, stage.other, BusName(known: ":1.3")] }

    mutating func flip() -> Bool { Bool.random(using: &random) }

    mutating func value(of type: DBusType) -> MarshalledValue {
      let number = Int32.random(in: 0..<3, using: &random)
      return type == .int32 ? .int32(number) : .string("\(number)")
    }

    mutating func some<T>(_ all: [T], of count: Int = 3) -> [T] {
      all.filter { _ in Int.random(in: 0..<count, using: &random) == 0 }
    }

    mutating func type() -> DBusType { types.randomElement(using: &random) ?? .int32 }

    mutating func register(_ id: FieldID) throws {
      let owner = Int.random(in: 0..<2, using: &random)
      var properties: [Key: DBusType] = [:]
      for key in some(keys) { properties[key] = type() }
      var (bound, stored): ([Key: MarshalledValue], [Key: MarshalledValue]) = ([:], [:])
      for (key, type) in properties.sorted(by: { $0.key < $1.key }) where flip() { bound[key] = value(of: type) }
      for key in some(keys, of: 5) where properties[key] == nil { stored[key] = value(of: type()) }
      var options = FieldOptions()
      options.parent = flip() ? naive.entries.randomElement(using: &random)?.id : nil
      options.scope = flip() ? .scene : .field
      options.isSensitive = Int.random(in: 0..<4, using: &random) == 0
      let service = Int.random(in: 0..<6, using: &random)
      options.service = service < 3 ? connections[service] : nil
      let chosen = Set(some(commands))
      options.object = BoundObject(
        .init(path: try ObjectPath("/object")), properties: properties.mapValues { .init(type: $0, isWritable: true) },
        commands: Dictionary(uniqueKeysWithValues: chosen.map { ($0, .init()) }), values: bound)
      serial += 1
      let entry = NaiveBoundModel.Entry(
        id: id, serial: serial, owner: owner, service: service < 3 ? service : nil, parent: options.parent,
        isSceneScoped: options.scope == .scene,
        isSensitive: options.isSensitive, stored: stored, properties: properties, bound: bound,
        commands: Dictionary(uniqueKeysWithValues: chosen.map { ($0, true) }))
      naive.entries.append(entry)
      _ = try stage.model.register(id, stored, options, owner: [stage.owner, stage.other][owner])
    }

    mutating func update(_ id: FieldID) {
      var values: [Key: MarshalledValue?] = [:]
      for key in some(keys) {
        values.updateValue(Int.random(in: 0..<5, using: &random) == 0 ? nil : value(of: type()), forKey: key)
      }
      stage.model.update(values, of: id)
      naive.update(id, values)
    }

    mutating func step() throws {
      guard let id = ids.randomElement(using: &random) else { return }
      let entry = naive.index(id).map { naive.entries[$0] }
      let owner = [stage.owner, stage.other][entry?.owner ?? 0]
      switch (Int.random(in: 0..<16, using: &random), entry) {
      case (0..<4, nil): try register(id)
      case (0..<5, _?): update(id)
      case (5..<8, _?):
        try stage.model.focus(id, by: owner)
        naive.focused = id
      case (8, let entry?):
        try stage.model.blur(id, by: owner)
        if naive.focused == id { naive.focused = entry.parent }
      case (9...10, let entry?):
        var enabled: [Key: Bool] = [:]
        for key in some(entry.commands.keys.sorted(), of: 2) { enabled[key] = flip() }
        try stage.model.setEnabled(enabled, of: id, by: owner)
        if let index = naive.index(id) { naive.entries[index].commands.merge(enabled) { $1 } }
      case (11, _?):
        try stage.model.unregister(id, by: owner)
        naive.remove(id)
      case (12, let entry?):
        let key = keys[Int.random(in: 0..<keys.count, using: &random)]
        guard entry.properties[key] == nil else { return }
        let value = value(of: entry.stored[key]?.type ?? type())
        try stage.model.publish([key: value], on: id, by: owner)
        if let index = naive.index(id) { naive.entries[index].stored[key] = value }
      case (13, let entry?):
        try stage.model.withdraw(Set(entry.stored.keys), from: id, by: owner)
        if let index = naive.index(id) { naive.entries[index].stored = [:] }
      case (14, _) where flip() && flip() && flip():
        let leaving = Int.random(in: 0..<3, using: &random)
        stage.model.ownerLeft(connections[leaving])
        for entry in naive.entries where entry.owner == leaving || entry.service == leaving { naive.remove(entry.id) }
      default: return
      }
      try compare()
    }

    func compare() throws {
      let model = stage.model
      try #require(model.fields.count == naive.entries.count)
      for entry in naive.entries {
        let field = try #require(model.fields[entry.id])
        try #require(field.bindings.mapValues(\.value) == entry.values)
        try #require(field.enabledCommands == entry.commands)
      }
      try #require(model.focusPath == naive.path(naive.focused))
      for key in keys { try #require(model.resolve(key) == naive.resolve { $0.values[key] != nil }?.id) }
      for key in commands {
        let holder = naive.resolve { $0.commands[key] != nil }
        try #require(model.resolve(command: key) == holder?.id)
        let reached = try? model.holder(ofCommand: key, at: .focused)
        try #require(reached == (holder?.commands[key] == true ? holder?.id : nil))
      }
      for interface in Set((keys + commands).map(\.interface)) {
        let holder =
          naive.resolve { $0.interfaces.contains(interface) } ?? naive.resolve { $0.declared.contains(interface) }
        try #require(model.resolve(interface) == holder?.id)
      }
    }

    /// Ends the turn, perhaps by taking it back.
    mutating func endTurn(_ commandsBefore: inout [Key: Bool]) throws {
      try observer.see(stage.model.settle(), stage.model)
      if Int.random(in: 0..<6, using: &random) == 0 {
        stage.model.rollBack()
        naive.rollBack(to: begin)
        observer = start
        try compare()
        try observer.see(stage.model.settle(), stage.model)
      }
      stage.model.endTurn()
      try #require(observer.values[.focused, default: [:]] == naive.focusedValues)
      for entry in naive.entries {
        try #require(observer.values[.field(entry.id), default: [:]] == (entry.isSensitive ? [:] : entry.values))
      }
      let commands = naive.focusedCommands
      let told = observer.commandChanges[.focused, default: 0] != start.commandChanges[.focused, default: 0]
      // Within a turn, commands may change and change back: both are told then.
      try #require(told || commands == commandsBefore, "a change of the commands is told")
      commandsBefore = commands
      naive.gone = [:]
      begin = naive
      start = observer
      try #require(stage.model.staleIndexes == [])
    }

    /// What was told when the turn began.
    var start = BoundObserver()
  }

  @Test("10,000 operations each", arguments: [1, 2, 3] as [UInt64])
  func walk(_ seed: UInt64) throws {
    var walk = try Walk(seed: seed)
    var commands: [Key: Bool] = [:]
    for step in 0..<10_000 {
      try walk.step()
      if step % 3 == 0 { try walk.endTurn(&commands) }
    }
    let expected = walk.naive.entries.reduce(0) {
      $0 + $1.values.reduce(0) { $0 + $1.value.size + $1.key.description.utf8.count }
    }
    #expect(walk.stage.model.table.allowances.total.extent.bytes == expected)
  }
}
