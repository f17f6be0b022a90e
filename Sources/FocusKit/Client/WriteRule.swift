internal import DBusTypes
internal import FocusContract

/// What was seen of a key, for a change that follows from it.
struct SlotReading: Sendable {
  let value: DBusValue
  let state: UInt64
  /// How often focus had moved, and which field it was, as far as was known.
  let moves: Int
  let field: ObjectPath?
}

/// What a write that meets another's change of the same field comes to; it never lands in another field.
enum WriteRule: Sendable {
  /// It is made in the newer value: a number changes by the same difference, a boolean is toggled, texts are spliced.
  case difference
  /// It is made in the newer value if both changed different parts, else refused.
  case parts
  /// The members that were assigned are assigned in the newer value.
  case members(Assignment)
  /// It is refused, unless that is the same value.
  case whole

  /// The rule of a change in place of a value of `type`, which may have been computed from what was read.
  ///
  /// Whether a part of a value was computed or assigned is not known: only a value that has no parts changes by a
  /// difference, and none that names something, as an enum does.
  static func ofValues(_ type: Any.Type) -> WriteRule {
    let type = (type as? any OptionalValue.Type)?.wrapped ?? type
    return type is any Numeric.Type || type == Bool.self || type == String.self ? .difference : .parts
  }

  /// The rule of two writes that are made as one.
  func followed(by next: WriteRule) -> WriteRule {
    switch (self, next) {
    case (.difference, .difference): .difference
    case (.difference, .parts), (.parts, .difference), (.parts, .parts): .parts
    case (.members(let first), .members(let second)): first.followed(by: second).map(WriteRule.members) ?? .whole
    default: .whole
    }
  }

  /// The change from `base` to `changed`, made in `current`; nil if that cannot be.
  func apply(_ base: DBusValue, _ changed: DBusValue, to current: DBusValue) -> DBusValue? {
    switch self {
    case _ where base == current: changed
    case .difference: Merge.merge(base, changed, onto: current, byDifference: true)
    case .parts: Merge.merge(base, changed, onto: current, byDifference: false)
    case .members(let assignment): assignment.make(current)
    case .whole: changed == current ? current : nil
    }
  }
}

/// An assignment of a value's members that can be made again; it converts the value and assigns, and no more.
struct Assignment: @unchecked Sendable {
  private static let longest = 64

  /// Makes the assignment in a value; nil if that has another type.
  let make: (DBusValue) -> DBusValue?
  private var length = 1

  init(_ make: @escaping (DBusValue) -> DBusValue?) { self.make = make }

  /// Both, one after the other; nil if that becomes too long.
  func followed(by next: Assignment) -> Assignment? {
    guard length < Self.longest else { return nil }
    var both = Assignment { [make] in make($0).flatMap(next.make) }
    both.length = length + 1
    return both
  }
}

/// An `Optional`, which D-Bus has as an array of none or one: two of them that are merged would be no value of the type.
protocol OptionalValue { static var wrapped: Any.Type { get } }

extension Optional: OptionalValue { static var wrapped: Any.Type { Wrapped.self } }
