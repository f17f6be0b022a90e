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
    for name in names where name.count <= word.count + limit && word.count <= name.count + limit {
      let cost = cost(name, word)
      guard cost <= limit * mistake, cost < letters * mistake, cost < nearest?.cost ?? .max else { continue }
      nearest = (name, cost)
    }
    return nearest?.name
  }

  /// The number of insertions, deletions, substitutions and swaps of neighbours that turn `b` into `a`.
  static func distance(_ a: String, _ b: String) -> Int { cost(a, b, ofCase: mistake) / mistake }

  private static func cost(_ a: String, _ b: String, ofCase: Int = 1) -> Int {
    let a = Array(a)
    let b = Array(b)
    func change(_ x: Character, _ y: Character) -> Int {
      x == y ? 0 : x.lowercased() == y.lowercased() ? ofCase : mistake
    }
    var rows = [Array(stride(from: 0, through: b.count * mistake, by: mistake))]
    for i in 1..<(a.count + 1) {
      var row = [i * mistake]
      for j in 1..<(b.count + 1) {
        var least = rows[i - 1][j - 1] + change(a[i - 1], b[j - 1])
        least = min(least, rows[i - 1][j] + mistake, row[j - 1] + mistake)
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { least = min(least, rows[i - 2][j - 2] + mistake) }
        row.append(least)
      }
      rows.append(row)
    }
    return rows[a.count][b.count]
  }
}
