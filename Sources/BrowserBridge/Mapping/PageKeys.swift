package import DBusTypes
package import FocusContract

/// The commands of tabs, and the names of keys in messages.
package enum PageKey {
  /// The commands of every tab.
  package static let tabCommands =
    keys("Tab", "New", "Close", "Next", "Previous") + keys("Navigation", "Back", "Forward", "Reload")
    + keys("View", "ZoomIn", "ZoomOut", "ZoomReset", "Fullscreen")
  /// The commands of a tab whose page the user shares.
  package static let pageCommands = keys("Edit", "Undo", "Redo", "SelectAll")

  private static func keys(_ group: String, _ members: String...) -> [Key] { members.map { Key(shared: group, $0) } }

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

  package private(set) var values: [Key: Access] = [ElementKey.role: .readOnly]
  package private(set) var commands: Set<Key> = []

  package init(_ element: PageElement) {
    for key in [ElementKey.name, ElementKey.description] { values[key] = .readOnly }
    switch element.content {
    case .none, .secret(.readOnly): break
    case .secret(.readWrite): values[ElementKey.content] = .writeOnly
    case .insertOnly:
      values[ElementKey.selectedText] = .writeOnly
      commands.insert(ElementKey.insert)
    case .shown(let text, let access):
      values[ElementKey.content] = Access(access)
      values[ElementKey.length] = .readOnly
      if access == .readWrite { commands.insert(ElementKey.insert) }
      guard text.selection != nil else { break }
      values[ElementKey.selectedText] = Access(access)
      values[ElementKey.caret] = .readWrite
      values[ElementKey.selection] = .readWrite
    }
    if let range = element.range {
      values[ElementKey.value] = Access(range.access)
      for key in [ElementKey.minimum, ElementKey.maximum, ElementKey.step] { values[key] = .readOnly }
      if range.access == .readWrite { commands.formUnion([ElementKey.increment, ElementKey.decrement]) }
    }
    if let toggle = element.toggle { values[ElementKey.checked] = Access(toggle.access) }
  }
}

extension PageElement {
  /// The values of the element's keys that are not nil.
  package var values: [Key: DBusValue] {
    var values: [Key: DBusValue] = [ElementKey.role: .string(role)]
    if !name.isEmpty { values[ElementKey.name] = .string(name) }
    if !description.isEmpty { values[ElementKey.description] = .string(description) }
    if case .shown(let text, _) = content {
      values[ElementKey.content] = text.content.map { .string($0) }
      values[ElementKey.length] = .int32(text.length)
      if let selection = text.selection {
        values[ElementKey.selectedText] = text.selected.map { .string($0) }
        values[ElementKey.caret] = .int32(text.caret)
        values[ElementKey.selection] = .structure([.int32(selection.lowerBound), .int32(selection.upperBound)])
      }
    }
    if let range {
      values[ElementKey.value] = range.value.map { .double($0) }
      values[ElementKey.minimum] = .double(range.minimum)
      values[ElementKey.maximum] = .double(range.maximum)
      values[ElementKey.step] = .double(range.step)
    }
    if let toggle { values[ElementKey.checked] = .boolean(toggle.isChecked) }
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
  /// The browser's number of the window that it is in, if the extension tells it.
  package var window: UInt64?

  /// The most bytes of a title or an address.
  package static let limit = 8192

  package init(title: String? = nil, url: String? = nil, isShared: Bool = false, window: UInt64? = nil) {
    (self.title, self.url, self.isShared, self.window) = (title, url, isShared, window)
  }

  /// The values of the tab's keys that are not nil.
  package var values: [Key: DBusValue] {
    var values: [Key: DBusValue] = [:]
    values[ElementKey.documentTitle] = title.map { .string($0) }
    values[ElementKey.url] = url.map { .string($0) }
    return values
  }

  package var commands: [Key] { PageKey.tabCommands + (isShared ? PageKey.pageCommands : []) }
}
