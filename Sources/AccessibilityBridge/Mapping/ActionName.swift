package import DBusTypes
package import FocusContract

/// The names of an element's actions as commands.
package enum ActionName {
  /// The most actions of one element.
  package static let limit = 32

  /// `name` in ASCII letters and digits, each word with a capital first; nil if nothing is left of it.
  package static func member(_ name: String) -> MemberName? {
    var text = ""
    var startsWord = true
    for scalar in name.unicodeScalars.prefix(128) {
      guard scalar.isASCII, scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) else {
        startsWord = true
        continue
      }
      if startsWord { text += scalar.properties.uppercaseMapping } else { text.unicodeScalars.append(scalar) }
      startsWord = false
    }
    if let first = text.utf8.first, first < UInt8(ascii: "A") { text = "_" + text }
    return try? MemberName(text)
  }

  /// GTK 4's names for the commands that every editor has.
  private static let editing = [
    "text.undo": ElementKey.undo, "text.redo": ElementKey.redo, "clipboard.cut": ElementKey.cut,
    "clipboard.copy": ElementKey.copy, "clipboard.paste": ElementKey.paste,
    "selection.select-all": ElementKey.selectAll,
  ]
  private static let history: Set = [ElementKey.undo, ElementKey.redo]
  /// Those that leave the text as it is.
  private static let reading: Set = [ElementKey.copy, ElementKey.selectAll]
  /// Those that put a part of the text on the clipboard, where anybody reads it.
  private static let copying: Set = [ElementKey.copy, ElementKey.cut]

  /// Whether they are an editor's actions, which are listed only while they can be run.
  package static func areEditing(_ names: [String]) -> Bool { names.contains { editing[$0] != nil } }

  /// The commands of an element whose actions have these names.
  package static func commands(_ names: [String], isEditable: Bool, isSecret: Bool) -> Set<Key> {
    var standard = Set(names.compactMap { editing[$0] }.filter { isEditable || reading.contains($0) })
    // What was undone can be redone: one comes with the other, which cannot be run at the moment.
    if !standard.isDisjoint(with: history) { standard.formUnion(history) }
    if isSecret { standard.subtract(copying) }
    let others = names.filter { editing[$0] == nil }.compactMap(member).map(ElementKey.action)
    return standard.union(others.filter { index(of: $0, among: names) != nil })
  }

  /// The first action that is the command `key`; nil if names that differ in more than case would be.
  package static func index(of key: Key, among names: [String]) -> Int32? {
    let isEditing = editing.values.contains(key)
    let found = names.indices.filter {
      isEditing ? editing[names[$0]] == key : member(names[$0]).map(ElementKey.action) == key
    }
    guard let first = found.first,
      found.allSatisfy({ isEditing || names[$0].lowercased() == names[first].lowercased() })
    else { return nil }
    return Int32(first)
  }

  /// Which action turns a toggle on and off: the one that says so, else the only one.
  package static func toggle(_ names: [String]) -> Int32? {
    let known: Set<String> = ["click", "toggle", "check", "uncheck", "press", "activate"]
    if let index = names.firstIndex(where: { known.contains($0.lowercased()) }) { return Int32(index) }
    return names.count == 1 ? 0 : nil
  }

  /// The action that moves a range by a step of its own, up or down; Qt's `Increase` goes one further than that.
  package static func step(_ names: [String], isUp: Bool) -> Int32? {
    names.firstIndex { $0.lowercased() == (isUp ? "increment" : "decrement") }.map { Int32($0) }
  }
}
