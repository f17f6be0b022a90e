internal import BridgeSupport
internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import EventLoop
internal import FocusContract

/// The connection to the session bus that speaks for one window of a program: what it is limited to, and what it delays, is
/// its own, and its fields are where that window is.
final class ProgramConnection {
  let link: Link
  let fields: FieldPublisher
  /// The window; nil: it is not known.
  var window: ProgramWindow? {
    didSet {
      guard let window, let oldValue, let change = ProgramWindowInterface.change(to: window, from: oldValue) else { return }
      link.send(change)
    }
  }

  init(to bus: Connection.Bus, on loop: EventLoop, onError: @escaping (DBusError) -> Void) {
    let link = Link(on: loop, rules: [.properties(of: Focus1.root)])
    let fields = FieldPublisher(link)
    self.link = link
    self.fields = fields
    fields.onError = onError
    link.onEvent = { [weak self, weak fields] event in
      switch event {
      case .arrived: fields?.registerAll()
      case .left: fields?.daemonLeft()
      case .signal(.properties(Focus1.root, Focus1.manager.text, let changes)):
        guard case .objectPath(let path)?? = changes.first(where: { $0.name == "FocusedField" })?.value else { return }
        fields?.focusMoved(to: path == .root ? nil : path)
      case .signal, .refused, .closed, .other: break
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
  func close() { link.stop() }
}
