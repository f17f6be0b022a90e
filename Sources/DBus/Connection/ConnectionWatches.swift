internal import CDBus
internal import EventLoop
internal import Glibc

/// Joins one libdbus connection to an event loop: its watches, its timeouts and its dispatching.
final class ConnectionWatches {
  /// How many messages one turn handles at most, so that its end, and other sources, get their time.
  private static let messagesPerTurn = 256
  /// How many bytes may wait to be written, because the bus is slow to read, before no more messages are handled.
  private static let outgoingLimit = 64 << 20
  /// Likewise how many file descriptors: a message takes another copy of each.
  private static let outgoingDescriptorLimit = 256

  /// No watch's address.
  private static let outputToken: UInt = 0

  /// Kept alive while messages are dispatched: a handler may drop the last other reference.
  private weak var owner: Connection?
  private let connection: OpaquePointer
  private let loop: EventLoop
  private var watches: [OpaquePointer] = []
  private var timeouts: [(raw: OpaquePointer, due: SuspendingClock.Instant)] = []
  /// Whether messages have arrived that are not dispatched yet.
  private var hasMessages: Bool

  init(_ connection: Connection, _ loop: EventLoop) {
    owner = connection
    self.connection = connection.raw
    self.loop = loop
    hasMessages = dbus_connection_get_dispatch_status(connection.raw) == DBUS_DISPATCH_DATA_REMAINS
    let data = Unmanaged.passUnretained(self).toOpaque()
    dbus_connection_set_watch_functions(
      self.connection,
      { watch, data in
        ConnectionWatches.with(data) { if let watch { $0.watches.append(watch) } }
        return 1
      },
      { watch, data in ConnectionWatches.with(data) { source in source.watches.removeAll { $0 == watch } } },
      nil, data, nil)
    dbus_connection_set_timeout_functions(
      self.connection,
      { timeout, data in
        ConnectionWatches.with(data) { if let timeout { $0.restart(timeout) } }
        return 1
      },
      { timeout, data in ConnectionWatches.with(data) { source in source.timeouts.removeAll { $0.raw == timeout } } },
      { timeout, data in ConnectionWatches.with(data) { if let timeout { $0.restart(timeout) } } },
      data, nil)
    dbus_connection_set_dispatch_status_function(
      self.connection,
      { _, status, data in ConnectionWatches.with(data) { $0.hasMessages = status == DBUS_DISPATCH_DATA_REMAINS } },
      data, nil)
    loop.add(self)
  }

  private static func with(_ data: UnsafeMutableRawPointer?, _ body: (ConnectionWatches) -> Void) {
    guard let data else { return }
    body(Unmanaged<ConnectionWatches>.fromOpaque(data).takeUnretainedValue())
  }

  func detach() {
    loop.remove(self)
    owner = nil
    dbus_connection_set_watch_functions(connection, nil, nil, nil, nil, nil)
    dbus_connection_set_timeout_functions(connection, nil, nil, nil, nil, nil)
    dbus_connection_set_dispatch_status_function(connection, nil, nil, nil)
  }

  private func restart(_ timeout: OpaquePointer) {
    timeouts.removeAll { $0.raw == timeout }
    guard dbus_timeout_get_enabled(timeout) != 0 else { return }
    timeouts.append((timeout, SuspendingClock.now + .milliseconds(Int(dbus_timeout_get_interval(timeout)))))
  }
}

extension ConnectionWatches: EventSource {
  private var hasPendingWork: Bool { (hasMessages || owner?.hasArrivals == true) && isHeard }

  /// Whether the bus takes what is sent to it.
  ///
  /// While a message is half written nothing is dispatched: libdbus would send its own replies in the middle of it.
  private var isHeard: Bool {
    guard let owner else { return false }
    // Of a connection that is gone nothing more is written, and its end has not been reported yet.
    guard owner.isConnected else { return true }
    guard !owner.hasOutput else { return false }
    return dbus_connection_get_outgoing_size(connection) < Self.outgoingLimit
      && dbus_connection_get_outgoing_unix_fds(connection) < Self.outgoingDescriptorLimit
  }

  func prepare(_ set: inout PollSet) {
    if hasPendingWork { set.hasPendingWork = true }
    for timeout in timeouts { set.wake(at: timeout.due) }
    if let owner, owner.hasOutput, !owner.outputWaitsForLibrary, let socket = owner.socket {
      set.add(socket, events: Int16(POLLOUT), source: self, token: Self.outputToken)
    }
    for watch in watches where dbus_watch_get_enabled(watch) != 0 {
      let flags = dbus_watch_get_flags(watch)
      var events: Int32 = 0
      if flags & DBUS_WATCH_READABLE.rawValue != 0 { events |= Int32(POLLIN) }
      if flags & DBUS_WATCH_WRITABLE.rawValue != 0 { events |= Int32(POLLOUT) }
      set.add(
        dbus_watch_get_unix_fd(watch), events: Int16(events), source: self, token: UInt(bitPattern: watch))
    }
  }

  func ready(token: UInt, events: Int16) {
    // A watch may have been removed by what an earlier one of this turn did.
    guard let watch = watches.first(where: { UInt(bitPattern: $0) == token }) else { return }
    var flags: UInt32 = 0
    let events = Int32(events)
    if events & Int32(POLLIN) != 0 { flags |= DBUS_WATCH_READABLE.rawValue }
    if events & Int32(POLLOUT) != 0 { flags |= DBUS_WATCH_WRITABLE.rawValue }
    if events & Int32(POLLERR) != 0 { flags |= DBUS_WATCH_ERROR.rawValue }
    if events & Int32(POLLHUP | POLLNVAL) != 0 { flags |= DBUS_WATCH_HANGUP.rawValue }
    dbus_watch_handle(watch, flags)
  }

  func dispatch() {
    // A source that is detached in the middle of a turn is still asked once.
    guard let owner else { return }
    defer { withExtendedLifetime(owner) {} }
    if !timeouts.isEmpty {
      let now = SuspendingClock.now
      for timeout in timeouts where timeout.due <= now {
        guard timeouts.contains(where: { $0.raw == timeout.raw }) else { continue }
        restart(timeout.raw)
        dbus_timeout_handle(timeout.raw)
      }
    }
    if owner.hasOutput { try? owner.writeOutput() }
    guard hasPendingWork else { return }
    for _ in 0..<Self.messagesPerTurn {
      if !owner.hasArrivals { hasMessages = dbus_connection_dispatch(connection) == DBUS_DISPATCH_DATA_REMAINS }
      owner.handleNext()
      // What is handled may detach the connection.
      guard hasPendingWork else { return }
    }
  }
}
