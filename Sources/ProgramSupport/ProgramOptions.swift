@preconcurrency internal import CLinux
internal import Glibc

/// The command line of a program that serves until it is ended: `getopt_long(3)`.
package struct ProgramOptions {
  /// An option of the program, without its two hyphens; each program has `help` and `version` as well.
  package struct Option {
    let name: String
    let argument: String?

    /// An option that takes no argument if `argument` is nil, else one that is described so, such as `the address of a bus`.
    package init(_ name: String, argument: String? = nil) {
      self.name = name
      self.argument = argument
    }
  }

  /// What the arguments ask for.
  package enum Action: Equatable {
    case serve
    case showHelp
    case showVersion
    /// A usage error, and what is wrong.
    case refuse(String)
  }

  package private(set) var action = Action.serve
  private var values: [String: [String]] = [:]

  /// Whether the option was given.
  package func contains(_ name: String) -> Bool { values[name] != nil }

  /// The arguments of each time that the option was given, in order.
  package func arguments(of name: String) -> [String] { values[name] ?? [] }

  /// Reads the process's arguments.
  package init(_ options: [Option]) {
    let words = ProgramArguments.texts
    self.init(options, words)
    if words.isEmpty { action = .refuse(ProgramArguments.unknown) }
  }

  /// Reads `words`, of which the first is the program's name.
  package init(_ options: [Option], _ words: [String]) {
    let options = options + [Option("help"), Option("version")]
    let names = options.map { strdup($0.name) }
    let arguments = words.map { strdup($0) }
    defer { for text in names + arguments { free(text) } }
    let table = zip(names, options).enumerated().map { index, entry in
      option(name: entry.0, has_arg: entry.1.argument == nil ? 0 : 1, flag: nil, val: Int32(index) + 256)
    }
    opterr = 0
    // Zero makes getopt begin anew.
    optind = 0
    var vector = arguments + [nil]
    let count = Int32(arguments.count)
    while action == .serve {
      let word = max(Int(optind), 1)
      // The colon makes getopt distinguish a missing argument from an unknown option.
      let code = getopt_long(count, &vector, ":h", table + [option()], nil)
      switch code {
      case -1:
        if words.indices.contains(Int(optind)), let stray = vector[Int(optind)] {
          action = .refuse("unexpected argument '\(String(cString: stray))'")
        }
        return
      case Int32(UInt8(ascii: "h")): action = .showHelp
      case Int32(UInt8(ascii: ":")):
        let index = Int(optopt) - 256
        let missing = options.indices.contains(index) ? options[index] : Option("")
        action = .refuse("option '--\(missing.name)' requires an argument: \(missing.argument ?? "")")
      case 256..<Int32(256 + options.count):
        switch options[Int(code) - 256].name {
        case "help": action = .showHelp
        case "version": action = .showVersion
        case let name: values[name, default: []] += optarg.map { [String(cString: $0)] } ?? [""]
        }
      default:
        action = .refuse("unknown option '\(words.indices.contains(word) ? words[word] : "")'")
      }
    }
  }
}
