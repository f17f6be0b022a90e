import DBusTypes

/// What stands between the braces of a format: a part, a function of it, or arithmetic.
indirect enum FormatExpression: Hashable, Sendable {
  case part(FormatPart)
  case literal(DBusValue)
  case call(FormatFunction, [FormatExpression])
  case arithmetic(Expression.Operator, FormatExpression, FormatExpression)

  /// The keys in it, in order.
  var keys: [KeyArgument] {
    switch self {
    case .part(.key(let key)): [key]
    case .part, .literal: []
    case .call(_, let arguments): arguments.flatMap(\.keys)
    case .arithmetic(_, let left, let right): left.keys + right.keys
    }
  }

  func has(_ name: String) -> Bool {
    switch self {
    case .part(let part): part == .name(name)
    case .literal: false
    case .call(_, let arguments): arguments.contains { $0.has(name) }
    case .arithmetic(_, let left, let right): left.has(name) || right.has(name)
    }
  }

  /// Its value by those of its parts; nil if one that it needs has none, or does not fit.
  func value(_ lookup: (FormatPart) -> FormatValue?) -> FormatValue? {
    switch self {
    case .part(let part): lookup(part)
    case .literal(let value): .value(value)
    case .call(let function, let arguments): function.value(arguments, lookup)
    case .arithmetic(let sign, let left, let right):
      left.value(lookup).flatMap { left in right.value(lookup).map { (left, $0) } }
        .flatMap { FormatExpression.compute($0.content, sign, $1.content) }.map { .value($0) }
    }
  }

  /// A whole number, as far as D-Bus has a type for it.
  fileprivate static func whole(_ number: Int128) -> DBusValue? {
    DBusValue(number, of: .int64) ?? DBusValue(number, of: .uint64)
  }

  /// Whole numbers stay whole, but a division by which something remains.
  private static func compute(_ left: DBusValue, _ sign: Expression.Operator, _ right: DBusValue) -> DBusValue? {
    if let a = left.integer, let b = right.integer {
      let result: (partialValue: Int128, overflow: Bool)
      switch sign {
      case .add: result = a.addingReportingOverflow(b)
      case .subtract: result = a.subtractingReportingOverflow(b)
      case .multiply: result = a.multipliedReportingOverflow(by: b)
      case .divide:
        guard b != 0, a % b == 0 else { return b == 0 ? nil : .double(Double(a) / Double(b)) }
        result = (a / b, false)
      }
      return result.overflow ? nil : whole(result.partialValue)
    }
    guard let a = left.number, let b = right.number else { return nil }
    switch sign {
    case .add: return .double(a + b)
    case .subtract: return .double(a - b)
    case .multiply: return .double(a * b)
    case .divide: return b == 0 ? nil : .double(a / b)
    }
  }
}

/// A function of a format; those that playerctl has, too, mean what they mean there.
enum FormatFunction: String, CaseIterable, Sendable {
  case lowercase = "lc"
  case uppercase = "uc"
  case markupEscape = "markup_escape"
  case `default` = "default"
  case duration = "duration"
  case emoji = "emoji"
  case round = "round"
  case truncate = "trunc"
  case join = "join"

  /// How many arguments it takes.
  var argumentCount: Int {
    switch self {
    case .lowercase, .uppercase, .markupEscape, .duration, .emoji, .round: 1
    case .default, .truncate, .join: 2
    }
  }

  fileprivate func value(
    _ arguments: [FormatExpression], _ lookup: (FormatPart) -> FormatValue?
  ) -> FormatValue? {
    guard arguments.count == argumentCount else { return nil }
    guard let first = arguments[0].value(lookup) else {
      return self == .default ? arguments[1].value(lookup) : nil
    }
    let text = first.content.plainText
    switch self {
    case .lowercase: return .string(text.lowercased())
    case .uppercase: return .string(text.uppercased())
    case .markupEscape: return .string(WatchFormat.markup(text))
    // As in playerctl, what is empty is not set.
    case .default: return text.isEmpty ? arguments[1].value(lookup) : first
    case .duration: return first.content.number.flatMap(FormatFunction.duration).map(FormatValue.string)
    case .emoji: return FormatFunction.emoji(first.content).map(FormatValue.string)
    case .round:
      let number = first.content.integer ?? first.content.number.flatMap { Int128(exactly: $0.rounded()) }
      return number.flatMap(FormatExpression.whole).map { .value($0) }
    case .truncate:
      guard let length = arguments[1].value(lookup)?.content.integer, length >= 0 else { return nil }
      let kept = text.prefix(Int(clamping: length))
      return .string(kept.endIndex == text.endIndex ? text : kept + TextWidth.ellipsis)
    case .join:
      guard case .array(let elements) = first.content, let separator = arguments[1].value(lookup) else { return first }
      return .string(elements.map { $0.lookedThrough.plainText }.joined(separator: separator.content.plainText))
    }
  }

  /// Microseconds as `m:ss` or `h:mm:ss`.
  private static func duration(_ microseconds: Double) -> String? {
    guard let total = Int64(exactly: (microseconds / 1_000_000).rounded(.towardZero)), total >= 0 else { return nil }
    func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let (hours, minutes, seconds) = (total / 3600, total / 60 % 60, total % 60)
    return hours > 0 ? "\(hours):\(padded(minutes)):\(padded(seconds))" : "\(minutes):\(padded(seconds))"
  }

  /// A player's status or volume as a picture.
  private static func emoji(_ value: DBusValue) -> String? {
    switch value {
    case .string("Playing"): return "▶️"
    case .string("Paused"): return "⏸️"
    case .string("Stopped"): return "⏹️"
    default: break
    }
    guard let volume = value.number else { return nil }
    return volume < 1.0 / 3 ? "🔈" : volume < 2.0 / 3 ? "🔉" : "🔊"
  }
}

extension DBusValue {
  /// The value as text, also on a terminal, where the format's result is what is shown.
  fileprivate var plainText: String { basicText ?? JSONWriter.data(self) }

  /// The value as a number, if it is one.
  var number: Double? {
    if case .double(let number) = self { return number }
    return integer.map { Double($0) }
  }
}
