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
    case (.array(let a), .array(let b), .array(let c)) where a.count == c.count:
      guard let elements = Self.replacing(Array(a), with: Array(b), in: Array(c)) else { return changed }
      let adapted = elements.map { $0.adapted(to: c.elementType) }
      return (try? DBusArray(of: c.elementType, adapted)).map(DBusValue.array) ?? changed
    default: return changed.adapted(to: type)
    }
  }

  private static let mostSearched = 256

  /// The elements of `values`, which were read as `base`, with what differs between that and `changed`.
  ///
  /// An element that is there still stays with all that it holds, wherever it is now; of others, one takes the place of one.
  /// - Returns: nil if they were read in another order, as those of a set.
  private static func replacing(
    _ base: [DBusValue], with changed: [DBusValue], in values: [DBusValue]
  ) -> [DBusValue]? {
    for (one, value) in zip(base, values) where !value.covers(one) {
      // Of many, it is not searched whether it is elsewhere.
      if values.count > mostSearched || values.contains(where: { $0.covers(one) }) { return nil }
    }
    var places: [DBusValue: [Int]] = [:]
    for (place, one) in base.enumerated().reversed() { places[one, default: []].append(place) }
    let kept = changed.map { places[$0]?.popLast() }
    let taken = Set(kept.compactMap(\.self))
    return changed.indices.map { index in
      if let place = kept[index] { return values[place] }
      guard base.count == changed.count, !taken.contains(index) else { return changed[index] }
      return values[index].replacing(base[index], with: changed[index])
    }
  }

  /// Whether `base` may be an encoding of what was read from this.
  private func covers(_ base: DBusValue) -> Bool {
    switch (base.lookedThrough, lookedThrough) {
    case (.structure(let a), .structure(let c)): return a.count == c.count && zip(a, c).allSatisfy { $1.covers($0) }
    case (.array(let a), .array(let c)): return a.count == c.count && zip(a, c).allSatisfy { $1.covers($0) }
    case (.dictionary(let a), .dictionary(let c)):
      let values = Dictionary(c.entries.map { ($0.key, $0.value) }) { $1 }
      return a.entries.allSatisfy { entry in values[entry.key].map { $0.covers(entry.value) } ?? true }
    case (let a, let c): return a.adapted(to: c.type) == c
    }
  }
}

extension DBusDictionary {
  /// The entries with what differs between `base` and `changed`, those of other keys included.
  fileprivate func replacing(_ base: DBusDictionary, with changed: DBusDictionary) -> DBusDictionary? {
    func keyed(_ dictionary: DBusDictionary) -> [(DBusValue, DBusValue)] {
      dictionary.entries.map { ($0.key.adapted(to: keyType), $0.value) }
    }
    let wanted = keyed(changed)
    var (old, new) = (Dictionary(keyed(base)) { $1 }, Dictionary(wanted) { $1 })
    var entries: [Entry] = []
    for entry in self.entries {
      switch (old.removeValue(forKey: entry.key), new.removeValue(forKey: entry.key)) {
      case (let before?, let now?):
        entries.append(Entry(key: entry.key, value: entry.value.replacing(before, with: now)))
      case (nil, let now?): entries.append(Entry(key: entry.key, value: now.adapted(to: valueType)))
      case (nil, nil): entries.append(entry)
      case (_?, nil): break
      }
    }
    for (key, value) in wanted where new[key] != nil {
      entries.append(Entry(key: key, value: value.adapted(to: valueType)))
    }
    return try? DBusDictionary(key: keyType, value: valueType, entries)
  }
}
