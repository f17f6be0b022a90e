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
    case (.byte(let a), .byte(let b), .byte(let c)): return sum(a, b, c).map(DBusValue.byte)
    case (.int16(let a), .int16(let b), .int16(let c)): return sum(a, b, c).map(DBusValue.int16)
    case (.uint16(let a), .uint16(let b), .uint16(let c)): return sum(a, b, c).map(DBusValue.uint16)
    case (.int32(let a), .int32(let b), .int32(let c)): return sum(a, b, c).map(DBusValue.int32)
    case (.uint32(let a), .uint32(let b), .uint32(let c)): return sum(a, b, c).map(DBusValue.uint32)
    case (.int64(let a), .int64(let b), .int64(let c)): return sum(a, b, c).map(DBusValue.int64)
    case (.uint64(let a), .uint64(let b), .uint64(let c)): return sum(a, b, c).map(DBusValue.uint64)
    case (.double(let a), .double(let b), .double(let c)): return .double(c + (b - a))
    case (.string(let a), .string(let b), .string(let c)):
      return elements(Array(a.unicodeScalars), Array(b.unicodeScalars), Array(c.unicodeScalars)).map { scalars in
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return .string(String(text))
      }
    default: return nil
    }
  }

  private static func sum<Number: FixedWidthInteger>(_ base: Number, _ changed: Number, _ current: Number) -> Number? {
    let isMore = changed >= base
    let (difference, isTooFar) =
      isMore ? changed.subtractingReportingOverflow(base) : base.subtractingReportingOverflow(changed)
    let (result, isTooMuch) =
      isMore ? current.addingReportingOverflow(difference) : current.subtractingReportingOverflow(difference)
    return isTooFar || isTooMuch ? nil : result
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
    let (old, new) = (values(base), values(changed))
    var merged: [DBusDictionary.Entry] = []
    var missing = new
    for entry in current.entries {
      missing[entry.key] = nil
      switch (old[entry.key], new[entry.key]) {
      case (nil, nil): merged.append(entry)
      case (let before?, let after?):
        guard let value = merge(before, after, onto: entry.value, byDifference: byDifference) else { return nil }
        merged.append(.init(key: entry.key, value: value))
      case (nil, let added?):
        guard added == entry.value else { return nil }
        merged.append(entry)
      case (let removed?, nil): guard removed == entry.value else { return nil }
      }
    }
    for entry in changed.entries where missing[entry.key] != nil {
      guard let before = old[entry.key] else {
        merged.append(entry)
        continue
      }
      // Somebody else removed it: only what was not changed here stays so.
      guard before == entry.value else { return nil }
    }
    return (try? DBusDictionary(key: current.keyType, value: current.valueType, merged)).map(DBusValue.dictionary)
  }

  private static func values(_ dictionary: DBusDictionary) -> [DBusValue: DBusValue] {
    Dictionary(dictionary.entries.map { ($0.key, $0.value) }) { $1 }
  }
}
