import DBus

/// One option of the command line.
struct Option: Hashable, Sendable {
  /// The long name, without the dashes.
  let name: String
  /// The short name, if it has one.
  let letter: Character?
  /// The placeholder for its argument, if it takes one.
  let argument: String?
  /// Its description, one line of the help, and of what it means for one command alone.
  private let general: String
  private let special: (command: String, summary: String)?

  private init(
    _ name: String, _ letter: Character? = nil, _ argument: String? = nil, _ summary: String,
    with special: (command: String, summary: String)? = nil
  ) {
    self.name = name
    self.letter = letter
    self.argument = argument
    general = summary
    self.special = special
  }

  /// Its description for all commands, or for the one named `command`.
  func summary(for command: String? = nil) -> String {
    guard let special else { return general }
    if command == nil { return "\(general); with '\(special.command)': \(special.summary)" }
    return special.command == command ? special.summary : general
  }

  static func == (left: Option, right: Option) -> Bool { left.name == right.name }

  func hash(into hasher: inout Hasher) { hasher.combine(name) }

  static let field = Option("field", nil, "ID", "use this field instead of the focused one")
  static let previous = Option(
    "previous", nil, nil, "use the field that previously had focus",
    with: ("activate", "the field before the first one"))
  static let json = Option("json", nil, nil, "print one JSON document per line, like 'busctl --json=short'")
  static let waybar = Option("waybar", nil, nil, "print one document per line for a custom module of waybar")
  static let format = Option("format", nil, "TEXT", "print lines of this form, such as '{key} is {value}'")
  static let everything = Option("all", nil, nil, "show the values of the session's fields too, and all fields")
  static let noPager = Option("no-pager", nil, nil, "do not show long output in a pager, such as less")
  static let least = Option("min", nil, "N", "the least that the result may be; what is less becomes N")
  static let most = Option("max", nil, "N", "the most that the result may be; what is more becomes N")
  static let next = Option("next", nil, nil, "the session field after the first one, by id; the first follows the last")
  static let label = Option("label", nil, "TEXT", "the field's display name (default: the id)")
  static let parent = Option("parent", nil, "ID", "the field that contains the new one (default: none, a scene)")
  static let scope = Option(
    "scope", nil, "field|scene|session",
    "when its keys resolve: with focus in the field (default), anywhere in its scene, or always; the nearer field wins")
  static let active = Option(
    "active", nil, "KEY=VALUE", "with '--scope session': the field is active while KEY has this value")
  static let readOnly = Option("read-only", nil, "KEY", "a key that only the owner may write; may be repeated")
  static let process = Option(
    "process", nil, "PID", "the process that the field belongs to (default: the one that started this)")
  static let sensitive = Option("sensitive", nil, nil, "hide the field's values; they can still be written")
  static let focus = Option(
    "focus", nil, nil, "give the new field focus at once", with: ("watch", "print the focused field's id"))
  static let command = Option("command", nil, "KEY[:SIGNATURE]", "a command of the field; may be repeated")
  static let service = Option("service", nil, "NAME", "the bus name of the object; 'NAME.*' for all names below NAME")
  static let object = Option("object", nil, "PATH", "the object's path")
  static let interface = Option(
    "interface", nil, "NAME", "expose this interface of the object (default: all); may be repeated")
  static let live = Option("live", nil, "KEY", "read this key from the object each time; may be repeated")
  static let ignore = Option(
    "ignore", nil, "NAME", "with 'NAME.*': leave out this name, or what follows 'NAME.'; may be repeated")
  static let config = Option(
    "config", nil, "SECTION", "also leave out what this section of focusd.conf names; with 'NAME.*'")
  static let start = Option("start", nil, nil, "have the bus start what owns the name")
  static let user = Option("user", nil, nil, "use the session bus (default)")
  static let system = Option("system", nil, nil, "use the system bus")
  static let address = Option(
    "address", nil, "A", "use the bus at the D-Bus address A, such as unix:path=/run/user/1000/bus")
  static let host = Option("host", "H", "HOST", "use the bus of another machine, over ssh: [USER@]HOST[:PORT]")
  static let timeout = Option(
    "timeout", nil, "SECONDS", "time limit for a reply (default: 25)",
    with: ("wait", "time limit for the key (default: none)"))
  static let help = Option("help", "h", nil, "show help, or a command's help, and exit")
  static let version = Option("version", nil, nil, "show the version and exit")

  /// The options that every command takes.
  static let general = [user, system, address, host, help, version]

  static let all =
    [
      field, previous, everything, json, waybar, format, noPager, least, most, next, label, parent, scope, active,
      readOnly, process,
      sensitive, focus, command, service, object, interface, live, ignore, config, start, timeout,
    ] + general

  /// Whether `word` is this option as it is typed: its long name, or its letter.
  func isNamed(_ word: some StringProtocol) -> Bool { word == "--" + name || letter.map { word == "-\($0)" } == true }
}

/// The values of the options of one call.
struct Options {
  var field: String?
  var previous = false
  var everything = false
  var json = false
  var waybar = false
  /// The format of a line, as typed.
  var format: String?
  var noPager = false
  /// The bounds of a result, as typed.
  var least: String?
  var most: String?
  var next = false
  var label: String?
  var parent: String?
  var scope: String?
  /// The condition under which a session field is active, as typed.
  var active: String?
  var readOnly: [String] = []
  /// The process that the field belongs to, as typed.
  var process: String?
  var sensitive = false
  var focus = false
  var commands: [String] = []
  var service: String?
  var object: String?
  var interfaces: [String] = []
  var live: [String] = []
  var ignored: [String] = []
  /// The section of the user's settings that has more of them.
  var config: String?
  var start = false
  var bus = Connection.Bus.session
  /// The machine whose bus to use, as typed; nil for this one.
  var host: String?
  /// The time limit, as typed.
  var timeout: String?
  var help = false
  var version = false

  /// The options in the order given.
  private(set) var given: [Option] = []

  mutating func set(_ option: Option, _ argument: String) {
    given.append(option)
    switch option {
    case .field: field = argument
    case .previous: previous = true
    case .everything: everything = true
    case .json: json = true
    case .waybar: waybar = true
    case .format: format = argument
    case .noPager: noPager = true
    case .least: least = argument
    case .most: most = argument
    case .next: next = true
    case .label: label = argument
    case .parent: parent = argument
    case .scope: scope = argument
    case .active: active = argument
    case .readOnly: readOnly.append(argument)
    case .process: process = argument
    case .sensitive: sensitive = true
    case .focus: focus = true
    case .command: commands.append(argument)
    case .service: service = argument
    case .object: object = argument
    case .interface: interfaces.append(argument)
    case .live: live.append(argument)
    case .ignore: ignored.append(argument)
    case .config: config = argument
    case .start: start = true
    case .user: bus = .session
    case .system: bus = .system
    case .address: bus = .address(argument)
    case .host: host = argument
    case .timeout: timeout = argument
    case .help: help = true
    case .version: version = true
    default: break
    }
  }
}
