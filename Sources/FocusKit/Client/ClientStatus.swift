internal import DBusTypes
internal import EventLoop
internal import FocusClient
internal import FocusContract
internal import Observation

/// Whether the daemon is there, and which field has focus; only the worker changes it.
final class ClientStatus: Observable, Sendable {
  struct Content: Hashable {
    var isConnected = false
    var focusedField: String?
  }

  private struct State {
    var content = Content()
    /// What the daemon has told since it came: it is there once both are known.
    var hasValues = false
    var hasFocus = false
    var followers: [UInt64: @Sendable () -> Void] = [:]
    var lastFollower: UInt64 = 0
  }

  private let state = Locked(State())
  private let registrar = ObservationRegistrar()

  /// What readers see.
  var content: Content {
    registrar.access(self, keyPath: \.content)
    return state.withLock { $0.content }
  }

  /// Updates the status from the daemon's message.
  func take(_ event: Mirror.Event) {
    switch event {
    case .values: update { $0.hasValues = true }
    case .focusedField(let path):
      update { state in
        state.hasFocus = true
        state.content.focusedField = path.flatMap { FieldID($0)?.text }
      }
    case .ended:
      update { state in
        (state.hasValues, state.hasFocus) = (false, false)
        state.content.focusedField = nil
      }
    case .failed, .changed, .commands, .focusMoved: break
    }
  }

  private func update(_ change: (inout State) -> Void) {
    let followers = state.withLock { state -> [@Sendable () -> Void]? in
      let before = state.content
      change(&state)
      state.content.isConnected = state.hasValues && state.hasFocus
      return state.content == before ? nil : Array(state.followers.values)
    }
    guard let followers else { return }
    registrar.withMutation(of: self, keyPath: \.content) {}
    for follower in followers { follower() }
  }

  /// Calls `follower` after each change until the result is called.
  func follow(_ follower: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    let number = state.withLock { state in
      state.lastFollower += 1
      state.followers[state.lastFollower] = follower
      return state.lastFollower
    }
    return { [self] in state.withLock { $0.followers[number] = nil } }
  }
}

/// The connection's state: Observation sees each change of it.
extension FocusClient {
  /// Whether the daemon is there, and all that is focused is known; until then, and without it, every focused value is nil.
  ///
  /// The client connects when it is first used, and this is a use.
  public var isConnected: Bool { status.content.isConnected }

  /// The id of the field that has focus, of this program or of another; nil if none has, or if the client is not connected.
  ///
  /// It is the ``FocusField/id`` of a field of this program.
  public var focusedField: String? { status.content.focusedField }

  /// The value of ``isConnected`` or ``focusedField`` now and after each change, until the task that asks ends.
  ///
  /// ```swift
  /// for await isConnected in client.changes(of: \.isConnected) { … }
  /// ```
  ///
  /// If the values come faster than they are taken, only the newest waits.
  public func changes<Value: Equatable & Sendable>(of keyPath: KeyPath<FocusClient, Value>) -> AsyncStream<Value> {
    // A key path is immutable, and only used for reading.
    nonisolated(unsafe) let keyPath = keyPath
    return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let last = Locked<Value?>(nil)
      let tell = { @Sendable (client: FocusClient) in
        last.withLock { last in
          let value = client[keyPath: keyPath]
          guard last != value else { return }
          last = value
          continuation.yield(value)
        }
      }
      let cancel = status.follow { [weak self] in self.map(tell) }
      tell(self)
      // The iterator over the changes keeps the client.
      continuation.onTermination = { [self] _ in withExtendedLifetime(self) { cancel() } }
    }
  }

  private var status: ClientStatus {
    start()
    return cache.status
  }
}
