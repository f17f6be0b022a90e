import DBus
import DBusTypes
import DaemonClient

/// The bridges, which show focusd the programs that do not know it.
struct Bridges {
  private static let all: [(unit: String, name: String, subject: String)] = [
    ("focusd-windows", "Windows", "windows"),
    ("focusd-accessibility", "Accessibility", "texts, sliders and check boxes"),
    ("focusd-menus", "Menus", "menus"),
    ("focusd-players", "Bind_player", "media players"),
  ]

  /// The names on the bus: each bridge that is on has one.
  private let names: Set<BusName>

  /// - Throws: `CommandError` if the bus does not answer.
  init(on daemon: DaemonConnection) throws(CommandError) {
    do { names = try daemon.connection.survey().names } catch { throw CommandError(error) }
  }

  /// Whether GNOME Shell has the extension that tells of its windows.
  var hasExtension: Bool { names.contains(BusName(known: "org.focusd.GNOMEShell1")) }

  /// Those that are off.
  private var off: [(unit: String, name: String, subject: String)] {
    Self.all.filter { !names.contains(BusName(known: "org.focusd.Bridge1.\($0.name)")) }
  }

  private func command(_ unit: String) -> String { "systemctl --user enable --now \(unit)" }

  /// A browser starts its own.
  private let browsers = (
    subject: "pages in Firefox and Chromium",
    command: "focusd-browser install-host, and the extension: focusd-browser(8)"
  )

  /// How those that are off are turned on, a line each.
  var overview: String {
    "Programs register fields, or bridges show those of programs that do not:\n\n"
      + Output.table((off.map { ($0.subject, command($0.unit)) } + [browsers]).map { ["  \($0)", $1] })
      + "\n'\(Program.name) register --help' describes how to create a field by hand.\n"
  }

  /// How those that are off are turned on, on one line.
  var sentence: String {
    let units = off.map { "\($0.unit) (\($0.subject))" }.joined(separator: ", ")
    return (units.isEmpty ? "" : "'\(command("UNIT"))' turns on a bridge that shows those of programs: \(units); ")
      + "focusd-browser(8) describes the one for \(browsers.subject); "
      + "'\(Program.name) register' creates one"
  }
}
