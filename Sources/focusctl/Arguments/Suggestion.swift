/// Suggestions for mistyped names.
enum Suggestion {
  /// The one of `names` that is nearest to `word`, or nil if none is near.
  static func nearest(to word: String, among names: [String]) -> String? {
    let letters = word.drop { $0 == "-" }.count
    let limit = letters <= 2 ? 1 : letters <= 4 ? 2 : 3
    return names.map { (name: $0, distance: distance($0, word)) }
      .filter { $0.distance <= limit && $0.distance < letters }
      .min { $0.distance < $1.distance }?.name
  }

  /// The number of insertions, deletions, substitutions and swaps of neighbours that turn `b` into `a`.
  static func distance(_ a: String, _ b: String) -> Int {
    let a = Array(a)
    let b = Array(b)
    var rows = [Array(0...b.count)]
    for i in 1..<(a.count + 1) {
      var row = [i]
      for j in 1..<(b.count + 1) {
        let change = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
        var least = min(change, rows[i - 1][j] + 1, row[j - 1] + 1)
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { least = min(least, rows[i - 2][j - 2] + 1) }
        row.append(least)
      }
      rows.append(row)
    }
    return rows[a.count][b.count]
  }
}
