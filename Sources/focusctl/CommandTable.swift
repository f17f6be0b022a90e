import DBusTypes

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

  /// All options that it takes.
  var allOptions: [Option] { options + Option.general }

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
  private static let shape = [Option.label, .parent, .scope, .active]
  private static let unbounded = Int.max

  static let commands = [
    Command(
      nil, "", 0...0, "show the fields as a tree, those on the focus path in full",
      options: [.everything, .json, .noPager, .timeout], details: Help.tree, run: Listing.tree),
    Command(
      "list", "", 0...0, "list every field", options: [.json, .format, .noPager, .timeout], details: Help.list,
      run: Listing.list),
    Command("focused", "", 0...0, "print the id of the focused field", options: [.timeout], run: Listing.focused),
    Command(
      "get", "KEY[/POINTER]…", 0...unbounded, "print values, a line each",
      options: target + [.json, .format, .timeout], details: Help.get, run: Reading.get),
    Command(
      "set", "KEY[/POINTER] VALUE", 2...2, "write a value", options: target + [.timeout], details: Help.set,
      run: Writing.set),
    Command(
      "update", "KEY[/POINTER] EXPRESSION", 2...unbounded,
      "change a value relative to itself: +N -N *N /N toggle append TEXT next A B C…",
      options: target + [.least, .most, .timeout], details: Help.update, run: Writing.update),
    Command(
      "describe", "KEY", 1...1, "show where a key comes from and why, its type and who may write it",
      options: target + [.json, .timeout], details: Help.describe, run: Describing.describe),
    Command(
      "watch", "[KEY[/POINTER]…]", 0...unbounded, "print the current values, then a line for each change",
      options: target + [.focus, .json, .waybar, .format],
      details: Help.watch, run: Watching.watch),
    Command(
      "wait", "KEY[/POINTER]", 1...1, "wait until a key is not nil", options: [.timeout], details: Help.wait,
      run: Watching.wait),
    Command(
      "run", "COMMAND [ARGUMENT…]", 1...unbounded, "call a command and print its results",
      options: target + [.json, .timeout], details: Help.run, run: Dispatching.run),
    Command(
      "commands", "", 0...0, "list the commands that currently resolve", options: target + [.json, .noPager, .timeout],
      details: Help.commands, run: Dispatching.commands),
    Command(
      "menu", "[ITEM [on|off|toggle]]", 0...2, "list the items of the menus in front, run or check one",
      options: target + [.json, .timeout], details: Help.menu, run: Menus.menu),
    Command(
      "register", "ID KEY[:SIGNATURE]=VALUE…", 1...unbounded, "create a field that remains after the command exits",
      options: shape + [.sensitive, .focus, .timeout], details: Help.register, run: FieldMethods.register),
    Command(
      "hold", "[ID] KEY[:SIGNATURE]=VALUE…", 0...unbounded, "create a field that lives as long as the command",
      options: shape + [.command, .readOnly, .process, .sensitive, .focus], details: Help.hold, run: Holding.hold),
    Command(
      "bind", "ID --service NAME --object PATH", 1...1,
      "show an object of another program as a field, as long as the command lives",
      options: [.service, .object, .interface, .live, .command, .ignore, .config, .start] + shape, details: Help.bind,
      run: Binding.bind),
    Command(
      "activate", "ID | --next | --previous", 0...1, "put a session field first",
      options: [.next, .previous, .timeout],
      details: Help.activate, run: FieldMethods.activate),
    Command("unregister", "ID…", 1...unbounded, "remove fields", options: [.timeout], run: FieldMethods.unregister),
    Command(
      "focus", "ID", 1...1, "move focus to a field", options: [.timeout], details: Help.focus, run: FieldMethods.focus),
    Command(
      "blur", "ID", 1...1, "move focus from a field to the one that contains it", options: [.timeout],
      details: Help.blur, run: FieldMethods.blur),
    Command(
      "publish", "ID KEY[:SIGNATURE]=VALUE…", 2...unbounded, "add keys to a field or change them",
      options: [.timeout], details: Help.publish, run: FieldMethods.publish),
    Command(
      "withdraw", "ID KEY…", 2...unbounded, "remove keys from a field", options: [.timeout],
      details: Help.withdraw, run: FieldMethods.withdraw),
    Command("help", "[COMMAND]", 0...1, "show help, or a command's help") { call throws(CommandError) in
      try Help.show(call.operands.first)
    },
    Command("version", "", 0...0, "show the version") { _ throws(CommandError) in try Program.showVersion() },
  ]

  /// The command named `word`.
  /// - Throws: `CommandError` if there is no such command.
  static func command(named word: String?) throws(CommandError) -> Command {
    if let command = commands.first(where: { $0.name == word }) { return command }
    let word = word ?? ""
    if let near = Suggestion.nearest(to: word, among: commands.compactMap(\.name)) {
      throw .usage("unknown command '\(word.excerpt)'; did you mean '\(near)'?")
    }
    throw .usage("unknown command '\(word.excerpt)'; '\(Program.name) --help' lists them")
  }
}
