import DBusTypes
import FocusContract

/// An item of a menu, as `org.focusd.Menu.Items` tells it.
struct OfferedItem: Equatable, Sendable {
  let id: String
  /// The labels of the menus that it is in, the outermost first.
  let menus: [String]
  let label: String
  /// The keys that run it, such as `Ctrl+Z`, or empty.
  let accelerator: String
  let isEnabled: Bool
  /// Whether it is checked; nil if it cannot be.
  let isChecked: Bool?

  /// The items that `results`, the reply of `org.focusd.Menu.Items`, holds; nil if it is not one.
  static func items(_ results: [DBusValue]) -> [OfferedItem]? {
    guard results.count == 1, case .array(let array) = results.first, array.elementType == MenuKey.itemType else {
      return nil
    }
    return array.compactMap(OfferedItem.init)
  }

  private init?(_ value: DBusValue) {
    guard case .structure(let members) = value, members.count == 6, case .string(let id) = members[0],
      case .array(let menus) = members[1], case .string(let label) = members[2],
      case .string(let accelerator) = members[3], case .boolean(let isEnabled) = members[4],
      case .int32(let checked) = members[5]
    else { return nil }
    (self.id, self.label, self.accelerator, self.isEnabled) = (id, label, accelerator, isEnabled)
    self.menus = menus.compactMap(\.basicText)
    isChecked = checked < 0 ? nil : checked > 0
  }

  /// Its labels from the menu bar down, as the program shows them: `Edit › Undo`.
  var path: String { (menus + [label]).joined(separator: MenuKey.separator) }

  /// Its path on one line, whatever is in the labels.
  var shownPath: String { Output.escaped(path) }

  /// Its line: the path, the keys that run it and its state, separated by tabs; and its id if another has this path
  /// and these keys.
  func line(isUnique: Bool) -> String {
    let state = isEnabled ? isChecked.map { $0 ? "on" : "off" } ?? "" : "disabled"
    var columns = [shownPath, Output.escaped(accelerator), state, isUnique ? "" : Output.escaped(id)]
    while columns.last == "" { columns.removeLast() }
    return columns.joined(separator: "\t")
  }

  /// The item as one JSON document.
  var json: String {
    JSONWriter.object([
      ("id", JSONWriter.string(id)),
      ("menus", JSONWriter.data(.strings(menus))),
      ("label", JSONWriter.string(label)),
      ("accelerator", JSONWriter.string(accelerator)),
      ("enabled", String(isEnabled)),
      ("checked", isChecked.map(String.init) ?? "null"),
    ])
  }
}

/// Which item a word of the command line means.
enum ItemChoice: Equatable {
  case one(OfferedItem)
  case several([OfferedItem])
  case nothing

  /// Chooses among `items` by `word`: a line of the list, else a path, an id, a label, or a part of a path.
  ///
  /// The case of a label or part does not count. A line's state does not either: it may have changed since.
  init(_ word: String, among items: [OfferedItem]) {
    let columns = word.split(separator: "\t", maxSplits: 3, omittingEmptySubsequences: false)
    let path = columns.first ?? ""
    let keys = columns.count > 1 ? columns[1] : nil
    let id = columns.count > 3 ? columns[3] : nil
    let texts: Set = [String(path), Output.unescaped(path)]
    let lowered: Set = [word.lowercased(), Output.unescaped(word[...]).lowercased()]
    func isLine(_ item: OfferedItem, _ keys: Substring?) -> Bool {
      texts.contains(item.path) && keys.map { $0 == Output.escaped(item.accelerator) } ?? true
        && id.map { $0 == Output.escaped(item.id) } ?? true
    }
    // A line without keys is that of an item without any, though others with this path have some.
    let exact = items.filter { isLine($0, keys ?? "") }
    if exact.count == 1, let item = exact.first {
      self = .one(item)
      return
    }
    let ways: [(OfferedItem) -> Bool] = [
      { isLine($0, keys) },
      { $0.id == word },
      { lowered.contains($0.label.lowercased()) },
      { item in lowered.contains { item.path.lowercased().contains($0) } },
    ]
    for way in ways {
      let found = items.filter(way)
      if let first = found.first {
        // Of items that look alike, one that can be run is meant.
        let enabled = found.filter(\.isEnabled)
        let isMeant = enabled.count == 1 && found.allSatisfy { $0.path == first.path }
        self = found.count == 1 || isMeant ? .one(enabled.first ?? first) : .several(found)
        return
      }
    }
    self = .nothing
  }
}
