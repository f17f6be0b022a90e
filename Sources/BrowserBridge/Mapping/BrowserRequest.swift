internal import BridgeJSON
package import DBusTypes
package import FocusContract

/// What the extension is asked to do.
package struct BrowserRequest: Equatable, Sendable {
  /// What the request is for.
  package enum Target: Hashable, Sendable {
    case tab(UInt64)
    case element(ElementID)
  }

  package enum Action: Equatable, Sendable {
    case write(Key, DBusValue)
    case run(Key, [DBusValue])
    /// The reply tells what the element holds now.
    case read
    /// The element, or the tab, takes focus, and its window comes to the front.
    case focus
  }

  package let target: Target
  package let action: Action

  package init(_ target: Target, _ action: Action) { (self.target, self.action) = (target, action) }

  /// Whether the browser does it, and not a page.
  var isOfTab: Bool {
    guard case .run(let key, _) = action else { return false }
    return PageKey.tabCommands.contains(key)
  }

  /// Whether it takes its tab away.
  var closesTab: Bool { action == .run(Key(shared: "Tab", "Close"), []) }

  /// The longest message that a browser takes: Chromium ends a host that sends more.
  package static let longestMessage = 1 << 20

  /// The request as a message, under the number of its call; nil if a value has no form in JSON.
  package func message(call: UInt64) -> [UInt8]? {
    var members: [String: JSONText] = ["call": Self.number(call)]
    switch target {
    case .tab(let tab): members["tab"] = Self.number(tab)
    case .element(let element):
      members["document"] = Self.number(element.document)
      members["element"] = Self.number(element.number)
    }
    switch action {
    case .write(let key, let value):
      guard let value = Self.json(value) else { return nil }
      members["type"] = .text("write")
      members["key"] = .text(PageKey.shortName(key))
      members["value"] = value
    case .run(let key, let arguments):
      let values = arguments.compactMap(Self.json)
      guard values.count == arguments.count else { return nil }
      members["type"] = .text("run")
      members["key"] = .text(PageKey.shortName(key))
      members["arguments"] = .array(values)
    case .read: members["type"] = .text("read")
    case .focus: members["type"] = .text("focus")
    }
    return JSONText.object(members).bytes
  }

  private static func number(_ number: UInt64) -> JSONText { .integer(Int64(clamping: number)) }

  private static func json(_ value: DBusValue) -> JSONText? {
    switch value {
    case .string(let text): return .text(text)
    case .int32(let number): return .integer(Int64(number))
    case .double(let number): return number.isFinite ? .real(number) : nil
    case .boolean(let flag): return .boolean(flag)
    case .structure(let members):
      let values = members.compactMap(json)
      return values.count == members.count ? .array(values) : nil
    default: return nil
    }
  }
}
