import DBus
import DaemonClient
import FocusContract
import Glibc
import ProgramSupport

/// The program from its arguments to its exit status.
enum Program {
  static let name = "focusctl"

  /// Runs the command that the process's own arguments name.
  static func main() -> Status {
    StandardStreams.open()
    // If the reader closes the pipe, `write` fails, and the process continues.
    signal(SIGPIPE, SIG_IGN)
    do {
      try run(try processArguments())
      return .done
    } catch {
      if let message = error.message { Output.say(message) }
      return error.status
    }
  }

  private static func processArguments() throws(CommandError) -> [String] {
    var arguments: [String] = []
    guard !ProgramArguments.words.isEmpty else { throw .usage(ProgramArguments.unknown) }
    for (index, word) in ProgramArguments.words.enumerated().dropFirst() {
      guard let argument = String(validating: word, as: UTF8.self) else {
        throw .usage("argument \(index) is not valid UTF-8, which D-Bus requires")
      }
      arguments.append(argument)
    }
    return arguments
  }

  /// Runs the command that `arguments` name.
  static func run(_ arguments: [String]) throws(CommandError) {
    if arguments.first == Completion.word {
      try Output.write(Completion.text(of: Array(arguments.dropFirst())))
      return
    }
    let parsed = try ArgumentParser.parse(arguments)
    let options = parsed.options
    var operands = parsed.operands[...]
    if options.version { return try showVersion() }
    let word = operands.popFirst()
    if options.help { return try Help.show(word) }
    let command = try CommandTable.command(named: word)
    for option in options.given where !command.takes(option) { throw refusal(of: option, by: command) }
    guard command.operandCount.contains(operands.count) else {
      throw .usage(
        "\(command.described) takes \(command.operandCountText), but \(operands.count) "
          + "\(operands.count == 1 ? "was" : "were") given; usage: \(command.usage)")
    }
    try command.run(
      Invocation(operands: Array(operands), firstLiteral: parsed.firstLiteral - operands.startIndex, options: options))
  }
}

extension Program {
  /// Prints the version.
  static func showVersion() throws(CommandError) { try Output.write("\(name) \(Version.current)\n") }

  private static func refusal(of option: Option, by command: Command) -> CommandError {
    let start = "\(command.described) does not take the option '--\(option.name)'"
    return switch option {
    case .readOnly where ["register", "publish"].contains(command.name):
      .usage("\(start): the field has no owner afterwards, so anyone may write its keys; use 'hold'")
    case .timeout: .usage("\(start), as it waits for no reply; usage: \(command.usage)")
    default: .usage("\(start); usage: \(command.usage)")
    }
  }
}

/// The arguments of one call of a command.
struct Invocation {
  let operands: [String]
  /// The first operand that stood behind `--`.
  var firstLiteral = 0
  let options: Options

  /// Connects to the bus that the options name, with their time limit for the bus and the daemon if there is one.
  func connect(isTimed: Bool = true) throws(CommandError) -> DaemonConnection {
    try DaemonConnection.connect(try bus(), of: options.host, timeout: isTimed ? try timeout() : nil)
  }

  /// The bus that the options name.
  func bus() throws(CommandError) -> Connection.Bus {
    let buses = [Option.user, .system, .address].filter(options.given.contains)
    if buses.count > 1, buses != [.user, .address] {
      throw .usage("'--\(buses[0].name)' and '--\(buses[1].name)' cannot be combined: each names a bus")
    }
    guard let host = options.host else { return options.bus }
    guard !options.given.contains(.address) else { throw .usage("'--host' and '--address' cannot be combined") }
    return .address(try RemoteHost(host).address(ofSystemBus: options.bus == .system))
  }

  /// The time limit, if one was given.
  func timeout() throws(CommandError) -> Duration? {
    guard let text = options.timeout else { return nil }
    return try Timeout.read(text)
  }
}
