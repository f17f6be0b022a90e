@preconcurrency import CLinux
import DBusTypes
import Glibc

/// The parsed arguments of a call.
struct ParsedArguments {
  /// The command and its operands.
  var operands: [String] = []
  /// The first of them that stood behind `--`, and is taken as it is.
  var firstLiteral = 0
  var options = Options()
}

/// Reads arguments by `getopt_long(3)`: options may stand anywhere, and end at `--`.
///
/// Unlike plain getopt, it takes a negative number as an operand.
enum ArgumentParser {
  /// Parses `arguments`, without the program's name; getopt allows only one thread at a time.
  /// - Throws: `CommandError` for an unknown option, a missing argument, or an argument for an option without one.
  static func parse(_ arguments: [String]) throws(CommandError) -> ParsedArguments {
    let expanded = try Abbreviations.expanded(in: arguments)
    // Those that come first are taken here: getopt must have started before its index may change.
    let numbers = expanded.prefix(while: isNegativeNumber)
    var parsed = try parse(expanded: Array(expanded.dropFirst(numbers.count)))
    parsed.operands = numbers + parsed.operands
    parsed.firstLiteral += numbers.count
    return parsed
  }

  private static func parse(expanded arguments: [String]) throws(CommandError) -> ParsedArguments {
    // Reports each operand in order as the argument of option 1, and prints no errors.
    var letters = "-:"
    var long: [option] = []
    for (index, each) in Option.all.enumerated() {
      let takesArgument = each.argument == nil ? no_argument : required_argument
      if let letter = each.letter { letters += takesArgument == required_argument ? "\(letter):" : "\(letter)" }
      long.append(option(name: strdup(each.name), has_arg: takesArgument, flag: nil, val: firstCode + Int32(index)))
    }
    long.append(option())
    let vector = ([Program.name] + arguments).map { strdup($0) } + [nil]
    defer {
      for each in long { free(UnsafeMutablePointer(mutating: each.name)) }
      for word in vector { free(word) }
    }

    var parsed = ParsedArguments()
    // 0 makes glibc start over.
    optind = 0
    while true {
      let position = max(1, Int(optind))
      if position <= arguments.count, isNegativeNumber(arguments[position - 1]) {
        parsed.operands.append(arguments[position - 1])
        optind += 1
        continue
      }
      let code = getopt_long(Int32(arguments.count + 1), vector, letters, long, nil)
      switch code {
      case -1:
        parsed.firstLiteral = parsed.operands.count
        parsed.operands += arguments.dropFirst(Int(optind) - 1)
        return parsed
      case 1: parsed.operands.append(optarg.map { String(cString: $0) } ?? "")
      case Int32(UInt8(ascii: ":")): throw missingArgument(arguments, at: Int(optind) - 1)
      case Int32(UInt8(ascii: "?")): throw unknown(arguments, at: position)
      default:
        guard let each = Option.all.first(where: { self.code(of: $0) == code || $0.letter.flatMap(Self.code) == code })
        else { continue }
        parsed.options.set(each, optarg.map { String(cString: $0) } ?? "")
      }
    }
  }

  private static let firstCode: Int32 = 256

  private static func code(of option: Option) -> Int32 {
    firstCode + Int32(Option.all.firstIndex(of: option) ?? 0)
  }

  private static func code(_ letter: Character) -> Int32? { letter.asciiValue.map(Int32.init) }

  /// Whether `word` is a negative number, which getopt would parse as option letters.
  static func isNegativeNumber(_ word: String) -> Bool {
    guard word.hasPrefix("-") else { return false }
    let rest = word.dropFirst()
    if let first = rest.utf8.first, isDigit(first) { return true }
    return rest.hasPrefix(".") || rest == "inf"
  }

  private static func missingArgument(_ arguments: [String], at position: Int) -> CommandError {
    let word = arguments[position - 1]
    let argument = Option.all.first { $0.isNamed(word) }?.argument ?? "argument"
    return .usage("option '\(word.excerpt)' requires an argument: \(argument)")
  }

  private static func unknown(_ arguments: [String], at position: Int) -> CommandError {
    let word = arguments[position - 1]
    let name = String(word.prefix { $0 != "=" })
    let names = Option.all.map { "--" + $0.name }
    let begun = names.filter { $0.hasPrefix(name) }
    if begun == [name], word != name { return .usage("option '\(name.excerpt)' takes no argument") }
    if begun.count > 1, name.hasPrefix("--") { return Abbreviations.ambiguous(name, begun) }
    if let near = Suggestion.nearest(to: name, among: names) {
      return .usage("unknown option '\(name.excerpt)'; did you mean '\(near)'?")
    }
    return .usage("unknown option '\(word.excerpt)'; put '--' before an operand that begins with '-'")
  }
}
