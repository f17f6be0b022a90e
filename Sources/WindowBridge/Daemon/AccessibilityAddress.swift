internal import BridgeSupport
internal import DBus
internal import DBusTypes
internal import DaemonClient

/// Where the session's accessibility bus is, if there is one: none is started for this.
final class AccessibilityAddress {
  /// The signals that `received` must be given.
  static let rule = MatchRule.nameOwnerChanges(of: AccessibilityStatus.busName)

  private let link: Link
  /// The longest that is taken: whoever has the name says what it likes.
  private static let longest = 4096
  /// Called with the address when it may have changed, or with nil when the bus is gone.
  var onAddress: ((String?) -> Void)?

  init(_ link: Link) { self.link = link }

  /// The bus is there, or another one.
  func begin() {
    link.daemon?.connection.askOwner(of: AccessibilityStatus.busName) { [weak self] result in
      if case .success(let owner) = result { self?.ask(owner) }
    }
  }

  func received(_ message: Message) {
    guard let change = message.nameOwnerChange, change.name == AccessibilityStatus.busName else { return }
    if let owner = change.now { ask(owner) } else { onAddress?(nil) }
  }

  private func ask(_ owner: BusName) {
    guard let question = try? AccessibilityStatus.addressQuestion(to: owner) else { return }
    try? link.daemon?.connection.call(question) { [weak self] result in
      let values = try? Result { () throws(DBusError) in try result.get().success().arguments() }.get()
      guard case .string(let address)? = values?.first, 1...Self.longest ~= address.utf8.count,
        address.utf8.allSatisfy({ 0x20..<0x7f ~= $0 })
      else { return }
      self?.onAddress?(address)
    }
  }
}
