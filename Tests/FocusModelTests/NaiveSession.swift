import DBusTypes
import FocusContract

@testable import FocusModel

/// The contract's sections *Focus*, *Windows*, *Focused values* and *Session fields* once more: plain facts, and everything
/// found by looking at all.
struct NaiveSession {
  struct Entry {
    let id: FieldID
    /// Nil once it has outlived its owner.
    var owner: BusName?
    var parent: FieldID?
    let isWindow: Bool
    var scope = Scope.field
    var isSensitive = false
    var lingers = false
    var values: [Key: MarshalledValue] = [:]
    /// The properties of its object; those that are not among the values are nil, but for the second kind.
    var properties: Set<Key> = []
    var writeOnly: Set<Key> = []
    var commands: Set<Key> = []
    var adopted: [BusName: Int] = [:]
    /// When it was in front last.
    var front = 0
    var isActive = false
    var activity = 0
    /// When it was focused last, or took the place of one that was.
    var focused = 0
    let registration: Int

    func has(_ key: Key) -> Bool { values[key] != nil || writeOnly.contains(key) }

    func has(_ interface: InterfaceName) -> Bool {
      values.keys.contains { $0.interface == interface }
        || writeOnly.union(commands).contains { $0.interface == interface }
    }
  }

  let condition: Activity.Condition
  var entries: [Entry] = []
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
  private func home(_ owner: BusName?) -> FieldID? {
    guard let owner else { return nil }
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

  private func scene(_ id: FieldID) -> FieldID? {
    guard let entry = entry(id) else { return nil }
    return entry.parent.map { scene($0) } ?? id
  }
}

/// Focus.
extension NaiveSession {
  /// What `owner` focused among the fields that are remembered together with `id`, newest first.
  private func remembered(with id: FieldID) -> [FieldID] {
    let (group, owner) = (group(id), entry(id)?.owner)
    return entries.filter { $0.focused > 0 && $0.owner == owner && self.group($0.id) == group }
      .sorted { $0.focused > $1.focused }.map(\.id)
  }

  private func group(_ id: FieldID) -> String {
    guard let entry = entry(path(id).last) else { return "" }
    return entry.isWindow ? entry.id.text : entry.owner?.text ?? "nobody"
  }

  mutating func compute() {
    if let id = outside, window(id) != nil { outside = nil }
    var now = outside
    if now == nil, let front {
      now = entries.filter { $0.focused > 0 && window($0.id) == front }.max { $0.focused < $1.focused }?.id ?? front
    }
    if let shown, shown != now, entry(shown) != nil, !path(history.first).contains(shown) {
      history = [shown] + history.filter { $0 != shown }
    }
    shown = now
    let path = path(now)
    history = history.filter { entry($0) != nil && !path.contains($0) }
    let ancestors = self.path(history.first).dropFirst()
    history = Array(history.filter { !ancestors.contains($0) }.prefix(32))
  }

  mutating func focus(_ id: FieldID) {
    guard let entry = entry(id) else { return }
    if entry.isWindow {
      if front != id { entries[index(id)].front = tick() }
      (front, outside) = (id, nil)
    } else {
      entries[index(id)].focused = tick()
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
      forget(id, andOthers: true)
      if outside == id { outside = parent(id) }
    }
    compute()
  }

  /// Forgets that `id` was focused: if it was the newest, its parent takes its place, but for a window.
  private mutating func forget(_ id: FieldID, andOthers: Bool) {
    let together = remembered(with: id)
    guard let time = entry(id)?.focused, time > 0 else { return }
    entries[index(id)].focused = 0
    guard together.first == id else { return }
    for other in andOthers ? together : [] { entries[index(other)].focused = 0 }
    guard let parent = parent(id), entry(parent)?.isWindow == false else { return }
    entries[index(parent)].focused = max(time, entries[index(parent)].focused)
  }

  mutating func remove(_ ids: [FieldID]) {
    let newestFirst = ids.compactMap { entry($0) }.sorted { $0.registration > $1.registration }
    for gone in newestFirst {
      forget(gone.id, andOthers: false)
      if outside == gone.id { outside = parent(gone.id) }
      if front == gone.id { front = nil }
      if activated == gone.id { activated = nil }
      for index in entries.indices where entries[index].parent == gone.id {
        entries[index].parent = entry(gone.id)?.parent
      }
      entries.removeAll { $0.id == gone.id }
    }
    compute()
  }

  mutating func left(_ owner: BusName) {
    for index in entries.indices where entries[index].owner == owner && entries[index].lingers {
      entries[index].owner = nil
    }
    remove(entries.filter { $0.owner == owner }.map(\.id))
    for index in entries.indices { entries[index].adopted[owner] = nil }
    compute()
  }
}

/// What keys resolve to.
extension NaiveSession {
  mutating func updateActivity(_ id: FieldID) {
    guard let entry = entry(id), entry.scope == .session else { return }
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
    return entries.filter { $0.scope == .session }.sorted { rank($0).lexicographicallyPrecedes(rank($1)) }.map(\.id)
  }

  /// The innermost on the path, then the newest scene-scoped one of the path's scene, then of its window.
  private func nearest(_ has: (Entry) -> Bool) -> FieldID? {
    let path = path(shown)
    if let id = path.first(where: { entry($0).map(has) ?? false }) { return id }
    var scenes = path.last.map { [$0] } ?? []
    if let last = path.last, entry(last)?.isWindow == true,
      let scene = path.first(where: { entry($0)?.parent == nil && $0 != last })
    {
      scenes.insert(scene, at: 0)
    }
    for scene in scenes {
      let those = entries.filter { $0.scope != .field && self.scene($0.id) == scene && has($0) }
      if let newest = those.max(by: { $0.registration < $1.registration }) { return newest.id }
    }
    return nil
  }

  private func resolve(_ interface: InterfaceName, _ has: (Entry) -> Bool) -> FieldID? {
    if let id = nearest(has) { return id }
    guard nearest({ $0.has(interface) }) == nil, !SessionOrder.withheld.contains(interface),
      let supplier = order.first(where: { entry($0)?.has(interface) == true }), entry(supplier).map(has) == true
    else { return nil }
    return supplier
  }

  func resolve(_ key: Key) -> FieldID? { resolve(key.interface) { $0.has(key) } }

  func resolve(command key: Key) -> FieldID? { resolve(key.interface) { $0.commands.contains(key) } }

  /// What everyone is shown of `key` at `focused`.
  func value(_ key: Key) -> MarshalledValue? {
    guard let entry = entry(resolve(key)), !entry.isSensitive else { return nil }
    return entry.values[key]
  }
}
