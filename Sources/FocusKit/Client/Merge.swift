internal import DBusTypes

/// Makes a change once more, on a value that somebody else changed meanwhile.
enum Merge {
  /// `current` with what differs between `base` and `changed`; nil if both changed the same part.
  ///
  /// An array's elements are inserted, removed or replaced, a dictionary's and a structure's values one by one. If
  /// `byDifference`, so are a text's characters, the difference is added to a number, and a boolean is toggled.
  static func merge(
    _ base: DBusValue, _ changed: DBusValue, onto current: DBusValue, byDifference: Bool
  ) -> DBusValue? {
    if base == current { return changed }
    if base == changed { return current }
    guard current.type == base.type else { return nil }
    switch (base, changed, current) {
    case (.array(let a), .array(let b), .array(let c)):
      return elements(Array(a), Array(b), Array(c)).flatMap { elements in
        (try? DBusArray(of: c.elementType, elements)).map(DBusValue.array)
      }
    case (.structure(let a), .structure(let b), .structure(let c)):
      guard a.count == b.count, a.count == c.count else { return nil }
      var members: [DBusValue] = []
      for index in a.indices {
        guard let member = merge(a[index], b[index], onto: c[index], byDifference: byDifference) else { return nil }
        members.append(member)
      }
      return .structure(members)
    case (.dictionary(let a), .dictionary(let b), .dictionary(let c)): return entries(a, b, c, byDifference)
    case (.variant(let a), .variant(let b), .variant(let c)):
      return merge(a, b, onto: c, byDifference: byDifference).map(DBusValue.variant)
    default:
      if byDifference { return basic(base, changed, current) }
      return changed == current ? current : nil
    }
  }

  private static func basic(_ base: DBusValue, _ changed: DBusValue, _ current: DBusValue) -> DBusValue? {
    switch (base, changed, current) {
    case (.boolean, .boolean, .boolean(let value)): return .boolean(!value)
    case (.double(let a), .double(let b), .double(let c)): return .double(c + (b - a))
    case (.string(let a), .string(let b), .string(let c)):
      return elements(Array(a.unicodeScalars), Array(b.unicodeScalars), Array(c.unicodeScalars)).map { scalars in
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return .string(String(text))
      }
    default:
      guard changed.type == base.type, let a = base.integer, let b = changed.integer, let c = current.integer else {
        return nil
      }
      return DBusValue(c + (b - a), of: current.type)
    }
  }

  /// What was replaced is one stretch; it must be in `current` still, at the same place from the beginning or the end.
  private static func elements<Element: Equatable>(
    _ base: [Element], _ changed: [Element], _ current: [Element]
  ) -> [Element]? {
    let shorter = min(base.count, changed.count)
    var start = 0
    while start < shorter, base[start] == changed[start] { start += 1 }
    var end = 0
    while end < shorter - start, base[base.count - 1 - end] == changed[changed.count - 1 - end] { end += 1 }
    let removed = base[start..<(base.count - end)]
    let inserted = changed[start..<(changed.count - end)]
    let atEnd = end < start || (removed.isEmpty && end == 0)
    let places = [start, current.count - end - removed.count]
    for place in atEnd ? places.reversed() : places
    where place >= 0 && place + removed.count <= current.count
      && current[place..<(place + removed.count)].elementsEqual(removed)
    {
      var merged = current
      merged.replaceSubrange(place..<(place + removed.count), with: inserted)
      return merged
    }
    return nil
  }

  private static func entries(
    _ base: DBusDictionary, _ changed: DBusDictionary, _ current: DBusDictionary, _ byDifference: Bool
  ) -> DBusValue? {
    let (old, new, now) = (values(base), values(changed), values(current))
    var merged: [DBusDictionary.Entry] = []
    for entry in current.entries + changed.entries.filter({ now[$0.key] == nil }) {
      let (a, b, c) = (old[entry.key], new[entry.key], now[entry.key])
      let value: DBusValue?
      if a == b {
        value = c
      } else if a == c {
        value = b
      } else if let a, let b, let c {
        guard let both = merge(a, b, onto: c, byDifference: byDifference) else { return nil }
        value = both
      } else if b == c {
        value = b
      } else {
        return nil
      }
      if let value { merged.append(.init(key: entry.key, value: value)) }
    }
    return (try? DBusDictionary(key: current.keyType, value: current.valueType, merged)).map(DBusValue.dictionary)
  }

  private static func values(_ dictionary: DBusDictionary) -> [DBusValue: DBusValue] {
    Dictionary(dictionary.entries.map { ($0.key, $0.value) }) { $1 }
  }
}
