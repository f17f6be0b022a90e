/// Tells which item of a window's menus is which standard command.
///
/// An item is told by its action's name, else by its label, else by its accelerator, but only in a menu that has Ctrl+X,
/// Ctrl+C and Ctrl+V. In doubt a command has no item.
package struct Recognition {
  private let catalogue: Catalogue

  /// - Parameter catalogue: The labels in the program's language.
  package init(catalogue: Catalogue) {
    self.catalogue = catalogue
  }

  /// The names of actions, without their group, that may be offered although no menu shows them.
  package static let standardActions = Set(StandardCommand.all.flatMap { $0.actions + $0.ambiguousActions })

  /// The name of `action` without its group: `undo` of `win.undo`.
  package static func name(ofAction action: String) -> String {
    for group in ["win.", "app."] where action.hasPrefix(group) { return String(action.dropFirst(group.count)) }
    return action
  }

  /// For each standard command that is among `items`, its whole key and the item's id.
  package func commands(in items: [MenuItem]) -> [String: String] {
    let menus = Menus(items.map(described))
    var found: [Int: Described] = [:]
    for command in StandardCommand.all.indices {
      found[command] = menus.named(command) ?? menus.labelled(command) ?? menus.structural(command)
    }
    // Forward without Back is a message's, and Reload alone reads a document again, without what was typed.
    if Self.navigation.prefix(2).contains(where: { found[$0] == nil }) {
      for command in Self.navigation { found[command] = nil }
    }
    var keys: [String: String] = [:]
    for (command, item) in found { keys[StandardCommand.all[command].key] = item.item.id }
    return keys
  }

  private static let navigation = StandardCommand.numbers("Navigation.Back", "Navigation.Forward", "Navigation.Reload")

  private func described(_ item: MenuItem) -> Described {
    let label = MenuLabel.plain(item.label)
    return Described(
      item: item, name: item.action.map(Self.name), labels: catalogue.commands(label: label),
      isAmbiguous: catalogue.isAmbiguous(label: label))
  }
}

/// An item with what it could be.
private struct Described {
  let item: MenuItem
  /// Its action's name, without the group.
  let name: String?
  /// The commands that its label stands for.
  let labels: Set<Int>
  /// Whether its label also stands for what is no standard command.
  let isAmbiguous: Bool

  /// The command that its action's name tells, unless its label tells another.
  var named: Int? {
    guard let name else { return nil }
    if let command = StandardCommand.byAction[name], labels.isEmpty || labels.contains(command) { return command }
    return labelled.flatMap { StandardCommand.all[$0].ambiguousActions.contains(name) ? $0 : nil }
  }

  /// The command that its label tells.
  var labelled: Int? {
    guard labels.count == 1, let command = labels.first, mayBe(command) else { return nil }
    // Of those in Edit, the menu tells.
    guard !isAmbiguous || StandardCommand.all[command].group == "Edit" || hasAccelerator(of: command) else {
      return nil
    }
    return command
  }

  private func mayBe(_ command: Int) -> Bool {
    item.isChecked == nil || StandardCommand.all[command].mayBeChecked
  }

  var hasEnglishLabel: Bool { StandardCommand.byLabel[MenuLabel.plain(item.label)] != nil }

  func hasAccelerator(of command: Int) -> Bool {
    StandardCommand.all[command].accelerators.contains(item.accelerator)
  }
}

/// The items of a window by menu.
private struct Menus {
  private let items: [Described]
  private let byMenu: [[String]: [Described]]
  /// What the items of each menu are called.
  private let commands: [[String]: Set<Int>]

  init(_ items: [Described]) {
    self.items = items
    byMenu = Dictionary(grouping: items, by: \.item.menus)
    commands = byMenu.mapValues { Set($0.compactMap { $0.labelled ?? $0.named }) }
  }

  /// The item whose action has the command's best name.
  func named(_ command: Int) -> Described? {
    let found = items.filter { $0.named == command }
    for name in StandardCommand.all[command].actions + StandardCommand.all[command].ambiguousActions {
      if let item = found.first(where: { $0.name == name }) { return item }
    }
    return nil
  }

  /// The only item with the command's label, in a menu that fits.
  func labelled(_ command: Int) -> Described? {
    var found = items.filter { $0.labelled == command && isInPlace($0, command) }
    if Self.count(found) > 1 { found = found.filter { $0.hasAccelerator(of: command) } }
    guard let first = found.first, Self.count(found) == 1 else { return nil }
    // Of two in one menu that look alike, only one can be run.
    let only = found.first(where: \.item.isEnabled) ?? first
    // A translated label may be that of something else in this program: then another item has the accelerator.
    if !only.hasEnglishLabel, !only.item.accelerator.isEmpty, !only.hasAccelerator(of: command),
      structural(command) != nil
    {
      return nil
    }
    return only
  }

  /// The only item with the command's accelerator in a menu that has Ctrl+X, Ctrl+C and Ctrl+V.
  func structural(_ command: Int) -> Described? {
    guard StandardCommand.all[command].group == "Edit" else { return nil }
    var found: [Described] = []
    for items in byMenu.values {
      let accelerators = Set(items.map(\.item.accelerator))
      guard accelerators.isSuperset(of: ["Ctrl+X", "Ctrl+C", "Ctrl+V"]) else { continue }
      found += items.filter { item in
        item.hasAccelerator(of: command) && item.item.isChecked == nil
          && (item.named ?? item.labelled ?? command) == command
      }
    }
    return Self.count(found) == 1 ? found.first : nil
  }

  /// How many items there are, one in several menus counted once.
  private static func count(_ items: [Described]) -> Int { Set(items.map { $0.item.twin ?? $0.item.id }).count }

  /// Whether the item's menu is one where its label means the command.
  private func isInPlace(_ item: Described, _ command: Int) -> Bool {
    guard let menu = item.item.menus.first.map({ _ in item.item.menus }) else { return false }
    switch StandardCommand.all[command].group {
    // What is opened or saved elsewhere, such as a list in a menu of lists, is no document.
    case "Document": return menu.count == 1 && hasSeveral(of: Self.ofDocument, in: menu)
    case "View": return menu.count <= 2
    // In a menu without the like it may copy something else than a text, such as a connection in Remmina.
    case "Edit" where Self.ofClipboard.contains(command) && !item.hasAccelerator(of: command),
      // Many languages have one word for Undo and Cancel, or for Redo and Revert.
      "Edit" where Self.ofHistory.contains(command) && !item.hasEnglishLabel && !item.hasAccelerator(of: command):
      return menu.count <= 1 && hasSeveral(of: Self.ofEdit, in: menu)
    default: return menu.count <= 1
    }
  }

  private func hasSeveral(of known: Set<Int>, in menu: [String]) -> Bool {
    (commands[menu] ?? []).intersection(known).count > 1
  }

  private static let ofEdit = Set(StandardCommand.numbers("Edit."))
  private static let ofClipboard = Set(StandardCommand.numbers("Edit.Cut", "Edit.Copy", "Edit.Paste"))
  private static let ofHistory = Set(StandardCommand.numbers("Edit.Undo", "Edit.Redo"))
  /// The commands that a menu *File* has.
  private static let ofDocument = Set(StandardCommand.numbers("Document.", "Application.Quit"))
}
