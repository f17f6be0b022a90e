/// The bridges, which show focusd the programs that do not know it.
enum Bridges {
  private static let all: [(unit: String, subject: String)] = [
    ("focusd-windows", "windows"),
    ("focusd-accessibility", "texts, sliders and check boxes"),
    ("focusd-menus", "menus"),
    ("focusd-players", "media players"),
  ]

  private static func command(_ unit: String) -> String { "systemctl --user enable --now \(unit)" }

  /// A browser starts its own.
  private static let browsers = (
    subject: "pages in Firefox and Chromium",
    command: "focusd-browser install-host, and the extension: focusd-browser(8)"
  )

  /// How each is turned on, a line each.
  static var overview: String {
    "Programs register fields, or bridges show those of programs that do not:\n\n"
      + Output.table((all.map { ($0.subject, command($0.unit)) } + [browsers]).map { ["  \($0)", $1] })
      + "\n'\(Program.name) register --help' describes how to create a field by hand.\n"
  }

  /// How each is turned on, on one line.
  static var sentence: String {
    let names = all.map { "\($0.unit) (\($0.subject))" }.joined(separator: ", ")
    return "'\(command("UNIT"))' turns on a bridge that shows those of programs: \(names); "
      + "focusd-browser(8) describes the one for \(browsers.subject); "
      + "'\(Program.name) register' creates one"
  }
}
