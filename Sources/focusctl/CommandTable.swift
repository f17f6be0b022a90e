/// One command of the command line.
struct Command: Sendable {
  /// Its name; nil for the call without a command.
  let name: String?
  /// Its operands, as the help shows them.
  let operands: String
  /// How many operands it takes.
  let operandCount: ClosedRange<Int>
  /// Its description in one line.
  let summary: String
  /// The options that it takes in addition to the general ones.
  let options: [Option]
  /// The further text of its own help, in whole lines.
  let details: String
  let run: @Sendable (Invocation) throws(CommandError) -> Void

  init(
    _ name: String?, _ operands: String, _ operandCount: ClosedRange<Int>, _ summary: String,
    options: [Option] = [], details: String = "",
    run: @escaping @Sendable (Invocation) throws(CommandError) -> Void
  ) {
    self.name = name
    self.operands = operands
    self.operandCount = operandCount
    self.summary = summary
    self.options = options
    self.details = details
    self.run = run
  }

  func takes(_ option: Option) -> Bool { options.contains(option) || Option.general.contains(option) }

  /// The command, for use in a sentence.
  var described: String { name.map { "'\($0)'" } ?? "'\(Program.name)' alone" }

  /// The command with its operands.
  var synopsis: String { [name, operands].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: " ") }

  /// Its usage in one line.
  var usage: String {
    [Program.name, name ?? "", options.isEmpty ? "" : "[OPTION…]", operands].filter { !$0.isEmpty }
      .joined(separator: " ")
  }

  var operandCountText: String {
    let least = operandCount.lowerBound
    let most = operandCount.upperBound
    func operands(_ count: Int) -> String { count == 1 ? "1 operand" : "\(count) operands" }
    if least == most { return least == 0 ? "no operands" : operands(least) }
    return most == .max ? "\(operands(least)) or more" : "\(least) to \(operands(most))"
  }
}

/// All commands, in the order in which the help lists them.
enum CommandTable {
  private static let target = [Option.field, .previous]
  private static let unbounded = Int.max

  static let commands = [
    Command(
      nil, "", 0...0, "show the fields as a tree, those on the focus path in full", options: [.json],
      details: Help.tree,
      run: Listing.tree),
    Command("list", "", 0...0, "list every field", options: [.json, .format], details: Help.list, run: Listing.list),
    Command(
      "get", "KEY[/POINTER]", 1...1, "print a value", options: target + [.json, .format], details: Help.get,
      run: ReadingAndWriting.get),
    Command(
      "set", "KEY[/POINTER] VALUE", 2...2, "write a value", options: target, details: Help.set,
      run: ReadingAndWriting.set),
    Command(
      "update", "KEY[/POINTER] EXPRESSION", 2...3, "change a value relative to itself: +N -N *N /N toggle append TEXT",
      options: target, details: Help.update, run: ReadingAndWriting.update),
    Command(
      "watch", "[KEY[/POINTER]…]", 0...unbounded, "print the current values, then a line for each change",
      options: target + [.json, .waybar, .format],
      details: Help.watch, run: Watching.watch),
    Command("wait", "KEY[/POINTER]", 1...1, "wait until a key is not nil", details: Help.wait, run: Watching.wait),
    Command(
      "run", "COMMAND [ARGUMENT…]", 1...unbounded, "call a command and print its results", options: target + [.json],
      details: Help.run, run: Dispatching.run),
    Command(
      "commands", "", 0...0, "list the commands that currently resolve", options: target + [.json],
      details: Help.commands, run: Dispatching.commands),
    Command(
      "register", "ID KEY[:SIGNATURE]=VALUE…", 1...unbounded, "create a field that remains after the command exits",
      options: [.label, .parent, .scope, .active, .readOnly, .sensitive, .focus], details: Help.register,
      run: FieldMethods.register),
    Command("unregister", "ID…", 1...unbounded, "remove fields", run: FieldMethods.unregister),
    Command("focus", "ID", 1...1, "move focus to a field", run: FieldMethods.focus),
    Command(
      "blur", "ID", 1...1, "move focus from a field to the one that contains it", details: Help.blur,
      run: FieldMethods.blur),
    Command(
      "publish", "ID KEY[:SIGNATURE]=VALUE…", 2...unbounded, "add keys to a field or change them",
      options: [.readOnly], details: Help.publish, run: FieldMethods.publish),
    Command("withdraw", "ID KEY…", 2...unbounded, "remove keys from a field", run: FieldMethods.withdraw),
  ]

  /// The command named `word`.
  /// - Throws: `CommandError` if there is no such command.
  static func command(named word: String?) throws(CommandError) -> Command {
    if let command = commands.first(where: { $0.name == word }) { return command }
    let word = word ?? ""
    if let near = Suggestion.nearest(to: word, among: commands.compactMap(\.name)) {
      throw .usage("unknown command '\(word)'; did you mean '\(near)'?")
    }
    throw .usage("unknown command '\(word)'; '\(Program.name) --help' lists them")
  }
}
