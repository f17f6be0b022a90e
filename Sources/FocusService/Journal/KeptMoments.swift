internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// What happened when, as the columns of a field say it: words separated by spaces.
enum KeptMoments {
  /// `MOMENT`, when it was in front last, then `CONNECTION=MOMENT` for each that it adopted.
  static func text(of window: Window) -> String {
    ([String(window.lastInFront)] + window.adopted.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
      .joined(separator: " ")
  }

  /// - Throws: `SavedStateDamaged`, or an error for what is no name.
  static func window(_ text: String) throws -> Window {
    var words = text.split(separator: " ").map(String.init)
    guard !words.isEmpty else { throw SavedStateDamaged(description: "a saved window is empty") }
    var adopted: [BusName: UInt64] = [:]
    let front = try moment(words.removeFirst())
    for word in words {
      let (owner, moment) = try pair(word)
      adopted[try BusName(owner)] = moment
    }
    return Window(adopted: adopted, lastInFront: front)
  }

  /// `=MOMENT`, when a field was focused last.
  static func text(ofFocus moment: UInt64) -> String { "=\(moment)" }

  /// The last moment of words `OWNER=MOMENT`, of which version 0.2 kept several.
  /// - Throws: `SavedStateDamaged`.
  static func lastFocused(_ text: String) throws -> UInt64 {
    try text.split(separator: " ").reduce(0) { max($0, try pair(String($1)).1) }
  }

  /// `MOMENT`, then `active` and `activated` as far as the field is.
  static func text(of activity: Activity) -> String {
    ([String(activity.moment)] + (activity.isActive ? ["active"] : []) + (activity.isActivated ? ["activated"] : []))
      .joined(separator: " ")
  }

  /// - Throws: `SavedStateDamaged`.
  static func activity(_ text: String, _ condition: Activity.Condition?) throws -> Activity {
    let words = text.split(separator: " ").map(String.init)
    return Activity(
      condition, isActive: words.contains("active"), isActivated: words.contains("activated"),
      moment: try moment(words.first ?? ""))
  }

  private static func pair(_ word: String) throws -> (String, UInt64) {
    guard let equals = word.lastIndex(of: "=") else {
      throw SavedStateDamaged(description: "'\(word.excerpt)' is no name with a number")
    }
    return (String(word[..<equals]), try moment(String(word[word.index(after: equals)...])))
  }

  private static func moment(_ text: String) throws -> UInt64 {
    guard let moment = UInt64(text), moment < .max / 2 else {
      throw SavedStateDamaged(description: "'\(text.excerpt)' does not number an event")
    }
    return moment
  }
}
