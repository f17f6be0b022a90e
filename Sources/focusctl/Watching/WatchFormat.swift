/// How changes are written.
struct WatchFormat {
  let json: Bool
  /// Whether one key alone is watched, so that lines need not say which.
  let bare: Bool

  /// The line for `change`, with its end.
  func line(_ change: WatchState.Change) -> String {
    if json {
      let value = change.value.map(JSONWriter.document) ?? "null"
      return (bare ? value : JSONWriter.object([("key", JSONWriter.string(change.key)), ("value", value)])) + "\n"
    }
    let value = change.value.map(ValueText.line) ?? "nil"
    return bare ? "\(value)\n" : "\(change.key) \(value)\n"
  }
}
