import DBus

/// One option of the command line.
struct Option: Hashable, Sendable {
  /// The long name, without the dashes.
  let name: String
  /// The short name, where it has one.
  let letter: Character?
  /// What its argument stands for, where it takes one.
  let argument: String?
  /// What it does, in a line of the help.
  let summary: String

  private init(_ name: String, _ letter: Character? = nil, _ argument: String? = nil, _ summary: String) {
    self.name = name
    self.letter = letter
    self.argument = argument
    self.summary = summary
  }

  static let field = Option("field", nil, "ID", "that field instead of the focused one")
  static let previous = Option("previous", nil, nil, "the field that held focus before")
  static let json = Option("json", nil, nil, "one JSON document a line, values as 'busctl --json=short' prints them")
  static let waybar = Option("waybar", nil, nil, "a document for a custom module of waybar a line")
  static let format = Option("format", nil, "TEXT", "a line with parts, such as '{key} is {value}'")
  static let label = Option("label", nil, "TEXT", "the field's name for people; the id where not given")
  static let parent = Option("parent", nil, "ID", "the field that contains the new one; a scene where not given")
  static let scope = Option(
    "scope", nil, "field|scene", "whether keys resolve with focus in the field, or anywhere in its scene")
  static let readOnly = Option("read-only", nil, "KEY", "a key that only the owner may write; may be repeated")
  static let sensitive = Option("sensitive", nil, nil, "show the field's values to nobody; writing them stays allowed")
  static let focus = Option("focus", nil, nil, "have the new field take focus at once")
  static let user = Option("user", nil, nil, "the session bus (default)")
  static let system = Option("system", nil, nil, "the system bus")
  static let address = Option(
    "address", nil, "A", "the bus at the D-Bus address A, such as unix:path=/run/user/1000/bus")
  static let host = Option("host", "H", "HOST", "the bus of that machine, over ssh: [USER@]HOST[:PORT]")
  static let timeout = Option("timeout", nil, "SECONDS", "wait no longer than that for an answer (25)")
  static let help = Option("help", "h", nil, "show help, or a command's help, and exit")
  static let version = Option("version", nil, nil, "show the version and exit")

  /// Those that every command takes.
  static let general = [user, system, address, host, timeout, help, version]

  static let all =
    [field, previous, json, waybar, format, label, parent, scope, readOnly, sensitive, focus] + general
}

/// What the options of one call say.
struct Options {
  var field: String?
  var previous = false
  var json = false
  var waybar = false
  /// The lines that the user wants, as typed.
  var format: String?
  var label: String?
  var parent: String?
  var scope: String?
  var readOnly: [String] = []
  var sensitive = false
  var focus = false
  var bus = Connection.Bus.session
  /// The machine whose bus it is, as typed; this one where nil.
  var host: String?
  /// How long to wait, as typed.
  var timeout: String?
  var help = false
  var version = false

  /// The options as they were given, in order.
  private(set) var given: [Option] = []

  mutating func set(_ option: Option, _ argument: String) {
    given.append(option)
    switch option {
    case .field: field = argument
    case .previous: previous = true
    case .json: json = true
    case .waybar: waybar = true
    case .format: format = argument
    case .label: label = argument
    case .parent: parent = argument
    case .scope: scope = argument
    case .readOnly: readOnly.append(argument)
    case .sensitive: sensitive = true
    case .focus: focus = true
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
