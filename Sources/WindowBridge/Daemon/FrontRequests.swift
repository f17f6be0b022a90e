internal import DBus

/// Those who wait until a window is in front.
struct FrontRequests {
  typealias Completion = (Result<Void, DBusError>) -> Void

  private var waiting: [WindowID: [(number: UInt64, completion: Completion)]] = [:]
  private var lastNumber: UInt64 = 0

  /// Adds one who waits for the window `id`.
  /// - Returns: its number.
  mutating func add(_ id: WindowID, _ completion: @escaping Completion) -> UInt64 {
    lastNumber += 1
    waiting[id, default: []].append((lastNumber, completion))
    return lastNumber
  }

  /// Whether somebody waits for the window `id`.
  func isAwaited(_ id: WindowID) -> Bool { waiting[id] != nil }

  /// The window is in front.
  mutating func succeed(_ id: WindowID) {
    for (_, completion) in waiting.removeValue(forKey: id) ?? [] { completion(.success(())) }
  }

  /// The window will not be in front: for all who wait for it, or for the one with a number.
  mutating func fail(_ id: WindowID, number: UInt64? = nil, _ reason: String) {
    let ended = (waiting[id] ?? []).filter { number == nil || $0.number == number }
    waiting[id]?.removeAll { number == nil || $0.number == number }
    if waiting[id]?.isEmpty == true { waiting[id] = nil }
    let error = DBusError(.failed, "cannot bring the window \(id) to the front: \(reason)")
    for (_, completion) in ended { completion(.failure(error)) }
  }
}
