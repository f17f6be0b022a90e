internal import BridgeSupport
internal import EventLoop
internal import ProgramSupport

/// A connection to a window manager that comes back when the window manager does.
final class LastingStream {
  private let name: String
  private let path: String
  private let loop: EventLoop
  private let log: Log
  private var stream: UnixStream?
  private var reconnection = Reconnection()
  private var isOver = false

  /// Whether it comes back; else it ends when the connection does.
  var isLasting = true

  /// Called with each new connection, before anything arrives.
  var onConnect: (() -> Void)?
  /// Called with what arrives; an error ends the connection.
  var onBytes: (([UInt8]) throws -> Void)?
  /// Called when a connection is gone.
  var onLost: (() -> Void)?
  /// Called when the window manager has been away for so long that its windows are gone.
  var onForgotten: (() -> Void)?
  /// Called once when it does not come back.
  var onEnd: ((String) -> Void)?

  init(_ name: String, path: String, on loop: EventLoop, log: Log) {
    self.name = name
    self.path = path
    self.loop = loop
    self.log = log
  }

  /// Whether there is a connection.
  var isOpen: Bool { stream != nil }

  /// Connects.
  /// - Throws: `SystemError` if nobody listens.
  func connect() throws {
    let stream = try UnixStream(path: path, on: loop)
    self.stream = stream
    stream.onBytes = { [weak self] bytes in
      do { try self?.onBytes?(bytes) } catch { self?.lost("sends what cannot be read: \(error)") }
    }
    stream.onEnd = { [weak self] in self?.lost("has closed its socket") }
    onConnect?()
  }

  func send(_ bytes: [UInt8]) { stream?.send(bytes) }

  /// How many bytes the window manager has not taken yet.
  var unsent: Int { stream?.unsent ?? 0 }

  /// Ends the connection for good: nothing is told any more.
  func end() {
    stream?.close()
    stream = nil
    (onConnect, onBytes, onLost, onForgotten, onEnd) = (nil, nil, nil, nil, nil)
    isOver = true
  }

  /// The windows are told: if the window manager is lost, they stay for a while.
  func told() { reconnection.told() }

  /// The window manager answers: if it is lost, that is for the first time.
  func succeeded() { reconnection.succeeded() }

  /// Ends the connection, which is of no more use; another may be.
  func lost(_ reason: String) {
    guard isOpen else { return }
    stream?.close()
    stream = nil
    log.info("\(name) \(reason)")
    onLost?()
    guard isLasting else {
      onEnd?("\(name) \(reason)")
      return
    }
    if !isOver { connectLater() }
  }

  private func connectLater() {
    guard let next = reconnection.failed() else {
      onEnd?("\(name) is gone: nobody answers at \(path)")
      return
    }
    if next.isForgotten { onForgotten?() }
    loop.schedule(after: next.delay) { [weak self] in
      guard let self, !isOpen, !isOver else { return }
      do { try connect() } catch { connectLater() }
    }
  }
}
