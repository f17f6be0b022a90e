internal import BridgeJSON
package import EventLoop
package import ProgramSupport

/// Hyprland, by its two sockets.
package final class HyprlandSource: RequestSource {
  package static let name = "Hyprland"

  private let requests: String
  private let loop: EventLoop
  private let stream: LastingStream
  private var input = ByteQueue()
  package var state = HyprlandState()
  private var isReading = false
  /// Whether something happened that only the list of clients tells, since it was last asked for.
  private var isStale = false
  /// The events since then.
  private var missed: [String] = []
  /// Whether an event has told the active window.
  private var hasActive = false

  package var onChange: ((Desktop) -> Void)?
  package var onEnd: ((String) -> Void)?
  package var isLasting: Bool {
    get { stream.isLasting }
    set { stream.isLasting = newValue }
  }

  /// Follows the Hyprland whose sockets are in `directory`.
  package init(directory: String, on loop: EventLoop, log: Log) {
    requests = directory + "/.socket.sock"
    self.loop = loop
    stream = LastingStream(Self.name, path: directory + "/.socket2.sock", on: loop, log: log)
  }

  package func start() throws {
    stream.onConnect = { [weak self] in self?.connected() }
    stream.onBytes = { [weak self] in try self?.arrived($0) }
    stream.onForgotten = { [weak self] in self?.change { $0 = HyprlandState() } }
    stream.onEnd = { [weak self] in self?.onEnd?($0) }
    try stream.connect()
  }

  private func connected() {
    (input, hasActive) = (ByteQueue(), false)
    readStatus()
    readClients()
    ask("j/activewindow") { [weak self] answer in
      if let self, !hasActive { change { $0.activeWindow(answer) } }
    }
  }

  private func readStatus() { ask("j/status") { [weak self] answer in self?.change { $0.status(answer) } } }

  private func readClients() {
    guard !isReading else {
      isStale = true
      return
    }
    (isReading, isStale, missed) = (true, false, [])
    ask("j/clients") { [weak self] answer in
      guard let self else { return }
      stream.succeeded()
      change { $0.clients(answer, before: missed) }
    }
  }

  private func ask(_ question: String, _ handler: @escaping (JSON) -> Void) {
    SocketQuestion.ask(Array(question.utf8), at: requests, .everything, on: loop) { [weak self] answer in
      if case .success(let bytes) = answer, let answer = JSON(bytes) { handler(answer) }
      guard let self, question == "j/clients" else { return }
      (isReading, missed) = (false, [])
      if isStale { readClients() }
    }
  }

  private func arrived(_ bytes: [UInt8]) throws {
    input.append(bytes)
    while let line = try input.nextLine() {
      let line = String(decoding: line, as: UTF8.self)
      if line.hasPrefix("activewindowv2") { hasActive = true }
      // The new settings may be in the other language.
      if line.hasPrefix("configreloaded") { readStatus() }
      if isReading { missed.append(line) }
      var mustRead = false
      // One by one: which window was in front before a launcher matters.
      change { mustRead = $0.event(line) }
      if mustRead { readClients() }
    }
  }

  package func request(_ request: [UInt8], _ completion: @escaping (String?) -> Void) {
    SocketQuestion.ask(request, at: requests, .everything, on: loop) { completion($0.refusal(HyprlandState.refusal)) }
  }
}
