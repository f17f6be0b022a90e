import DBus
import DBusTypes
import DaemonClient
import FocusContract

/// The command that lists, runs and checks the items of menus.
enum Menus {
  static func menu(_ call: Invocation) throws(CommandError) {
    let menus = try MenuField(try call.connect(), call.options)
    let items = try menus.items()
    guard let word = call.operands.first else { return try list(items, isJSON: call.options.json) }
    guard !call.options.json else { throw .usage("'menu ITEM' does not take the option '--json'; 'menu' alone does") }
    guard !word.isEmpty else { throw .usage("ITEM is empty; '\(Program.name) menu' alone lists the items") }
    let item = try chosen(word, among: items)
    guard call.operands.count == 2, let state = call.operands.last else { return try menus.activate(item) }
    guard item.isChecked != nil else {
      throw .refused("'\(item.shownPath)' does not show that it can be checked; 'menu ITEM' without '\(state)' runs it")
    }
    switch state {
    case "on": try menus.check(item, true)
    case "off": try menus.check(item, false)
    case "toggle": try menus.activate(item)
    default: throw .usage("'menu ITEM' takes 'on', 'off' or 'toggle', not '\(state.excerpt)'")
    }
  }

  /// Prints a line for each item; those that are disabled are last.
  private static func list(_ items: [OfferedItem], isJSON: Bool) throws(CommandError) {
    if isJSON { return try Output.write(items.map { $0.json + "\n" }.joined()) }
    let ordered = items.filter(\.isEnabled) + items.filter { !$0.isEnabled }
    let counts = Dictionary(grouping: items) { [$0.path, $0.accelerator] }
    let lines = ordered.map { $0.line(isUnique: counts[[$0.path, $0.accelerator]]?.count == 1) + "\n" }
    try Output.write(lines.joined())
  }

  private static let mostCandidates = 5

  private static func chosen(_ word: String, among items: [OfferedItem]) throws(CommandError) -> OfferedItem {
    switch ItemChoice(word, among: items) {
    case .one(let item): return item
    case .several(let found):
      // Items with one path differ in their ids.
      let counts = Dictionary(grouping: found, by: \.path)
      let names = found.map { counts[$0.path]?.count == 1 ? $0.shownPath : Output.escaped($0.id) }
      let rest = names.count > mostCandidates ? " and \(names.count - mostCandidates) more" : ""
      let shown = names.prefix(mostCandidates).map { "'\($0)'" }.joined(separator: ", ")
      // The first of several with one path has that as its id.
      let hint =
        found.contains { $0.id == word } ? "; '\(Program.name) run \(MenuKey.activate) ID' takes each of these ids" : ""
      throw .refused("'\(word.excerpt)' is ambiguous: \(shown)\(rest)\(hint)")
    case .nothing:
      let near = Suggestion.nearest(to: word, among: items.map(\.label) + items.map(\.path))
      throw CommandError(
        .nothing,
        "no item '\(word.excerpt)' in these menus; "
          + (near.map { "did you mean '\(Output.escaped($0))'?" } ?? "'\(Program.name) menu' lists them"))
    }
  }
}

/// Where menus are called: the field that has them for a field, or for the focused one, whatever takes focus meanwhile.
struct MenuField {
  private let bindings: Bindings

  /// - Throws: `CommandError`; status 1 if nothing there has menus.
  init(_ daemon: DaemonConnection, _ options: Options) throws(CommandError) {
    let asked = try Bindings(daemon, options)
    let isFocused = asked.path == Focus1.focused
    var path = asked.path
    if isFocused { path = try daemon.ask(.focusedField()) ?? path }
    let fields = try FieldInfo.all(daemon)
    if let field = FocusPath(of: path, among: fields).fields.first(where: \.offersMenus)?.path {
      bindings = Bindings(daemon, field)
    } else if isFocused {
      // One of the session's, or none.
      bindings = asked
    } else if fields.contains(where: { $0.path == path }) {
      throw Self.nothing("neither the field '\(FieldID.id(path))' nor its scene")
    } else {
      throw CommandError(.nothing, Suggestion.noField(at: path, among: fields))
    }
  }

  func items() throws(CommandError) -> [OfferedItem] {
    guard let items = OfferedItem.items(try call(MenuKey.items)) else {
      throw .refused("the program's reply to \(MenuKey.items) is not a list of items, 'a(sasssbi)'")
    }
    return items
  }

  func activate(_ item: OfferedItem) throws(CommandError) { try call(MenuKey.activate, .string(item.id)) }

  func check(_ item: OfferedItem, _ isChecked: Bool) throws(CommandError) {
    try call(MenuKey.check, .string(item.id), .boolean(isChecked))
  }

  @discardableResult
  private func call(_ command: Key, _ arguments: DBusValue...) throws(CommandError) -> [DBusValue] {
    do {
      return try bindings.daemon.call(.command(command, arguments, at: bindings.path))
    } catch  where command == MenuKey.items && [Focus1.notFocused, .unknownMethod].contains(error.name) {
      throw Self.nothing("nothing that has focus")
    } catch {
      throw CommandError(error)
    }
  }

  private static func nothing(_ subject: String) -> CommandError {
    CommandError(
      .nothing,
      "\(subject) shows its menus; if focusd-menus(8) does not run: "
        + "'systemctl --user enable --now focusd-menus'")
  }
}

extension FieldInfo {
  fileprivate var offersMenus: Bool { commands.contains { $0.key == MenuKey.items.description } }
}
