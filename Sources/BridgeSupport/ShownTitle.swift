/// A title as a program tells it of one of its windows, and as a window manager shows it.
package enum ShownTitle {
  /// What Qt puts between a title and the name of the program, which only the window manager is told.
  private static let separators = [" \u{2014} ", " \u{2013} ", " - "]

  /// Those of `pairs` whose titles are equal, else those of which the program's is the beginning.
  package static func fitting<Key>(_ pairs: [(key: Key, told: String, shown: String)]) -> [Key] {
    let pairs = pairs.filter { !$0.told.isEmpty }
    let equal = pairs.filter { $0.shown == $0.told || withoutNumber($0.shown) == $0.told }
    guard equal.isEmpty else { return equal.map(\.key) }
    return pairs.filter { pair in separators.contains { pair.shown.hasPrefix(pair.told + $0) } }.map(\.key)
  }

  /// KWin counts the windows of one title: `title <2>`.
  private static func withoutNumber(_ title: String) -> String {
    guard title.last == ">", let start = title.lastIndex(of: "<"), start > title.startIndex else { return title }
    let number = title[title.index(after: start)...].dropLast()
    let space = title.index(before: start)
    guard !number.isEmpty, number.allSatisfy(\.isWholeNumber), title[space] == " " else { return title }
    return String(title[..<space])
  }
}
