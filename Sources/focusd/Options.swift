@preconcurrency internal import CLinux
internal import DBus
internal import Glibc

/// The daemon's command line.
struct Options {
  enum Action {
    case serve
    case showHelp
    case showVersion
    case refuse(String)
  }

  var action = Action.serve
  var bus = Connection.Bus.session
  var isVerbose = false

  static let help = """
    focusd: mirrors what has focus on the session bus, as org.focusd.Focus1

    Usage: focusd [--verbose] [--address ADDRESS]

    The first call to it, or systemctl --user start focusd, starts the daemon. Each
    user session needs one. To see its fields: focusctl, or busctl --user tree
    org.focusd.Focus1.

      --address ADDRESS  the bus to serve on, such as unix:path=/run/user/1000/bus
                         (default: the session bus)
      --verbose          log each step to standard error, but never a value
      --help             print this and exit
      --version          print the version and exit

    Exit status: 0 terminated on request; 1 no bus, or the name is already owned;
    2 usage error.

    """

  private static let table: [(name: String, takesArgument: Bool, code: Int32)] = [
    ("address", true, 1), ("verbose", false, 2), ("help", false, 3), ("version", false, 4),
  ]

  /// Reads the process's arguments.
  static func parse(_ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Options {
    let names = table.map { strdup($0.name) }
    defer { for name in names { free(name) } }
    let table = zip(names, table).map { name, entry in
      option(name: name, has_arg: entry.takesArgument ? 1 : 0, flag: nil, val: entry.code)
    }
    var options = Options()
    opterr = 0
    while true {
      let word = Int(optind)
      // The colon makes getopt distinguish a missing argument from an unknown option.
      switch getopt_long(count, arguments, ":h", table + [option()], nil) {
      case -1:
        if let stray = text(arguments, Int(optind), below: count) {
          options.action = .refuse("unexpected argument '\(stray)'")
        }
        return options
      case 1: options.bus = .address(String(cString: optarg))
      case 2: options.isVerbose = true
      case 3, Int32(UInt8(ascii: "h")):
        options.action = .showHelp
        return options
      case 4:
        options.action = .showVersion
        return options
      case Int32(UInt8(ascii: ":")):
        options.action = .refuse("option '--address' requires an argument: the address of a bus")
        return options
      default:
        options.action = .refuse("unknown option '\(text(arguments, word, below: count) ?? "")'")
        return options
      }
    }
  }

  private static func text(
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, _ index: Int, below count: Int32
  ) -> String? {
    guard index < Int(count), let text = arguments[index] else { return nil }
    return String(cString: text)
  }
}
