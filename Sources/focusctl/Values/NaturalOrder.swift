import DBusTypes

/// The order in which people expect names: K1, K2, K10.
enum NaturalOrder {
  /// Whether `a` comes before `b`: digits compare as numbers, everything else byte by byte.
  static func precedes(_ a: some StringProtocol, _ b: some StringProtocol) -> Bool {
    var a = Array(a.utf8)[...]
    var b = Array(b.utf8)[...]
    let (wholeA, wholeB) = (a, b)
    while let first = a.first, let second = b.first {
      if isDigit(first), isDigit(second) {
        let (left, right) = (number(&a), number(&b))
        guard left.elementsEqual(right) else {
          return left.count == right.count ? left.lexicographicallyPrecedes(right) : left.count < right.count
        }
      } else {
        guard first == second else { return first < second }
        a = a.dropFirst()
        b = b.dropFirst()
      }
    }
    // Names that differ only in leading zeros still have one order.
    return a.isEmpty == b.isEmpty ? wholeA.lexicographicallyPrecedes(wholeB) : a.isEmpty
  }

  /// Takes the digits at the start of `rest`; returns them without leading zeros.
  private static func number(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let digits = rest.prefix(while: isDigit)
    rest = rest.dropFirst(digits.count)
    return digits.drop { $0 == UInt8(ascii: "0") }
  }
}

extension Sequence where Element: StringProtocol {
  /// The names in their natural order.
  func naturallySorted() -> [Element] { sorted { NaturalOrder.precedes($0, $1) } }
}
