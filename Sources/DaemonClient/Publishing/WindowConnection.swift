package import DBus
internal import DBusTypes
package import EventLoop
internal import FocusContract

/// A bridge's connection to the session bus that speaks for one window of a program: what it is limited to, and what it
/// delays, is its own, and its fields are where that window is.
package final class WindowConnection {
  private let link: Link
  package let fields: FieldPublisher
  /// The window; nil: it is not known.
  package var window: ProgramWindow? {
    didSet {
      guard let window else { return }
      if let change = ProgramWindowInterface.change(to: window, from: oldValue) { link.send(change) }
    }
  }

  /// Connects to `bus`; `onError` is called with an error that reaches no caller.
  package init(to bus: Connection.Bus, on loop: EventLoop, onError: @escaping (DBusError) -> Void) {
    let link = Link(on: loop, rules: [.properties(of: Focus1.root)])
    let fields = FieldPublisher(link)
    self.link = link
    self.fields = fields
    fields.onError = onError
    link.onEvent = { [weak self, weak fields] event in
      switch event {
      case .arrived: fields?.registerAll()
      case .left: fields?.daemonLeft()
      case .signal(let signal):
        if let path = signal.focusedField { fields?.focusMoved(to: path == .root ? nil : path) }
      case .refused, .closed, .other: break
      case .call(let message): self?.called(message)
      }
    }
    link.connect(to: bus)
  }

  private func called(_ message: Message) {
    guard message.path == ProgramWindowInterface.path, let window else { return fields.called(message) }
    if message.wantsReply, let reply = ProgramWindowInterface.reply(to: message, window) { link.send(reply) }
  }

  /// Closes it, and with it takes away all fields.
  package func close() { link.stop() }

  /// Closes it after `delay`, but not from within its own dispatching.
  func closeLater(after delay: Duration) { link.loop.schedule(after: delay) { self.close() } }
}
