import DBus
import FocusClient
import FocusContract
import Glibc

/// The program from its arguments to its exit status.
enum Program {
  static let name = "focusctl"

  /// Runs what the process's own arguments ask for.
  static func main() -> Status {
    // A reader that has gone is an error of `write`, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    do {
      try run(try processArguments())
      return .done
    } catch {
      if let message = error.message { Output.writeError("\(name): \(Output.oneLine(message))\n") }
      return error.status
    }
  }

  private static func processArguments() throws(CommandError) -> [String] {
    var arguments: [String] = []
    for index in 1..<max(1, Int(CommandLine.argc)) {
      guard let raw = CommandLine.unsafeArgv[index] else { break }
      guard let argument = String(validatingCString: raw) else {
        throw .usage("argument \(index) is not valid UTF-8, which D-Bus requires of all text")
      }
      arguments.append(argument)
    }
    return arguments
  }

  /// Runs what `arguments` ask for.
  static func run(_ arguments: [String]) throws(CommandError) {
    if arguments.first == Completion.word {
      try Output.write(Completion.text(of: Array(arguments.dropFirst())))
      return
    }
    let parsed = try ArgumentParser.parse(arguments)
    let options = parsed.options
    var operands = parsed.operands[...]
    if options.version {
      try Output.write("\(name) \(Version.current)\n")
      return
    }
    let word = operands.popFirst()
    if word == nil, options.help {
      try Output.write(Help.fitted(Help.overview, Terminal.output.columns))
      return
    }
    let command = try CommandTable.command(named: word)
    if options.help {
      try Output.write(Help.fitted(Help.text(of: command), Terminal.output.columns))
      return
    }
    for option in options.given where !command.takes(option) {
      throw .usage("\(command.described) takes no option '--\(option.name)'; usage: \(command.usage)")
    }
    guard command.operandCount.contains(operands.count) else {
      throw .usage(
        "\(command.described) takes \(command.operandCountText), and \(operands.count) "
          + "\(operands.count == 1 ? "was" : "were") given; usage: \(command.usage)")
    }
    try command.run(Invocation(operands: Array(operands), options: options))
  }
}

/// What a command is called with.
struct Invocation {
  let operands: [String]
  let options: Options

  /// Connects to the bus that the options name; it, and the daemon, may take as long to answer as they say, if they are to.
  func connect(isTimed: Bool = true) throws(CommandError) -> DaemonConnection {
    let timeout = isTimed ? try timeout() : nil
    guard let host = options.host else { return try DaemonConnection.connect(options.bus, timeout: timeout) }
    guard !options.given.contains(.address) else { throw .usage("'--host' and '--address' exclude each other") }
    let address = try RemoteHost(host).address(ofSystemBus: options.bus == .system)
    return try DaemonConnection.connect(.address(address), of: host, timeout: timeout)
  }

  /// The time limit, where one was given.
  func timeout() throws(CommandError) -> Duration? {
    guard let text = options.timeout else { return nil }
    return try Timeout.read(text)
  }
}
