internal import Foundation

/// Runs `body`, which may block, on a thread of its own.
/// - Throws: what `body` throws.
@discardableResult
package func onThread<Result: Sendable>(
  _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
  try await withTaskExecutorPreference(OwnThread()) { try body() }
}

/// Runs `body`, whose parts may block, on threads of their own: the tasks of other tests have only as many as there are
/// processors.
/// - Throws: what `body` throws.
package func onOwnThreads<Result>(_ body: @Sendable () async throws -> Result) async rethrows -> Result {
  try await withTaskExecutorPreference(OwnThread()) { try await body() }
}

/// Runs each job on a new thread; what is recorded there still belongs to the test whose task it is.
private final class OwnThread: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
