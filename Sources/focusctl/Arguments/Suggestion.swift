/// Suggestions for mistyped names.
enum Suggestion {
  /// What one mistake costs; a letter in the wrong case costs less than any.
  private static let mistake = 2

  /// The one of `names` that is nearest to `word`, or nil if none is near.
  static func nearest(to word: String, among names: [String]) -> String? {
    let letters = word.drop { $0 == "-" }.count
    let limit = letters <= 2 ? 1 : letters <= 4 ? 2 : 3
    // What is longer than any name is not one, and would take its time.
    let length = word.utf8.count
    guard length <= (names.lazy.map(\.utf8.count).max() ?? 0) + 4 * limit else { return nil }
    var nearest: (name: String, cost: Int)?
    let typed = split(word)
    for name in names {
      let known = split(name)
      guard abs(known.count - typed.count) <= limit else { continue }
      let cost = Self.cost(known, typed, limit: limit * mistake)
      guard cost <= limit * mistake, cost < letters * mistake, cost < nearest?.cost ?? .max else { continue }
      nearest = (name, cost)
    }
    return nearest?.name
  }

  private typealias Letter = (own: Character, lowercased: String)

  private static func split(_ text: String) -> [Letter] { text.map { ($0, $0.lowercased()) } }

  /// What the insertions, deletions, substitutions and swaps of neighbours cost that turn `b` into `a`, or more than `limit` if that is exceeded.
  private static func cost(_ a: [Letter], _ b: [Letter], limit: Int) -> Int {
    func change(_ x: Letter, _ y: Letter) -> Int {
      x.own == y.own ? 0 : x.lowercased == y.lowercased ? 1 : mistake
    }
    var rows = [Array(stride(from: 0, through: b.count * mistake, by: mistake))]
    for i in 1..<(a.count + 1) {
      var row = [i * mistake]
      for j in 1..<(b.count + 1) {
        var least = rows[i - 1][j - 1] + change(a[i - 1], b[j - 1])
        least = min(least, rows[i - 1][j] + mistake, row[j - 1] + mistake)
        if i > 1, j > 1, a[i - 1].own == b[j - 2].own, a[i - 2].own == b[j - 1].own {
          least = min(least, rows[i - 2][j - 2] + mistake)
        }
        row.append(least)
      }
      // A swap looks two rows back, and costs one mistake.
      if let least = row.min(), let before = rows[i - 1].min(), min(least, before) > limit { return least }
      rows.append(row)
    }
    return rows[a.count][b.count]
  }
}
