import DBusTypes
import FocusContract
import TestSupport
import Testing

@testable import FocusModel

/// Windows, two programs, and what the contract says of them, played as words: `w1+A` has the window `w1` adopt `A`'s
/// scenes as well, `!w1` focuses it, `a2` focuses a field, `-a2` blurs it, `~a2` removes it.
struct WindowStage {
  let model = FocusModel()
  let bridge: BusName
  let owners: [Character: BusName]

  init(windows: [String] = ["w1", "w2"]) throws {
    bridge = try BusName(":1.9")
    owners = ["a": try BusName(":1.1"), "b": try BusName(":1.2"), "w": bridge]
    model.setWindowBridge(bridge)
    for window in windows { try register(window) }
  }

  func owner(_ id: String) -> BusName { owners[id.first ?? "a"] ?? bridge }

  func register(
    _ id: String, in parent: String? = nil, _ values: [String: MarshalledValue] = [:], scope: Scope = .field,
    active: Activity.Condition? = nil
  ) throws {
    var options = FieldOptions()
    options.parent = try parent.map { try FieldID($0) }
    options.scope = scope
    options.active = active
    _ = try model.register(FieldID(id), keyed(values), options, owner: owner(id))
    _ = model.settle()
  }

  /// Plays one word after another.
  func play(_ words: String) throws {
    for word in words.split(separator: " ") { try play(word: String(word)) }
    _ = model.settle()
  }

  private func play(word: String) throws {
    let rest = String(word.dropFirst())
    switch word.first {
    case "!": try model.focus(FieldID(rest), by: bridge)
    case "-": try model.blur(FieldID(rest), by: owner(rest))
    case "~": try model.unregister(FieldID(rest), by: owner(rest))
    case "x":
      // The program, or the bridge, leaves.
      model.ownerLeft(owner(rest))
    default:
      if let plus = word.firstIndex(of: "+") {
        let adopted = word[word.index(after: plus)...].compactMap { owners[Character($0.lowercased())] }
        try model.adopt(Set(adopted), into: FieldID(String(word[..<plus])), by: bridge)
      } else if let slash = word.firstIndex(of: "/") {
        try register(
          String(word[word.index(after: slash)...]), in: slash == word.startIndex ? nil : String(word[..<slash]))
      } else {
        try model.focus(FieldID(word), by: owner(word))
      }
    }
  }

  var path: String { model.focusPath.map(\.text).joined(separator: " ") }

  var history: String { model.history.map(\.text).joined(separator: " ") }
}
