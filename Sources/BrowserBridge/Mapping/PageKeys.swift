package import DBusTypes
package import FocusContract

/// The keys of the vocabulary that elements and tabs publish.
package enum PageKey {
  package static let role = key("Element", "Role")
  package static let name = key("Element", "Name")
  package static let description = key("Element", "Description")
  package static let content = key("Text", "Content")
  package static let length = key("Text", "Length")
  package static let caret = key("Text", "Caret")
  package static let selection = key("Text", "Selection")
  package static let selectedText = key("Text", "SelectedText")
  package static let insert = key("Text", "Insert")
  package static let value = key("Range", "Value")
  package static let minimum = key("Range", "Minimum")
  package static let maximum = key("Range", "Maximum")
  package static let step = key("Range", "Step")
  package static let increment = key("Range", "Increment")
  package static let decrement = key("Range", "Decrement")
  package static let checked = key("Toggle", "Checked")
  package static let title = key("Document", "Title")
  package static let url = key("Document", "Url")

  /// The commands of every tab.
  package static let tabCommands = [
    key("Tab", "New"), key("Tab", "Close"), key("Tab", "Next"), key("Tab", "Previous"), key("Navigation", "Back"),
    key("Navigation", "Forward"), key("Navigation", "Reload"), key("View", "ZoomIn"), key("View", "ZoomOut"),
    key("View", "ZoomReset"), key("View", "Fullscreen"),
  ]
  /// The commands of a tab whose page the user shares.
  package static let pageCommands = [key("Edit", "Undo"), key("Edit", "Redo"), key("Edit", "SelectAll")]

  private static func key(_ group: String, _ member: String) -> Key {
    Key(InterfaceName(known: "org.focusd." + group), MemberName(known: member))
  }

  /// The key as the extension names it: without `org.focusd.`.
  package static func shortName(_ key: Key) -> String { String(key.description.dropFirst("org.focusd.".count)) }
}

/// Which keys an element has, and what others may do with them; another shape needs `Examine`.
package struct PageShape: Equatable, Sendable {
  /// What others may do with a value.
  package enum Access: Hashable, Sendable {
    case readOnly, readWrite, writeOnly

    init(_ access: PageAccess) { self = access == .readWrite ? .readWrite : .readOnly }
  }

  package private(set) var values: [Key: Access] = [PageKey.role: .readOnly]
  package private(set) var commands: Set<Key> = []

  package init(_ element: PageElement) {
    for key in [PageKey.name, PageKey.description] { values[key] = .readOnly }
    switch element.content {
    case .none, .secret(.readOnly): break
    case .secret(.readWrite): values[PageKey.content] = .writeOnly
    case .insertOnly:
      values[PageKey.selectedText] = .writeOnly
      commands.insert(PageKey.insert)
    case .shown(let text, let access):
      values[PageKey.content] = Access(access)
      values[PageKey.length] = .readOnly
      if access == .readWrite { commands.insert(PageKey.insert) }
      guard text.selection != nil else { break }
      values[PageKey.selectedText] = Access(access)
      values[PageKey.caret] = .readWrite
      values[PageKey.selection] = .readWrite
    }
    if let range = element.range {
      values[PageKey.value] = Access(range.access)
      for key in [PageKey.minimum, PageKey.maximum, PageKey.step] { values[key] = .readOnly }
      if range.access == .readWrite { commands.formUnion([PageKey.increment, PageKey.decrement]) }
    }
    if let toggle = element.toggle { values[PageKey.checked] = Access(toggle.access) }
  }
}

extension PageElement {
  /// The values of the element's keys that are not nil.
  package var values: [Key: DBusValue] {
    var values: [Key: DBusValue] = [PageKey.role: .string(role)]
    if !name.isEmpty { values[PageKey.name] = .string(name) }
    if !description.isEmpty { values[PageKey.description] = .string(description) }
    if case .shown(let text, _) = content {
      values[PageKey.content] = text.content.map { .string($0) }
      values[PageKey.length] = .int32(text.length)
      if let selection = text.selection {
        values[PageKey.selectedText] = text.selected.map { .string($0) }
        values[PageKey.caret] = .int32(text.caret)
        values[PageKey.selection] = .structure([.int32(selection.lowerBound), .int32(selection.upperBound)])
      }
    }
    if let range {
      values[PageKey.value] = range.value.map { .double($0) }
      values[PageKey.minimum] = .double(range.minimum)
      values[PageKey.maximum] = .double(range.maximum)
      values[PageKey.step] = .double(range.step)
    }
    if let toggle { values[PageKey.checked] = .boolean(toggle.isChecked) }
    return values
  }
}

/// A tab, as the extension tells it.
package struct PageTab: Equatable, Sendable {
  /// Nil unless the user shares the page.
  package var title: String?
  package var url: String?
  /// Whether the user shares the page, so that it can be edited.
  package var isShared: Bool

  /// The most bytes of a title or an address.
  package static let limit = 8192

  package init(title: String? = nil, url: String? = nil, isShared: Bool = false) {
    (self.title, self.url, self.isShared) = (title, url, isShared)
  }

  /// The values of the tab's keys that are not nil.
  package var values: [Key: DBusValue] {
    var values: [Key: DBusValue] = [:]
    values[PageKey.title] = title.map { .string($0) }
    values[PageKey.url] = url.map { .string($0) }
    return values
  }

  package var commands: [Key] { PageKey.tabCommands + (isShared ? PageKey.pageCommands : []) }
}
