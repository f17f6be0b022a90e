import DBusTypes

/// A key with its value, and optionally its type, in one line.
enum ValueLine {
  /// `KEY: VALUE (TYPE)` in at most `limit` columns: long keys lose their beginning, long values their end.
  static func text(_ key: String, _ value: String, type: DBusType?, _ limit: Int, on terminal: Terminal) -> String {
    let type = type.map { " (\($0))" } ?? ""
    func line(_ key: String, _ value: String, _ type: String) -> String {
      "\(key): \(value)" + Style.faint.applied(to: type, on: terminal)
    }
    let whole = key.utf8.count + 2 + TextWidth.columns(of: value) + type.utf8.count
    guard limit < Int.max, whole > limit else { return line(key, value, type) }
    let shortType = type.utf8.count > limit / 3 ? "" : type
    let room = max(0, limit - 2 - shortType.utf8.count)
    let key = TextWidth.fittedKey(key, max(room / 2, room - TextWidth.columns(of: value)))
    return line(key, TextWidth.fitted(value, room - TextWidth.columns(of: key)), shortType)
  }
}
