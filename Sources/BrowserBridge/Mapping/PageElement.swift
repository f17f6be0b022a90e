package import BridgeJSON

/// What others may do with something of an element.
package enum PageAccess: Hashable, Sendable {
  case readOnly, readWrite

  init?(_ name: String?) {
    switch name {
    case "r": self = .readOnly
    case "rw": self = .readWrite
    default: return nil
    }
  }
}

/// An element of a page, as the extension tells it; positions count Unicode scalars.
package struct PageElement: Equatable, Sendable {
  /// The text of an element that shows it.
  package struct Text: Equatable, Sendable {
    /// The whole text; nil if it is longer than `contentLimit`.
    package var content: String?
    package var length: Int32
    /// The selected part of a text; nil for an element that has no caret, such as an entry for numbers.
    package var selection: Range<Int32>?
    package var caret: Int32
    /// The selected text; nil if it is longer than `contentLimit`, or if there is no caret.
    package var selected: String?

    package init(content: String?, length: Int32, selection: Range<Int32>?, caret: Int32, selected: String?) {
      (self.content, self.length, self.selection) = (content, length, selection)
      (self.caret, self.selected) = (caret, selected)
    }
  }

  /// What is shown of an element's text.
  package enum Content: Equatable, Sendable {
    /// It has none.
    case none
    case shown(Text, PageAccess)
    /// It is secret; others may fill it in if the access is `readWrite`.
    case secret(PageAccess)
    /// It cannot be read as a whole, and others may write at the caret.
    case insertOnly
  }

  /// What a slider or a spin button is at, and what it may be.
  package struct Extent: Equatable, Sendable {
    /// Nil if none was chosen yet.
    package var value: Double?
    package var minimum: Double
    package var maximum: Double
    /// 0 if it is continuous.
    package var step: Double
    package var access: PageAccess
  }

  /// Whether a check box is checked, and whether others may change that.
  package struct Toggle: Equatable, Sendable {
    package var isChecked: Bool
    package var access: PageAccess
  }

  package var role: String
  package var name = ""
  package var description = ""
  package var content = Content.none
  package var range: Extent?
  package var toggle: Toggle?

  /// The most bytes of a text that is shown as a whole.
  package static let contentLimit = 64 << 10
  /// The most bytes of a name or a description.
  package static let nameLimit = 4096

  /// Reads what the extension tells of an element; nil if it is not an object with a role.
  ///
  /// A page chooses what its elements show, and no more than that: what does not fit together is left out.
  package init?(_ json: JSON) {
    guard let role = json["role"]?.text else { return nil }
    self.role = PageRole.names.contains(role) ? role : "generic"
    name = Self.name(json["name"])
    description = Self.name(json["description"])
    if let text = json["text"] { content = Self.content(text) }
    if case .secret = content {
      self.role = "password"
      // What a secret entry for numbers is at is secret too.
    } else {
      range = json["range"].flatMap(Self.range)
      if let checked = json["checked"]?.boolean, let access = PageAccess(json["checkable"]?.text) {
        toggle = Toggle(isChecked: checked, access: access)
      }
    }
  }

  /// Whether what it holds must not be shown.
  package var isSecret: Bool {
    if case .secret = content { true } else { false }
  }

  /// An element for tables of cases.
  package init(role: String, content: Content = .none) { (self.role, self.content) = (role, content) }

  private static func name(_ json: JSON?) -> String {
    guard let text = json?.text, text.utf8.count <= nameLimit, !text.utf8.contains(0) else { return "" }
    return text
  }

  private static func content(_ json: JSON) -> Content {
    switch json["kind"]?.text {
    case "secret": return .secret(PageAccess(json["access"]?.text) ?? .readOnly)
    case "editor": return .insertOnly
    case "text":
      guard let access = PageAccess(json["access"]?.text), let text = text(json) else { return .none }
      return .shown(text, access)
    default: return .none
    }
  }

  private static func shown(_ json: JSON?) -> String? {
    guard let text = json?.text, text.utf8.count <= contentLimit, !text.utf8.contains(0) else { return nil }
    return text
  }

  private static func text(_ json: JSON) -> Text? {
    let content = shown(json["content"])
    let scalars = content?.unicodeScalars
    guard let length = scalars.map({ Int32(clamping: $0.count) }) ?? position(json["length"]) else { return nil }
    var text = Text(content: content, length: length, selection: nil, caret: 0, selected: nil)
    guard let start = position(json["start"]), let end = position(json["end"]), start <= end, end <= length else {
      return text
    }
    text.selection = start..<end
    text.caret = position(json["caret"]) == start ? start : end
    if let scalars {
      let first = scalars.index(scalars.startIndex, offsetBy: Int(start))
      let last = scalars.index(first, offsetBy: Int(end - start))
      text.selected = String(scalars[first..<last])
    } else {
      text.selected = start == end ? "" : shown(json["selected"])
    }
    return text
  }

  private static func position(_ json: JSON?) -> Int32? {
    json?.integer.flatMap { Int32(exactly: $0) }.flatMap { $0 >= 0 ? $0 : nil }
  }

  private static func range(_ json: JSON) -> Extent? {
    guard let access = PageAccess(json["access"]?.text), let minimum = json["minimum"]?.real,
      let maximum = json["maximum"]?.real
    else { return nil }
    return Extent(
      value: json["value"]?.real, minimum: minimum, maximum: maximum, step: max(json["step"]?.real ?? 0, 0),
      access: access)
  }
}

/// The roles that an element may have: a page's own words are no roles.
package enum PageRole {
  package static let names: Set<String> = [
    "textbox", "searchbox", "password", "slider", "spinbutton", "checkbox", "radio", "switch", "button", "link",
    "combobox", "listbox", "option", "menuitem", "menuitemcheckbox", "menuitemradio", "tab", "treeitem", "listitem",
    "row", "gridcell", "progressbar", "scrollbar", "document", "img", "video", "audio", "group", "generic",
  ]
}
