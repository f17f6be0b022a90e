internal import DBusTypes

extension DBusValue {
  /// This value with what differs between `base` and `changed`, encodings of what was read from it and of what became of that:
  /// what the reader's type does not declare stays, and so do the types of numbers within variants.
  func replacing(_ base: DBusValue, with changed: DBusValue) -> DBusValue {
    if base == changed { return self }
    switch (base, changed, self) {
    case (.variant(let a), .variant(let b), .variant(let c)): return .variant(c.replacing(a, with: b))
    case (.structure(let a), .structure(let b), .structure(let c)) where a.count == b.count && a.count == c.count:
      return .structure(a.indices.map { c[$0].replacing(a[$0], with: b[$0]) })
    case (.dictionary(let a), .dictionary(let b), .dictionary(let c)):
      return c.replacing(a, with: b).map(DBusValue.dictionary) ?? changed
    case (.array(let a), .array(let b), .array(let c))
    where a.count == c.count && zip(a, c).allSatisfy({ $1.covers($0) }):
      let elements = Self.replacing(Array(a), with: Array(b), in: Array(c))
      return (try? DBusArray(of: c.elementType, elements)).map(DBusValue.array) ?? changed
    default: return changed.adapted(to: type)
    }
  }

  /// Whether `base` may be an encoding of what was read from this: a type may read elements into another order.
  private func covers(_ base: DBusValue) -> Bool {
    switch (base, self) {
    case (.variant(let a), .variant(let c)): return c.covers(a)
    case (.structure(let a), .structure(let c)): return a.count == c.count && zip(a, c).allSatisfy { $1.covers($0) }
    case (.array(let a), .array(let c)): return a.count == c.count && zip(a, c).allSatisfy { $1.covers($0) }
    case (.dictionary(let a), .dictionary(let c)):
      let values = Dictionary(c.entries.map { ($0.key, $0.value) }) { $1 }
      return a.entries.allSatisfy { entry in values[entry.key].map { $0.covers(entry.value) } ?? true }
    default: return base.adapted(to: type) == self
    }
  }

  /// The elements of `values` with what differs between `base` and `changed`, which is one stretch.
  private static func replacing(_ base: [DBusValue], with changed: [DBusValue], in values: [DBusValue]) -> [DBusValue] {
    let shorter = min(base.count, changed.count)
    var start = 0
    while start < shorter, base[start] == changed[start] { start += 1 }
    var end = 0
    while end < shorter - start, base[base.count - 1 - end] == changed[changed.count - 1 - end] { end += 1 }
    let new = changed[start..<(changed.count - end)]
    // Of as many, each takes the place of one.
    let stretch =
      base.count == changed.count ? new.indices.map { values[$0].replacing(base[$0], with: changed[$0]) } : Array(new)
    return values[..<start] + stretch + values[(values.count - end)...]
  }
}

extension DBusDictionary {
  /// The entries with what differs between `base` and `changed`, those of other keys included.
  fileprivate func replacing(_ base: DBusDictionary, with changed: DBusDictionary) -> DBusDictionary? {
    var old = Dictionary(base.entries.map { ($0.key, $0.value) }) { $1 }
    var new = Dictionary(changed.entries.map { ($0.key, $0.value) }) { $1 }
    var entries: [Entry] = []
    for entry in self.entries {
      switch (old.removeValue(forKey: entry.key), new.removeValue(forKey: entry.key)) {
      case (let before?, let now?):
        entries.append(Entry(key: entry.key, value: entry.value.replacing(before, with: now)))
      case (nil, let now?): entries.append(Entry(key: entry.key, value: now))
      case (nil, nil): entries.append(entry)
      case (_?, nil): break
      }
    }
    entries += changed.entries.filter { new[$0.key] != nil }
    return try? DBusDictionary(key: keyType, value: valueType, entries)
  }
}
