internal import DBus
internal import DBusTypes

/// An action as `org.gtk.Actions` describes it: `(bgav)`.
struct GTKAction: Equatable {
  var isEnabled: Bool
  /// The signature of its parameter; empty without one.
  let parameter: String
  var state: DBusValue?

  /// Nil for a value of another form.
  init?(_ value: DBusValue?) {
    guard case .structure(let members)? = value, members.count == 3, case .boolean(let isEnabled) = members[0],
      case .signature(let parameter) = members[1], case .array(let state) = members[2]
    else { return nil }
    (self.isEnabled, self.parameter, self.state) = (isEnabled, parameter.text, state.first?.variantContent)
  }

  /// The actions that `DescribeAll` answers; nil for another answer.
  static func all(in value: DBusValue?) -> [String: GTKAction]? {
    guard case .dictionary(let dictionary)? = value else { return nil }
    var actions: [String: GTKAction] = [:]
    for entry in dictionary.entries.prefix(GTKMenus.actionLimit) {
      if case .string(let name) = entry.key, let action = GTKAction(entry.value) { actions[name] = action }
    }
    return actions
  }
}

extension [String: GTKAction] {
  /// Applies the arguments of `Changed`, `as a{sb} a{sv} a{s(bgav)}`, in their order; nothing if they are of another form.
  /// - Returns: The names of those that are added.
  @discardableResult
  mutating func apply(_ changes: [DBusValue]) -> [String] {
    guard changes.count == 4, case .array(let removed) = changes[0], case .dictionary(let enabled) = changes[1],
      case .dictionary(let states) = changes[2], let added = GTKAction.all(in: changes[3])
    else { return [] }
    for case .string(let name) in removed { self[name] = nil }
    for entry in enabled.entries {
      if case .string(let name) = entry.key, case .boolean(let isEnabled) = entry.value {
        self[name]?.isEnabled = isEnabled
      }
    }
    for entry in states.entries {
      if case .string(let name) = entry.key { self[name]?.state = entry.value.variantContent }
    }
    for (name, action) in added where count < GTKMenus.actionLimit { self[name] = action }
    return Array(added.keys)
  }
}

/// An item of a menu, and the action that it stands for.
struct GTKItem: Equatable {
  var item: MenuItem
  /// What the action's name begins with: `win` or `app`.
  let group: String
  let name: String
  let target: DBusValue?
  /// The group of menus that it is in; nil if it is in none.
  var menu: UInt32?
  /// The actions that are set while the menus are open that the item is in, each with its group.
  var openers: [String] = []

  /// The item as `action` says; nil: that is not there.
  func updated(_ action: GTKAction?) -> MenuItem {
    var item = item
    item.isEnabled = action?.isEnabled == true
    switch (action?.state, target) {
    case (let state?, let target?): item.isChecked = state == target
    case (.boolean(let isOn)?, nil): item.isChecked = isOn
    default: item.isChecked = nil
    }
    return item
  }
}

/// The menus of a program, as `org.gtk.Menus` tells them: numbered groups of numbered lists of items.
struct GTKMenus {
  static let actionLimit = 8192
  /// The most groups that are asked for.
  static let groupLimit = 2048
  /// The most lists that one menu is followed into: menus may contain each other.
  private static let deepest = 8
  /// The most entries that are looked at: those of menus that contain each other are reached in more ways than can be followed.
  private static let entryLimit = 1 << 16

  private struct List: Hashable {
    let group: UInt32
    let number: UInt32

    init(_ group: UInt32, _ number: UInt32) { (self.group, self.number) = (group, number) }

    init?(_ value: DBusValue?) {
      guard case .structure(let members)? = value, members.count == 2, case .uint32(let group) = members[0],
        case .uint32(let number) = members[1]
      else { return nil }
      self.init(group, number)
    }
  }

  /// An item of a list, or another list.
  private struct Entry {
    var attributes: [String: DBusValue] = [:]
    /// Made once: menus that contain each other are gone through many times.
    var label = ""
  }

  private var lists: [List: [Entry]] = [:]
  private var asked: Set<UInt32> = []
  private var linked: Set<UInt32> = []
  /// Why an answer was not read, if it was too long.
  var excess: DBusError?

  /// Begins with a group; the menu bar is in the first.
  init(group: UInt32 = 0) { linked = [group] }

  /// The groups that are known only by number, as a call of `Start` asks for them.
  mutating func next() -> [UInt32] {
    let next = linked.subtracting(asked).sorted().prefix(Self.groupLimit - asked.count)
    asked.formUnion(next)
    return Array(next)
  }

  /// All groups that were asked for.
  var started: [UInt32] { asked.sorted() }

  /// Takes the answer of `Start`, `a(uuaa{sv})`.
  /// - Returns: Whether it has that form.
  mutating func add(_ answer: DBusValue?) -> Bool {
    guard case .array(let parts)? = answer else { return false }
    for part in parts {
      guard case .structure(let members) = part, members.count == 3, case .uint32(let group) = members[0],
        case .uint32(let number) = members[1], case .array(let items) = members[2], asked.contains(group)
      else { return false }
      lists[List(group, number)] = items.prefix(ItemList.limit).map { item in
        guard case .dictionary(let dictionary) = item else { return Entry() }
        var entry = Entry()
        for each in dictionary.entries.prefix(32) {
          if case .string(let name) = each.key { entry.attributes[name] = each.value.variantContent }
        }
        if case .string(let text)? = entry.attributes["label"] { entry.label = MenuText.label(text, mnemonic: "_") }
        for name in [":section", ":submenu"] {
          if let list = List(entry.attributes[name]) { linked.insert(list.group) }
        }
        return entry
      }
    }
    return true
  }

  /// The items with the actions of each group, those of menus first, then standard ones that no menu has.
  func items(_ actions: [String: [String: GTKAction]]) -> [GTKItem] {
    var found = Found(actions: actions)
    append(List(0, 0), menus: [], openers: [], within: [], to: &found)
    for group in ["win", "app"] {
      for (name, action) in (actions[group] ?? [:]).sorted(by: { $0.key < $1.key }) where action.parameter.isEmpty {
        let full = group + "." + name
        guard Recognition.standardActions.contains(Recognition.name(ofAction: full)) else { continue }
        let item = MenuItem(id: full, label: MenuText.label(name), action: full)
        found.add(GTKItem(item: item, group: group, name: name, target: nil))
      }
    }
    return found.items
  }

  /// Whether an item of the lists has the action of `item`, and is the same.
  func shows(_ item: GTKItem) -> Bool {
    lists.values.joined().contains { entry in
      guard let now = Self.item(entry, [], []) else { return false }
      return now.group == item.group && now.name == item.name && now.target == item.target
        && now.item.isSame(as: item.item)
    }
  }

  private struct Found {
    let actions: [String: [String: GTKAction]]
    var list = ItemList()
    var items: [GTKItem] = []
    var entries = 0

    var isFull: Bool { list.isFull || entries >= GTKMenus.entryLimit }

    mutating func add(_ item: GTKItem) {
      var item = item
      guard item.item.id.utf8.count <= 1024 else { return }
      if !list.add(item.item) {
        // Its action is also that of an item before.
        item.item.twin = item.item.id
        item.item.id = MenuText.id(menus: item.item.menus, label: item.item.label)
        guard !item.item.menus.isEmpty, list.add(item.item) else { return }
      }
      item.item = item.updated(actions[item.group]?[item.name])
      items.append(item)
    }
  }

  private func append(_ list: List, menus: [String], openers: [String], within: Set<List>, to found: inout Found) {
    guard within.count < Self.deepest * 2, menus.count < Self.deepest, !within.contains(list) else { return }
    for entry in lists[list] ?? [] where !found.isFull {
      found.entries += 1
      let attributes = entry.attributes
      if let section = List(attributes[":section"]) {
        append(section, menus: menus, openers: openers, within: within.union([list]), to: &found)
      } else if let submenu = List(attributes[":submenu"]) {
        var openers = openers
        if case .string(let opener)? = attributes["submenu-action"] { openers.append(opener) }
        append(submenu, menus: menus + [entry.label], openers: openers, within: within.union([list]), to: &found)
      } else if var item = Self.item(entry, menus, openers) {
        item.menu = list.group
        found.add(item)
      }
    }
  }

  private static func item(_ entry: Entry, _ menus: [String], _ openers: [String]) -> GTKItem? {
    let (attributes, label) = (entry.attributes, entry.label)
    guard !label.isEmpty, case .string(let action)? = attributes["action"], let dot = action.firstIndex(of: "."),
      action.utf8.count <= 255
    else { return nil }
    let target = attributes["target"]
    var accelerator = ""
    if case .string(let text)? = attributes["accel"] { accelerator = Accelerator.shown(gtk: String(text.prefix(64))) }
    let name = String(action[action.index(after: dot)...])
    let id = Self.isStable(name) ? Self.id(action, target) : nil
    let item = MenuItem(
      id: id ?? MenuText.id(menus: menus, label: label), menus: menus, label: label, accelerator: accelerator,
      action: target == nil ? id.map { _ in action } : nil)
    return GTKItem(item: item, group: String(action[..<dot]), name: name, target: target, openers: openers)
  }

  /// GLib's detailed name of an action, such as `win.font::Serif`; nil for a target that it spells otherwise.
  private static func id(_ action: String, _ target: DBusValue?) -> String? {
    switch target {
    case nil: action
    case .string(let text)?: action + "::" + text
    case let other?: other.basicText.map { "\(action)(\($0))" }
    }
  }

  /// Whether it is a name, and no number or address, which is another each time.
  static func isStable(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, first.properties.isAlphabetic else { return false }
    return name.utf8.count { isDigit($0) } < 4
  }
}
