internal import BridgeJSON
package import EventLoop
package import ProgramSupport

/// niri, by its socket; written from its documentation.
package final class NiriSource: RequestSource {
  package static let name = "niri"

  private let path: String
  private let loop: EventLoop
  private let log: Log
  private let stream: LastingStream
  private var input = ByteQueue()
  package var state = NiriState()

  package var onChange: ((Desktop) -> Void)?
  package var onEnd: ((String) -> Void)?
  package var isLasting: Bool {
    get { stream.isLasting }
    set { stream.isLasting = newValue }
  }

  /// Follows niri at the socket `path`.
  package init(path: String, on loop: EventLoop, log: Log) {
    self.path = path
    self.loop = loop
    self.log = log
    stream = LastingStream(Self.name, path: path, on: loop, log: log)
  }

  package func start() throws {
    stream.onConnect = { [weak self] in
      guard let self else { return }
      input = ByteQueue()
      // It begins with everything that there is.
      stream.send(NiriState.subscription)
    }
    stream.onBytes = { [weak self] in try self?.arrived($0) }
    stream.onForgotten = { [weak self] in self?.change { $0 = NiriState() } }
    stream.onEnd = { [weak self] in self?.onEnd?($0) }
    try stream.connect()
  }

  private func arrived(_ bytes: [UInt8]) throws {
    input.append(bytes)
    while stream.isOpen, let line = try input.nextLine() {
      guard let message = JSON(line) else {
        log.debug("niri sends a line that is not JSON")
        continue
      }
      if let reason = message["Err"] { return stream.lost("refuses to tell of its windows: \(reason.text ?? "")") }
      stream.succeeded()
      // One by one: which window was in front before a launcher matters.
      change { $0.event(message) }
    }
  }

  package func request(_ request: [UInt8], _ completion: @escaping (String?) -> Void) {
    // The connection of the events takes no requests.
    SocketQuestion.ask(request, at: path, .line, on: loop) { completion($0.refusal(NiriState.refusal)) }
  }
}
