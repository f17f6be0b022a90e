import DBusTypes
import FocusContract
import TestSupport
import Testing

@testable import FocusModel

@Suite("Random walk with windows, session fields and objects")
struct WindowWalkTests {
  struct Walk {
    var random: SeededGenerator
    let model = FocusModel()
    var naive: NaiveSession
    var observer = Observer()
    let bridge: BusName
    let programs: [BusName]
    let ids: [FieldID]
    /// Values, the last of them below an interface that session fields do not supply.
    let keys: [Key]
    let writeOnly: Key
    let command: Key
    var hasBridge = false
    var registrations = 0
    /// The state at the start of the turn; nil after something that cannot be rolled back.
    var begin: (NaiveSession, Observer)?

    init(seed: UInt64) throws {
      random = SeededGenerator(seed: seed)
      bridge = try BusName(":1.9")
      programs = try [":1.1", ":1.2", ":1.3"].map { try BusName($0) }
      let condition = Activity.Condition(key: try Key("demo.Player.Status"), value: .int32(1))
      keys =
        try [condition.key] + ["demo.Player.Title", "demo.Other.Name", "org.focusd.Shell.Word"].map { try Key($0) }
      (writeOnly, command) = (try Key("demo.Other.Secret"), try Key("demo.Player.Play"))
      ids = try (0..<14).map { try FieldID("f\($0)") }
      naive = NaiveSession(condition: condition)
      begin = (naive, observer)
    }

    private mutating func pick(_ count: Int) -> Int { .random(in: 0..<count, using: &random) }
    private mutating func value() -> MarshalledValue { .int32(.random(in: 0...1, using: &random)) }
    private mutating func someValues() -> [Key: MarshalledValue] {
      var values: [Key: MarshalledValue] = [:]
      for key in keys where pick(2) == 0 { values[key] = value() }
      return values
    }

    private mutating func register(_ id: FieldID, _ owner: BusName) throws {
      var options = FieldOptions()
      options.parent = pick(2) == 0 ? naive.entries.randomElement(using: &random)?.id : nil
      options.scope = [.field, .field, .scene, .session][pick(4)]
      options.isSensitive = pick(6) == 0
      if options.scope == .session { options.active = naive.condition }
      let isWindow = hasBridge && owner == bridge && options.parent == nil
      registrations += 1
      var entry = NaiveSession.Entry(
        id: id, owner: owner, parent: options.parent, isWindow: isWindow, registration: registrations)
      (entry.scope, entry.isSensitive, entry.values) = (options.scope, options.isSensitive, someValues())
      if pick(3) == 0 {
        entry.properties = Set(keys.filter { _ in pick(2) == 0 })
        entry.writeOnly = pick(3) == 0 ? [writeOnly] : []
        entry.commands = pick(2) == 0 ? [command] : []
        entry.values = entry.values.filter { entry.properties.contains($0.key) }
        var properties: [Key: BoundObject.Property] = [:]
        for key in entry.properties { properties[key] = .init(type: .int32, isWritable: true) }
        for key in entry.writeOnly { properties[key] = .init(type: .string, isReadable: false, isWritable: true) }
        options.object = BoundObject(
          .init(path: try ObjectPath("/object")), properties: properties,
          commands: Dictionary(uniqueKeysWithValues: entry.commands.map { ($0, .init()) }), values: entry.values)
      } else if !isWindow, pick(4) == 0 {
        (options.lingers, entry.lingers) = (true, true)
      }
      naive.entries.append(entry)
      naive.updateActivity(id)
      naive.compute()
      _ = try model.register(id, options.object == nil ? entry.values : [:], options, owner: owner)
    }

    private mutating func tell(_ entry: NaiveSession.Entry) {
      begin = nil
      var values: [Key: MarshalledValue?] = [:]
      for key in keys where pick(2) == 0 { values.updateValue(pick(3) == 0 ? nil : value(), forKey: key) }
      model.update(values, of: entry.id)
      for (key, value) in values where entry.properties.contains(key) {
        naive.entries[naive.index(entry.id)].values[key] = value
      }
      naive.updateActivity(entry.id)
    }

    /// What the connections have changed is told one by one.
    private mutating func told(by client: BusName) throws {
      if model.hasWrites(byOthersThan: client) { try observer.see(model.settle(), model) }
    }

    private mutating func edit(_ entry: NaiveSession.Entry, _ owner: BusName) throws {
      let stored = keys.filter { !entry.properties.contains($0) }
      guard let key = stored.randomElement(using: &random) else { return }
      defer { naive.updateActivity(entry.id) }
      if entry.values[key] != nil, pick(3) == 0 {
        naive.entries[naive.index(entry.id)].values[key] = nil
        try told(by: owner)
        return try model.withdraw([key], from: entry.id, by: owner)
      }
      let value = value()
      let isThere = entry.values[key] != nil
      naive.entries[naive.index(entry.id)].values[key] = value
      guard isThere, pick(2) == 0, let other = programs.randomElement(using: &random) else {
        try told(by: owner)
        return try model.publish([key: value], on: entry.id, by: owner)
      }
      try told(by: other)
      let path = BindingPath(key)
      guard case .written = try model.write(value, to: path, at: .field(entry.id), by: other) else {
        throw ModelError.invalid("\(key) is bound")
      }
    }

    private mutating func toggleBridge() {
      begin = nil
      hasBridge.toggle()
      model.setWindowBridge(hasBridge ? bridge : nil)
      let windows = naive.entries.filter(\.isWindow).map(\.id)
      guard !hasBridge, !windows.isEmpty else { return }
      if let shown = naive.shown, naive.entry(shown)?.isWindow == false { naive.outside = shown }
      for window in windows { naive.entries[naive.index(window)].adopted = [:] }
      naive.remove(windows)
    }

    mutating func step() throws {
      guard let id = ids.randomElement(using: &random) else { return }
      let entry = naive.entry(id)
      let owner = entry?.owner ?? (programs + [bridge]).randomElement(using: &random) ?? bridge
      switch (pick(26), entry) {
      case (0..<6, nil): try register(id, owner)
      case (6..<12, _?):
        let (before, front) = (model.focusPath, model.front)
        try model.focus(id, by: owner)
        naive.focus(id)
        // What is in a window behind changes nothing.
        if let window = naive.window(id), window != front { try #require(model.focusPath == before) }
      case (12..<14, _?):
        try model.blur(id, by: owner)
        naive.blur(id)
      case (14, _?):
        try model.unregister(id, by: owner)
        naive.remove([id])
      case (15..<18, let entry?) where entry.isWindow:
        let adopted = Set(programs.filter { _ in pick(2) == 0 })
        try model.adopt(adopted, into: id, by: bridge)
        naive.adopt(adopted.sorted(), id)
      case (18, _) where pick(5) == 0:
        let leaving = programs[pick(programs.count)]
        model.ownerLeft(leaving)
        naive.left(leaving)
      case (19, _) where pick(9) == 0: toggleBridge()
      case (20, let entry?) where entry.scope == .session:
        try model.activate(id)
        naive.activate(id)
      case (21..<23, let entry?) where !entry.properties.isEmpty: tell(entry)
      case (_, let entry?): try edit(entry, owner)
      default: return
      }
    }

    /// Ends the turn, perhaps by taking it back.
    mutating func endTurn() throws {
      if pick(3) == 0 { try observer.see(model.settle(), model) }
      if let begin, pick(4) == 0 {
        model.rollBack()
        (naive, observer) = begin
      }
      try observer.see(model.settle(), model)
      model.endTurn()
      try observer.check(against: model)
      for key in keys { try #require(observer.focused[key] == naive.value(key), "\(key)") }
      try #require(model.staleIndexes == [])
      begin = (naive, observer)
    }

    func compare() throws {
      try #require(Set(model.fields.keys) == Set(naive.entries.map(\.id)))
      for (id, field) in model.fields {
        try #require(field.parent == naive.parent(id), "the parent of \(id)")
        try #require((field.window != nil) == naive.entry(id)?.isWindow)
      }
      try #require(model.focusPath == naive.path(naive.shown))
      try #require(model.history == naive.history)
      try #require(model.sessionFields == naive.order)
      for key in keys + [writeOnly] { try #require(model.resolve(key) == naive.resolve(key), "\(key)") }
      try #require(model.resolve(command: command) == naive.resolve(command: command))
      // What follows from the rules, whatever they are.
      try #require(Set(model.history).count == model.history.count)
      try #require(!model.history.contains { model.focusPath.contains($0) })
      if let window = model.focusPath.last, model.fields[window]?.window != nil {
        try #require(window == model.front, "a window behind is on the path")
      }
    }
  }

  @Test("Thousands of operations each", arguments: [21, 22, 23, 24] as [UInt64])
  func walk(_ seed: UInt64) async throws {
    var walk = try Walk(seed: seed)
    for step in 0..<(isSlow ? 25_000 : 4_000) {
      // Other tests wait for a thread.
      if step.isMultiple(of: 500) { await Task.yield() }
      do {
        try walk.step()
        try walk.compare()
        if step.isMultiple(of: 3) { try walk.endTurn() }
      } catch {
        Issue.record("at step \(step)")
        throw error
      }
    }
  }
}
