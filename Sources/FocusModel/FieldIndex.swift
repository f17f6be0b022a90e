internal import FocusContract

/// What holds elements, each once.
protocol Gathering {
  associatedtype Element
  init()
  var isEmpty: Bool { get }
  /// Adds `element`, or takes it away; nothing happens if it is so already.
  mutating func set(_ element: Element, isThere: Bool)
}

extension Set: Gathering {
  mutating func set(_ element: Element, isThere: Bool) {
    if isThere { insert(element) } else { remove(element) }
  }
}

extension Dictionary where Value: Gathering {
  /// Adds `element` to the elements of `key`, or takes it away; nothing that is empty is kept.
  mutating func set(_ element: Value.Element, of key: Key, isThere: Bool) {
    self[key, default: Value()].set(element, isThere: isThere)
    if !isThere, self[key]?.isEmpty == true { self[key] = nil }
  }
}

/// A field among others: the lowest rank comes first, then the lowest moment.
struct RankedField: Comparable {
  var rank: UInt64 = 0
  let moment: UInt64
  let field: FieldID

  static func < (left: RankedField, right: RankedField) -> Bool {
    (left.rank, left.moment, left.field.text) < (right.rank, right.moment, right.field.text)
  }
}

extension Field {
  /// The field among others in the order of their registrations.
  var byRegistration: RankedField { RankedField(moment: registration, field: id) }
}

/// Which fields have each name in each place, in order.
///
/// It makes resolution independent of how many there are.
struct FieldIndex<Place: Hashable, Name: Hashable>: Equatable {
  private var places: [Place: [Name: SortedList<RankedField>]] = [:]

  /// The names that fields have in `place`.
  func names(in place: Place) -> some Collection<Name> { (places[place] ?? [:]).keys }

  /// The fields that have `name` in `place`; nil for none.
  func all(_ name: Name, in place: Place) -> SortedList<RankedField>? { places[place]?[name] }

  /// The last of these.
  func last(_ name: Name, in place: Place) -> FieldID? { places[place]?[name]?.last?.field }

  /// Adds `field` to them, or takes it away.
  mutating func set(_ field: RankedField, _ name: Name, in place: Place, isThere: Bool) {
    places[place, default: [:]].set(field, of: name, isThere: isThere)
    if !isThere, places[place]?.isEmpty == true { places[place] = nil }
  }
}
