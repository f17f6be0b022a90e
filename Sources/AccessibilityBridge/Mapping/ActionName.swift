package import DBusTypes

/// The names of an element's actions as D-Bus members.
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

  /// The members of `names`, each with the index of the first action that has it.
  package static func members(_ names: [String]) -> [MemberName: Int32] {
    var members: [MemberName: Int32] = [:]
    for (index, name) in names.enumerated() {
      guard let member = member(name), members[member] == nil else { continue }
      members[member] = Int32(index)
    }
    return members
  }

  /// Which action turns a toggle on and off: the one that says so, else the first.
  package static func toggle(_ names: [String]) -> Int32? {
    let known: Set<String> = ["click", "toggle", "check", "uncheck", "press", "activate"]
    if let index = names.firstIndex(where: { known.contains($0.lowercased()) }) { return Int32(index) }
    return names.isEmpty ? nil : 0
  }
}
