internal import Synchronization

/// What one task waits for; the first result counts, and the end of the task is one.
final class Answer<Value: Sendable>: Sendable {
  private let stream: AsyncThrowingStream<Value, any Error>
  private let continuation: AsyncThrowingStream<Value, any Error>.Continuation
  private let hasEnded = Atomic(false)

  init() {
    (stream, continuation) = AsyncThrowingStream.makeStream()
    continuation.onTermination = { [weak self] _ in self?.hasEnded.store(true, ordering: .releasing) }
  }

  /// Whether nobody waits any more.
  var isOver: Bool { hasEnded.load(ordering: .acquiring) }

  /// Ends the wait, unless it has ended.
  func resume(with result: Result<Value, any Error>) {
    continuation.yield(with: result)
    continuation.finish()
  }

  /// Waits for the result, once.
  /// - Throws: the result's error; `CancellationError` if the task is cancelled first.
  nonisolated(nonsending) func value() async throws -> Value {
    do {
      for try await value in stream { return value }
    } catch {
      // Without this, the caller goes on elsewhere than on its actor: https://github.com/swiftlang/swift/issues/88259
      throw error
    }
    throw CancellationError()
  }
}
