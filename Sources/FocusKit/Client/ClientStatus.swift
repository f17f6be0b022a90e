internal import DBusTypes
internal import DaemonClient
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
  }

  // Observation alone may miss a change that another thread makes while it begins to watch.
  private let state = Followed<State, Content>(State()) { $0.content }
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
    state.update {
      let before = $0.content
      change(&$0)
      $0.content.isConnected = $0.hasValues && $0.hasFocus
      return $0.content != before
    } observed: {
      registrar.withMutation(of: self, keyPath: \.content) {}
    }
  }

  /// Calls `sink` now and after each change, one call after another, until the result is called.
  func follow(_ sink: @escaping (Content) -> Void) -> @Sendable () -> Void {
    state.follow(withCurrent: true, sink)
  }
}

/// The connection's state: Observation sees each change of it.
extension FocusClient {
  /// Whether the daemon is there, and all that is focused is known, but for what an owner does not answer in time; until then,
  /// and without it, every focused value is nil.
  ///
  /// Reading it connects nothing: see ``connect()``.
  public var isConnected: Bool { cache.status.content.isConnected }

  /// The id of the field that has focus, of this program or of another; nil if none has, or if the client is not connected.
  ///
  /// It is the ``FocusField/id`` of a field of this program.
  public var focusedField: String? { cache.status.content.focusedField }

  /// The value of ``isConnected`` or ``focusedField`` now and after each change, until the task that asks ends.
  ///
  /// ```swift
  /// for await isConnected in client.changes(of: \.isConnected) { … }
  /// ```
  ///
  /// If the values come faster than they are taken, only the newest waits.
  public func changes<Value: Equatable & Sendable>(of keyPath: KeyPath<FocusClient, Value>) -> AsyncStream<Value> {
    start()
    // A key path is immutable, and only used for reading.
    nonisolated(unsafe) let keyPath = keyPath
    return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      // Those who follow are told one value after another.
      nonisolated(unsafe) var last: Value?
      let cancel = cache.status.follow { [weak self] _ in
        guard let value = self?[keyPath: keyPath], last != value else { return }
        last = value
        continuation.yield(value)
      }
      // The iterator over the changes keeps the client.
      continuation.onTermination = { [self] _ in withExtendedLifetime(self) { cancel() } }
    }
  }
}
