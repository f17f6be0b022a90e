/// Labels of menus, made comparable.
enum MenuLabel {
  /// Longer labels are no standard command's.
  static let longest = 96

  /// `label` in lower case, without the dots at its end and a mnemonic that it shows in parentheses, as in `元に戻す(U)`.
  static func plain(_ label: String) -> String {
    guard label.utf8.count <= longest else { return "" }
    var text = trimmed(label.lowercased()[...])
    if text.last == ")" {
      let head = text.dropLast(3)
      if text.dropFirst(head.count).first == "(", text.dropLast().last?.isASCII == true { text = trimmed(head) }
    }
    return String(text)
  }

  /// `message` of a catalogue, which has `mnemonic` before a letter, as `plain` returns it.
  static func plain(message: String, mnemonic: Unicode.Scalar) -> String {
    guard message.utf8.count <= longest else { return "" }
    return plain(MenuText.plain(message, mnemonic: mnemonic))
  }

  /// Whether `message`, the source of a translation, could be a label of `StandardCommand`'s.
  ///
  /// Catalogues have thousands of messages, and making a text of each would take tens of milliseconds.
  static func isKnown(_ message: ArraySlice<UInt8>) -> Bool {
    guard message.count <= longest else { return false }
    var letters: [UInt8] = []
    for byte in message {
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): letters.append(byte | 0x20)
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): letters.append(byte)
      default: break
      }
    }
    return knownLetters.contains(letters)
  }

  /// The letters and digits of those labels.
  private static let knownLetters = Set(
    (StandardCommand.all.flatMap(\.labels) + StandardCommand.otherLabels).map { label in
      label.utf8.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "%") }
    })

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop(while: \.isWhitespace)
    while let last = text.last, last == "." || last == "…" || last.isWhitespace { text.removeLast() }
    return text
  }
}
