import DBusTypes
import FocusContract
import TestSupport
import Testing

@testable import FocusModel

/// The contract's sections *Windows* and *Session fields* once more: plain facts, and everything found by looking at all.
private struct NaiveSession {
  struct Entry {
    let id: FieldID
    let owner: BusName
    var parent: FieldID?
    let isWindow: Bool
    let isSession: Bool
    var values: [Key: MarshalledValue]
    var adopted: [BusName: Int] = [:]
    /// When it was in front last.
    var front = 0
    var isActive = false
    var activity = 0
    let registration: Int
  }

  /// An owner focused a field.
  struct Focused {
    let owner: BusName
    var field: FieldID
    let time: Int
  }

  let condition: Activity.Condition
  var entries: [Entry] = []
  var focused: [Focused] = []
  var time = 0
  var front: FieldID?
  var outside: FieldID?
  var activated: FieldID?
  private(set) var shown: FieldID?
  private(set) var history: [FieldID] = []

  init(condition: Activity.Condition) { self.condition = condition }

  mutating func tick() -> Int {
    time += 1
    return time
  }

  func entry(_ id: FieldID?) -> Entry? { entries.first { $0.id == id } }
  func index(_ id: FieldID) -> Int { entries.firstIndex { $0.id == id } ?? 0 }

  /// The window that a scene of `owner` is in.
  func home(_ owner: BusName) -> FieldID? {
    let windows = entries.filter { $0.adopted[owner] != nil }
    let seen = windows.filter { $0.front > 0 }.max { $0.front < $1.front }
    return (seen ?? windows.min { $0.adopted[owner] ?? 0 < $1.adopted[owner] ?? 0 })?.id
  }

  func parent(_ id: FieldID) -> FieldID? {
    guard let entry = entry(id) else { return nil }
    return entry.parent ?? (entry.isWindow ? nil : home(entry.owner))
  }

  func path(_ id: FieldID?) -> [FieldID] { id.map { [$0] + path(parent($0)) } ?? [] }

  func window(_ id: FieldID) -> FieldID? {
    guard let root = path(id).last, root != id, entry(root)?.isWindow == true else { return nil }
    return root
  }

  /// What `owner` focused among the fields that are remembered together with `id`, newest first.
  func remembered(_ owner: BusName, with id: FieldID) -> [FieldID] {
    let group = group(id)
    return focused.filter { $0.owner == owner && self.group($0.field) == group }.sorted { $0.time > $1.time }
      .map(\.field)
  }

  private func group(_ id: FieldID) -> String {
    let root = path(id).last
    guard let entry = entry(root) else { return "" }
    return entry.isWindow ? entry.id.text : entry.owner.text
  }

  mutating func compute() {
    if let id = outside, window(id) != nil { outside = nil }
    var now = outside
    if now == nil, let front {
      now = focused.filter { window($0.field) == front }.max { $0.time < $1.time }?.field ?? front
    }
    if let shown, shown != now, entry(shown) != nil, !path(history.first).contains(shown) {
      history = [shown] + history.filter { $0 != shown }
    }
    shown = now
    let (path, above) = (path(now), history)
    history = above.filter { entry($0) != nil && !path.contains($0) }
    let ancestors = self.path(history.first).dropFirst()
    history = Array(history.filter { !ancestors.contains($0) }.prefix(32))
  }

  mutating func focus(_ id: FieldID) {
    guard let entry = entry(id) else { return }
    if entry.isWindow {
      guard front != id else { return }
      front = id
      outside = nil
      entries[index(id)].front = tick()
    } else {
      focused.removeAll { $0.owner == entry.owner && $0.field == id }
      focused.append(.init(owner: entry.owner, field: id, time: tick()))
      let window = window(id)
      if window == nil { outside = id } else if window == front { outside = nil }
    }
    compute()
  }

  mutating func adopt(_ connections: [BusName], _ id: FieldID) {
    let old = entry(id)?.adopted ?? [:]
    if Set(old.keys) != Set(connections) {
      var now: [BusName: Int] = [:]
      for connection in connections { now[connection] = old[connection] ?? tick() }
      entries[index(id)].adopted = now
    }
    compute()
  }

  mutating func blur(_ id: FieldID) {
    guard let entry = entry(id) else { return }
    if entry.isWindow {
      guard front == id else { return }
      (front, outside) = (nil, nil)
    } else {
      for owner in Set(focused.map(\.owner)) where remembered(owner, with: id).first == id {
        let others = remembered(owner, with: id)
        let time = focused.first { $0.owner == owner && $0.field == id }?.time ?? 0
        focused.removeAll { $0.owner == owner && others.contains($0.field) }
        replace(id, owner, time)
      }
      if outside == id { outside = parent(id) }
    }
    compute()
  }

  private mutating func replace(_ id: FieldID, _ owner: BusName, _ time: Int) {
    guard let parent = parent(id), entry(parent)?.isWindow == false else { return }
    if let old = focused.firstIndex(where: { $0.owner == owner && $0.field == parent }) {
      guard focused[old].time < time else { return }
      focused.remove(at: old)
    }
    focused.append(.init(owner: owner, field: parent, time: time))
  }

  mutating func remove(_ ids: [FieldID]) {
    for id in ids {
      guard let gone = entry(id) else { continue }
      for each in focused where each.field == id {
        let isNewest = remembered(each.owner, with: id).first == id
        focused.removeAll { $0.owner == each.owner && $0.field == id }
        if isNewest { replace(id, each.owner, each.time) }
      }
      let parent = parent(id)
      if outside == id { outside = parent }
      if front == id { front = nil }
      if activated == id { activated = nil }
      // A window's scenes are scenes again, and in another window if that has adopted them.
      for index in entries.indices where self.parent(entries[index].id) == id && entries[index].parent == id {
        entries[index].parent = parent
      }
      entries.removeAll { $0.id == id }
      _ = gone
    }
    compute()
  }

  /// The fields that `owner` has focused pass to these fields' owners.
  mutating func left(_ owner: BusName) {
    for each in focused where each.owner == owner {
      focused.removeAll { $0.owner == owner && $0.field == each.field }
      guard let holder = entry(each.field)?.owner else { continue }
      if let old = focused.firstIndex(where: { $0.owner == holder && $0.field == each.field }) {
        guard focused[old].time < each.time else { continue }
        focused.remove(at: old)
      }
      focused.append(.init(owner: holder, field: each.field, time: each.time))
    }
    for index in entries.indices { entries[index].adopted[owner] = nil }
    compute()
  }

  // MARK: Session fields

  mutating func updateActivity(_ id: FieldID) {
    guard let entry = entry(id), entry.isSession else { return }
    let isActive = entry.values[condition.key] == condition.value
    guard isActive != entry.isActive else { return }
    if isActive, activated != id { endActivation() }
    entries[index(id)].isActive = isActive
    entries[index(id)].activity = tick()
  }

  mutating func activate(_ id: FieldID) {
    guard activated != id else { return }
    endActivation()
    activated = id
  }

  private mutating func endActivation() {
    guard let id = activated else { return }
    activated = nil
    if entry(id)?.isActive == false { entries[index(id)].activity = tick() }
  }

  var order: [FieldID] {
    func rank(_ entry: Entry) -> [Int] {
      let inFront = front != nil && window(entry.id) == front ? 0 : 1
      if activated == entry.id { return [inFront, 0, 0] }
      if entry.isActive { return [inFront, 1, -entry.activity] }
      if entry.activity > 0 { return [inFront, 2, -entry.activity] }
      return [inFront, 3, -entry.registration]
    }
    return entries.filter(\.isSession).sorted { rank($0).lexicographicallyPrecedes(rank($1)) }.map(\.id)
  }

  func resolve(_ key: Key) -> FieldID? {
    let path = path(shown)
    if let id = path.first(where: { entry($0)?.values[key] != nil }) { return id }
    // The scene of the path, then its window.
    var scenes = path.last.map { [$0] } ?? []
    if let last = path.last, entry(last)?.isWindow == true,
      let scene = path.first(where: { entry($0)?.parent == nil && $0 != last })
    {
      scenes.insert(scene, at: 0)
    }
    let near = path.compactMap(entry)
    var isNear = near.contains { $0.values.keys.contains { $0.interface == key.interface } }
    for scene in scenes {
      let those = entries.filter { $0.isSession && self.scene($0.id) == scene }
      isNear = isNear || those.contains { $0.values.keys.contains { $0.interface == key.interface } }
      if let found = those.last(where: { $0.values[key] != nil }) { return found.id }
    }
    guard !isNear else { return nil }
    let supplier = order.first { entry($0)?.values.keys.contains { $0.interface == key.interface } == true }
    return supplier.flatMap { entry($0)?.values[key] == nil ? nil : $0 }
  }

  private func scene(_ id: FieldID) -> FieldID? {
    guard let entry = entry(id) else { return nil }
    return entry.parent.map { scene($0) } ?? id
  }
}

@Suite("Random walk with windows and session fields")
struct WindowWalkTests {
  @Test("25,000 operations each", arguments: [21, 22, 23, 24] as [UInt64])
  func walk(_ seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let model = FocusModel()
    let bridge = try BusName(":1.9")
    let programs = try [":1.1", ":1.2", ":1.3"].map { try BusName($0) }
    let condition = Activity.Condition(key: try Key("demo.Player.Status"), value: .int32(1))
    let keys = [condition.key, try Key("demo.Player.Title"), try Key("demo.Other.Name")]
    let ids = try (0..<14).map { try FieldID("f\($0)") }
    var naive = NaiveSession(condition: condition)
    var observer = Observer()
    var hasBridge = false

    for step in 0..<25_000 {
      // Other tests wait for a thread.
      if step.isMultiple(of: 500) { await Task.yield() }
      guard let id = ids.randomElement(using: &random) else { return }
      let entry = naive.entry(id)
      let owner = entry?.owner ?? (programs + [bridge]).randomElement(using: &random) ?? bridge
      var changes: [Change] = []
      switch Int.random(in: 0..<24, using: &random) {
      case 0..<6 where entry == nil:
        var options = FieldOptions()
        options.parent = Bool.random(using: &random) ? naive.entries.randomElement(using: &random)?.id : nil
        options.scope = Int.random(in: 0..<3, using: &random) == 0 ? .session : .field
        if options.scope == .session {
          options.active = condition
        }
        var values: [Key: MarshalledValue] = [:]
        for key in keys where Bool.random(using: &random) { values[key] = .int32(.random(in: 0...1, using: &random)) }
        changes = try model.register(id, values, options, owner: owner).changes
        naive.entries.append(
          .init(
            id: id, owner: owner, parent: options.parent,
            isWindow: hasBridge && owner == bridge && options.parent == nil, isSession: options.scope == .session,
            values: values, registration: step))
        naive.updateActivity(id)
        naive.compute()
      case 6..<12 where entry != nil:
        let (before, front) = (model.focusPath, model.front)
        try model.focus(id, by: owner)
        naive.focus(id)
        // What the window in front has focused already, and what is behind it, changes nothing.
        if front == id { try #require(model.focusPath == before) }
        if let window = naive.window(id), window != front { try #require(model.focusPath == before) }
      case 12..<14 where entry != nil:
        try model.blur(id, by: owner)
        naive.blur(id)
      case 14 where entry != nil:
        changes = try model.unregister(id, by: owner)
        naive.remove([id])
      case 15..<18 where entry?.isWindow == true:
        let adopted = Set(programs.filter { _ in Bool.random(using: &random) })
        changes = try model.adopt(adopted, into: id, by: bridge)
        naive.adopt(adopted.sorted(), id)
      case 18 where step.isMultiple(of: 5):
        let leaving = programs.randomElement(using: &random) ?? bridge
        changes = model.ownerLeft(leaving)
        naive.remove(naive.entries.filter { $0.owner == leaving }.map(\.id).sorted())
        naive.left(leaving)
      case 19 where step.isMultiple(of: 9):
        hasBridge.toggle()
        changes = model.setWindowBridge(hasBridge ? bridge : nil)
        let windows = naive.entries.filter(\.isWindow).map(\.id).sorted()
        if !hasBridge, !windows.isEmpty {
          if let shown = naive.shown, naive.entry(shown)?.isWindow == false { naive.outside = shown }
          for window in windows { naive.entries[naive.index(window)].adopted = [:] }
          naive.remove(windows)
        }
      case 20 where entry?.isSession == true:
        changes = try model.activate(id)
        naive.activate(id)
      default:
        guard let entry, let key = keys.randomElement(using: &random) else { continue }
        let value = MarshalledValue.int32(.random(in: 0...1, using: &random))
        changes = try model.publish([key: value], on: entry.id, by: owner)
        naive.entries[naive.index(id)].values[key] = value
        naive.updateActivity(id)
      }
      try observer.see(changes, model)
      if Bool.random(using: &random) {
        try observer.see(model.settle(), model)
        try observer.check(against: model)
      }
      try compare(model, naive, keys, step)
    }
  }

  private func compare(_ model: FocusModel, _ naive: NaiveSession, _ keys: [Key], _ step: Int) throws {
    try #require(Set(model.fields.keys) == Set(naive.entries.map(\.id)), "\(step)")
    for (id, field) in model.fields {
      try #require(field.parent == naive.parent(id), "\(step): the parent of \(id)")
      try #require((field.window != nil) == naive.entry(id)?.isWindow)
    }
    try #require(model.focusPath == naive.path(naive.shown), "\(step)")
    try #require(model.history == naive.history, "\(step)")
    try #require(model.sessionFields == naive.order, "\(step)")
    for key in keys { try #require(model.resolve(key) == naive.resolve(key), "\(step): \(key)") }
    // What follows from the rules, whatever they are.
    try #require(Set(model.history).count == model.history.count)
    try #require(!model.history.contains { model.focusPath.contains($0) })
    if let window = model.focusPath.last, model.fields[window]?.window != nil {
      try #require(window == model.front, "\(step): a window behind is on the path")
    }
  }
}

/// What a window manager, two programs and the bridge say comes in any order.
@Suite struct InterleavingTests {
  /// Streams of words as `WindowStage` plays them; each keeps its order, and they meet in every way.
  static let scenarios: [(name: String, streams: [String])] = [
    ("polite programs", ["!w1 !w2 !w1", "w1+A w2+B", "a1 -a1 a2", "b1 -b1"]),
    ("silent programs", ["!w1 !w2 -w2", "w1+A w2+B", "a1 a2", "b1"]),
    ("late programs, an empty workspace", ["!w1 -w1 !w2", "w1+A w2+B w2+", "a1", "-a1 a2", "b1"]),
    ("one connection in two windows", ["!w1 !w2 !w1", "w1+A w2+A", "a1 a2 -a2", "b1"]),
    ("a window that goes", ["!w1 !w2 ~w2", "w1+A w2+AB", "a1 a2", "b1"]),
  ]

  @Test("Every order of what they say ends as the contract has it", arguments: scenarios.indices)
  func merges(_ index: Int) async throws {
    let streams = Self.scenarios[index].streams.map { $0.split(separator: " ").map(String.init) }
    var count = 0
    for order in Self.merges(of: streams) {
      if count.isMultiple(of: 100) { await Task.yield() }
      count += 1
      try Self.play(order)
    }
    #expect(count > 100)
  }

  /// Every sequence that keeps the order of each stream.
  private static func merges(of streams: [[String]]) -> [[String]] {
    guard streams.contains(where: { !$0.isEmpty }) else { return [[]] }
    return streams.indices.flatMap { index in
      guard let first = streams[index].first else { return [[String]]() }
      var rest = streams
      rest[index].removeFirst()
      return merges(of: rest).map { [first] + $0 }
    }
  }

  private static func play(_ words: [String]) throws {
    let stage = try WindowStage()
    var naive = NaiveSession(condition: .init(key: try Key("demo.Player.Status"), value: .int32(1)))
    for (number, id) in ["w1", "w2", "a1", "a2", "b1"].enumerated() {
      if !id.hasPrefix("w") { try stage.register(id) }
      naive.entries.append(
        .init(
          id: try FieldID(id), owner: stage.owner(id), parent: nil, isWindow: id.hasPrefix("w"), isSession: false,
          values: [:], registration: number))
    }
    var gone: Set<String> = []
    for word in words {
      let rest = String(word.dropFirst())
      // What is gone is not spoken of any more.
      guard gone.isDisjoint(with: [word, rest, String(word.prefix(2))]) else { continue }
      try stage.play(word)
      switch word.first {
      case "!": naive.focus(try FieldID(rest))
      case "-": naive.blur(try FieldID(rest))
      case "~":
        gone.insert(rest)
        naive.remove([try FieldID(rest)])
      default:
        if let plus = word.firstIndex(of: "+") {
          naive.adopt(
            word[word.index(after: plus)...].map { stage.owner($0.lowercased()) }, try FieldID(String(word[..<plus])))
        } else {
          naive.focus(try FieldID(word))
        }
      }
      try #require(stage.model.focusPath == naive.path(naive.shown), "\(words), at \(word)")
      try #require(stage.model.history == naive.history, "\(words), at \(word)")
    }
  }
}
