package import BridgeJSON

/// Names an element for as long as the extension runs: the document that it is in, and which one of that.
package struct ElementID: Hashable, Sendable, CustomStringConvertible {
  package let document: UInt64
  package let number: UInt64

  package init(_ document: UInt64, _ number: UInt64) { (self.document, self.number) = (document, number) }

  package var description: String { "\(document).\(number)" }
}

/// Why a write or a command did not do what was asked.
package enum Refusal: String, Sendable {
  /// The element, or its tab, is not there any more.
  case gone
  /// It does not have focus in its page, which the request needs.
  case unfocused
  /// Something else than the page has the keyboard.
  case elsewhere
  /// It is read-only, or disabled.
  case readOnly = "read-only"
  /// The page, or the browser, did not do it.
  case refused
  /// The user does not share the page.
  case unshared
}

/// A message of the extension.
package enum BrowserMessage {
  /// A tab is there, or shows something else.
  case tab(UInt64, PageTab)
  /// The browser's tab in front; nil: its windows are all behind other programs'.
  case front(UInt64?)
  /// A tab was closed.
  case closed(UInt64)
  /// An element of a tab has focus in it.
  case focus(tab: UInt64, ElementID, PageElement)
  /// No element has focus in a tab.
  case blur(tab: UInt64)
  /// An element shows something else.
  case state(ElementID, PageElement)
  /// A document is not shown any more.
  case gone(document: UInt64)
  /// A request was answered, with what its element shows then.
  case reply(UInt64, Refusal?, ElementID?, PageElement?)

  /// Reads a message.
  /// - Returns: nil if it is not one of these.
  package init?(_ json: JSON) {
    func number(_ key: String) -> UInt64? { json[key]?.number }
    var element: ElementID? {
      guard let document = number("document"), let element = number("element") else { return nil }
      return ElementID(document, element)
    }
    var state: PageElement? { json["state"].flatMap { PageElement($0) } }
    switch json["type"]?.text {
    case "tab":
      guard let tab = number("tab") else { return nil }
      self = .tab(tab, PageTab(json))
    case "front":
      guard json["tab"] == nil || number("tab") != nil else { return nil }
      self = .front(number("tab"))
    case "closed":
      guard let tab = number("tab") else { return nil }
      self = .closed(tab)
    case "focus":
      guard let tab = number("tab"), let element, let state else { return nil }
      self = .focus(tab: tab, element, state)
    case "blur":
      guard let tab = number("tab") else { return nil }
      self = .blur(tab: tab)
    case "state":
      guard let element, let state else { return nil }
      self = .state(element, state)
    case "gone":
      guard let document = number("document") else { return nil }
      self = .gone(document: document)
    case "reply":
      guard let call = number("call") else { return nil }
      self = .reply(call, json["error"].map { Refusal(rawValue: $0.text ?? "") ?? .refused }, element, state)
    default: return nil
    }
  }
}

extension PageTab {
  init(_ json: JSON) {
    func text(_ key: String) -> String? {
      guard let text = json[key]?.text, text.utf8.count <= Self.limit, !text.utf8.contains(0) else { return nil }
      return text
    }
    self.init(
      title: text("title"), url: text("url"), isShared: json["shared"]?.isTrue == true, window: json["window"]?.number)
  }
}
