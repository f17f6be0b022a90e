/// Options that are typed as far as their command needs: `get --fo` is `--format`, since `get` has no `--focus`.
enum Abbreviations {
  /// `arguments` with each abbreviation that stands for one option of their command in full.
  ///
  /// getopt completes the others, by the options of all commands.
  /// - Throws: `CommandError` for what stands for several options of the command.
  static func expanded(in arguments: [String]) throws(CommandError) -> [String] {
    guard let command = command(of: arguments) else { return arguments }
    let names = command.allOptions.map { "--" + $0.name }
    var result = arguments
    var index = 0
    while index < arguments.count, arguments[index] != "--" {
      let word = arguments[index]
      let name = String(word.prefix { $0 != "=" })
      if word.hasPrefix("--"), !Option.all.contains(where: { $0.isNamed(name) }) {
        let begun = names.filter { $0.hasPrefix(name) }
        if begun.count > 1 { throw ambiguous(name, begun) }
        if let whole = begun.first { result[index] = whole + word.dropFirst(name.count) }
      }
      index += takesNext(result[index]) ? 2 : 1
    }
    return result
  }

  static func ambiguous(_ name: String, _ names: [String]) -> CommandError {
    .usage("option '\(name)' is ambiguous: \(names.map { "'\($0)'" }.joined(separator: ", "))")
  }

  /// The command that is named first; nil if none is.
  private static func command(of arguments: [String]) -> Command? {
    var index = 0
    while index < arguments.count {
      let word = arguments[index]
      // An abbreviation that comes first may have an argument, too.
      if let command = CommandTable.commands.first(where: { $0.name == word }) { return command }
      index += takesNext(word) ? 2 : 1
    }
    return nil
  }

  /// Whether the argument after `word` is that of the option which `word` is.
  private static func takesNext(_ word: String) -> Bool {
    Option.all.contains { $0.argument != nil && $0.isNamed(word) }
  }
}
