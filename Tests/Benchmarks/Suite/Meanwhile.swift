internal import Foundation
internal import TestSupport

/// From when to when something was under way.
struct Window: Sendable {
  let start: ContinuousClock.Instant
  let end: ContinuousClock.Instant

  /// Runs `body`.
  /// - Throws: what `body` throws.
  init(_ body: () throws -> Void) rethrows {
    start = .now
    try body()
    end = .now
  }

  var milliseconds: Double { (end - start) / .milliseconds(1) }

  func overlaps(_ other: Window) -> Bool { start < other.end && other.start < end }
}

extension WireConnection {
  /// Calls, and waits for the reply; `object` answers what is asked meanwhile.
  /// - Throws: `NotMeasured` for an error unless `mayFail`; `WireError`.
  func call(_ draft: WireDraft, object: WireObject? = nil, mayFail: Bool = false) throws {
    let serial = try send(draft)
    while true {
      let message = try receive()
      if let answer = object?.answer(to: message) { try send(answer) }
      guard message.replySerial == serial else { continue }
      guard mayFail || message.errorName == nil else {
        throw NotMeasured(description: "a call was refused: \(message.errorName ?? ""): \(message.text)")
      }
      return
    }
  }
}

/// The milliseconds that each call of `get` takes that is under way at the same time as one of the windows that `load`
/// returns; one client makes those calls one after another, on a thread of its own.
/// - Throws: what `load` throws; `WireError`, `NotMeasured`, `DeadlinePassed`.
func delays(of get: WireDraft, on address: String, during load: () throws -> [Window]) async throws -> Samples {
  let isOver = Observed(false)
  let hasBegun = Observed(false)
  let result = Observed<Result<[Window], any Error>?>(nil)
  Thread.detachNewThread {
    let read = Result {
      let connection = try WireConnection(address: address)
      var windows: [Window] = []
      while !isOver.now {
        windows.append(try Window { try connection.call(get) })
        if windows.count == 10 { hasBegun.update { $0 = true } }
      }
      return windows
    }
    result.update { $0 = read }
    hasBegun.update { $0 = true }
  }
  _ = try await hasBegun.wait(for: "reads") { $0 ? true : nil }
  let loads = Result { try load() }
  isOver.update { $0 = true }
  let reads = try await result.wait(for: "end of the reads", within: .seconds(120)) { $0 }.get()
  let windows = try loads.get()
  var samples = Samples()
  samples.add(reads.filter { read in windows.contains { $0.overlaps(read) } }.map(\.milliseconds))
  return samples
}
