/// The keys that run an item, as toolkits write them, shown as `Ctrl+Shift+Z`; empty if there are none.
package enum Accelerator {
  /// GTK's form, such as `<Primary><Shift>z`.
  package static func shown(gtk text: String) -> String {
    var modifiers: [Substring] = []
    var rest = text[...]
    while rest.first == "<", let end = rest.firstIndex(of: ">") {
      modifiers.append(rest[rest.index(after: rest.startIndex)..<end])
      rest = rest[end...].dropFirst()
    }
    return shown(modifiers, key: rest)
  }

  /// The key binding of AT-SPI: the mnemonic, the way from the menu bar and the accelerator, separated by `;`.
  ///
  /// Qt tells a single one: the accelerator, or else the mnemonic, such as `Alt+U`, which is no accelerator.
  package static func shown(atspi text: String) -> String {
    let parts = text.split(separator: ";", omittingEmptySubsequences: false)
    guard parts.count < 3 else { return shown(gtk: String(parts[2])) }
    guard parts.count == 1, let only = parts.first else { return "" }
    if only.first == "<" { return shown(gtk: text) }
    let shown = shown(qt: text)
    return isMnemonic(shown) ? "" : shown
  }

  /// Qt's form, such as `Ctrl+Shift+Z`; of several, separated by `, `, the first.
  package static func shown(qt text: String) -> String {
    let comma = zip(text.indices, zip(text, text.dropFirst())).first { $1 == (",", " ") }?.0
    let first = text[..<(comma ?? text.endIndex)]
    // The key itself may be a plus sign.
    let key = first.last == "+" ? "+" : first.split(separator: "+").last ?? ""
    let modifiers = first.dropLast(key.count).split(separator: "+")
    return shown(modifiers, key: key)
  }

  private static func isMnemonic(_ shown: String) -> Bool {
    let key = shown.hasPrefix("Alt+") ? shown.dropFirst(4) : shown[...]
    return key.count == 1
  }

  /// The modifiers in the order in which Qt shows them.
  private static let order = ["Super", "Ctrl", "Alt", "Shift"]

  private static func shown(_ modifiers: [Substring], key: Substring) -> String {
    let key = name(of: key)
    guard !key.isEmpty else { return "" }
    let modifiers = Set(modifiers.map(modifier))
    let known = order.filter(modifiers.contains)
    return (known + modifiers.subtracting(order).sorted() + [key]).joined(separator: "+")
  }

  private static func modifier(_ name: Substring) -> String {
    switch name.lowercased() {
    case "primary", "control", "ctrl", "ctl": "Ctrl"
    case "shift", "shft": "Shift"
    case "alt", "mod1": "Alt"
    case "super", "meta", "mod4": "Super"
    default: String(name)
    }
  }

  /// X's name of a key as a keyboard shows it.
  private static func name(of key: Substring) -> String {
    if key.utf8.count == 1 { return key.uppercased() }
    if let shown = names[key.lowercased()] { return shown }
    // `Page_Up`, `KP_Add`.
    return String(key.map { $0 == "_" ? " " : $0 })
  }

  private static let names = [
    "plus": "+", "minus": "-", "equal": "=", "comma": ",", "period": ".", "slash": "/", "backslash": "\\",
    "question": "?", "space": "Space", "return": "Return", "escape": "Esc", "delete": "Del", "del": "Del",
    "insert": "Ins", "ins": "Ins", "page_up": "PgUp", "page_down": "PgDown", "prior": "PgUp", "next": "PgDown",
    "backspace": "Backspace", "bracketleft": "[", "bracketright": "]", "semicolon": ";", "colon": ":",
    "apostrophe": "'", "grave": "`", "asterisk": "*", "numbersign": "#", "underscore": "_", "less": "<",
    "greater": ">", "kp_add": "Num++", "kp_subtract": "Num+-", "kp_0": "Num+0", "tab": "Tab", "iso_left_tab": "Tab",
  ]
}
