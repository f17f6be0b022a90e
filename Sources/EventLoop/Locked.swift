package import Glibc

/// A value behind a lock of the system's, `pthread_mutex_t`.
///
/// ThreadSanitizer knows that lock, and not the one of `Synchronization.Mutex`, whose users it reports for races.
package final class Locked<Value>: @unchecked Sendable {
  // Sendable for the lock: nothing but `withLock` reaches the value. It has a place of its own, where the lock is all that
  // guards it: what Swift checks besides, that no other thread has it, would take as long as the lock.
  @usableFromInline let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  @usableFromInline let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)

  /// Creates a lock around `value`.
  package init(_ value: Value) {
    self.value.initialize(to: value)
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
    value.deinitialize(count: 1)
    value.deallocate()
  }

  /// A copy of the value: `withLock` stores what it has read, and each time Swift wraps a closure once more for that.
  package var copy: Value {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return value.pointee
  }

  /// Calls `body` with the value while no other thread has it; `body` must not come here again.
  /// - Throws: what `body` throws.
  /// - Returns: what `body` returns.
  @inlinable
  package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value.pointee)
  }
}
