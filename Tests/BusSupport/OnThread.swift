internal import Foundation

/// Runs `body`, which may block, on a thread of its own.
/// - Throws: what `body` throws.
@discardableResult
package func onThread<Result: Sendable>(
  _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
  try await withCheckedThrowingContinuation { continuation in
    let thread = Thread { continuation.resume(with: Swift.Result { try body() }) }
    thread.start()
  }
}

/// Whether the long runs were asked for, with `FOCUSD_SLOW=1`.
package let isSlow = ProcessInfo.processInfo.environment["FOCUSD_SLOW"] == "1"
