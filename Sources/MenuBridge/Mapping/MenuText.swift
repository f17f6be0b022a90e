internal import DBusTypes
internal import FocusContract

/// Texts of programs, as items show them.
enum MenuText {
  /// The longest label, in scalars; what is longer is cut.
  static let longest = 256

  /// A label without control characters and space around it, of a length that fits a line.
  static func label(_ text: String) -> String {
    var label = String.UnicodeScalarView()
    var length = 0
    for scalar in text.unicodeScalars {
      guard length < longest else {
        label.append("…")
        break
      }
      length += 1
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: label.append(" ")
      // Those that change the direction of what follows.
      case .format where scalar.properties.isBidiControl: break
      default: label.append(scalar)
      }
    }
    while label.last?.properties.isWhitespace == true { label.removeLast() }
    return String(label.drop(while: \.properties.isWhitespace))
  }

  /// A label that has a mark before its mnemonic: GTK's and dbusmenu's have an underscore.
  static func label(_ text: String, mnemonic: Unicode.Scalar) -> String {
    label(plain(String(text.unicodeScalars.prefix(longest * 2)), mnemonic: mnemonic))
  }

  /// `text` without what marks its mnemonic; two of these stand for one.
  static func plain(_ text: String, mnemonic: Unicode.Scalar) -> String {
    var plain = String.UnicodeScalarView()
    var isMarked = false
    for scalar in text.unicodeScalars {
      if scalar == mnemonic, !isMarked {
        isMarked = true
      } else {
        plain.append(scalar)
        isMarked = false
      }
    }
    return String(plain)
  }

  /// The id of an item that has no stable name.
  static func id(menus: [String], label: String) -> String { (menus + [label]).joined(separator: MenuKey.separator) }
}

/// Items in the order of their menus, each id once, and no more than anybody reads.
struct ItemList {
  static let limit = 4096
  /// How many bytes of text make it full, since a reply of more than 4 MiB is refused: items repeat their menus' labels.
  private static let textLimit = 2 << 20
  /// The most items with one label in one menu.
  private static let mostAlike = 32

  /// An id by its bytes: to hash a text takes many times as long, since Swift brings it into Unicode's normal form.
  private struct ID: Hashable {
    private let text: String

    init(_ text: String) { self.text = text }

    static func == (left: ID, right: ID) -> Bool { left.text.hasSameBytes(as: right.text) }

    func hash(into hasher: inout Hasher) {
      var text = text
      text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
  }

  private(set) var items: [MenuItem] = []
  private var ids: Set<String> = []
  /// The last number of those with the same id in a menu.
  private var numbers: [ID: Int] = [:]
  private var textSize = 0
  private var refused = 0

  /// Whether there are as many, or as many were not added, as anybody reads.
  var isFull: Bool { items.count >= Self.limit || refused >= Self.limit || textSize >= Self.textLimit }

  /// Adds an item unless its id is there.
  /// - Returns: Whether it was added.
  @discardableResult
  mutating func add(_ item: MenuItem) -> Bool {
    guard !isFull, ids.insert(item.id).inserted else {
      refused += 1
      return false
    }
    let own = item.id.utf8.count + item.label.utf8.count + item.accelerator.utf8.count
    textSize += item.menus.reduce(own) { $0 + $1.utf8.count }
    items.append(item)
    return true
  }

  /// Adds an item; one of several with its id in a menu has its number there behind the id.
  /// - Returns: The item as it was added; nil if it was not.
  mutating func addNumbered(_ item: MenuItem) -> MenuItem? {
    var number = numbers[ID(item.id), default: 1]
    guard number < Self.mostAlike else {
      refused += 1
      return nil
    }
    if add(item) { return item }
    var numbered = item
    var isAdded = false
    while number < Self.mostAlike, !isFull, !isAdded {
      number += 1
      numbered.id = "\(item.id) (\(number))"
      isAdded = add(numbered)
    }
    numbers[ID(item.id)] = number
    return isAdded ? numbered : nil
  }
}
