import BusSupport
import Foundation
import TestSupport
import Testing

/// A daemon on a bus of its own, a client that tries its limits, and another that sees whether that changes anything.
struct Siege: @unchecked Sendable {
  let bus: PrivateBus
  let daemon: ManagedProcess
  let glutton: Glutton
  let watcher: Glutton

  /// Runs `body` on a thread of its own; the daemon must be alive afterwards.
  static func with(_ body: @escaping @Sendable (Siege) throws -> Void) async throws {
    try await TestDesktop.with { desktop in
      let bus = desktop.bus
      let siege = Siege(
        bus: bus, daemon: desktop.daemon, glutton: try Glutton(on: bus), watcher: try Glutton(on: bus))
      try siege.watcher.listen()
      try await onThread { try body(siege) }
    }
  }

  /// Checks that `attempt` succeeds; else the test is over.
  func takes(_ what: String, at location: SourceLocation = #_sourceLocation, _ attempt: () throws -> Glutton.Answer)
    throws
  {
    let answer = try attempt()
    let isTaken = answer.error == nil
    try #require(isTaken, "\(what): \(answer)", sourceLocation: location)
  }

  /// Checks that `attempt` is refused as past a limit and changes nothing; else the test is over.
  ///
  /// What the daemon shows is as before, all of it or `view`, and it sends no signal.
  /// - Returns: the message of the error.
  /// - Throws: `ExpectationFailedError`, `WireError`.
  @discardableResult
  func refuses(
    _ what: String, at location: SourceLocation = #_sourceLocation, view: ((Glutton) throws -> [Data])? = nil,
    _ attempt: () throws -> Glutton.Answer
  ) throws -> String {
    let view = view ?? { try $0.view() }
    let before = try view(watcher)
    let signals = watcher.signals.count
    let answer = try attempt()
    // The signals of the call precede the reply to this one.
    let (isPastLimit, isSame) = (answer.isPastLimit, try view(watcher) == before)
    try #require(isPastLimit, "\(what): \(answer)", sourceLocation: location)
    try #require(isSame, "\(what): something changed", sourceLocation: location)
    try #require(watcher.signals[signals...] == [], "\(what): it was told of", sourceLocation: location)
    return answer.message
  }

  /// Checks that `attempt` is refused because of what others have, and that its message says so.
  func refusesForOthers(
    _ what: String, at location: SourceLocation = #_sourceLocation, view: ((Glutton) throws -> [Data])? = nil,
    _ attempt: () throws -> Glutton.Answer
  ) throws {
    let message = try refuses(what, at: location, view: view, attempt)
    let tellsOfOthers = message.contains("other") || message.contains("together")
    #expect(tellsOfOthers, "\(what): \(message)", sourceLocation: location)
  }

  /// Waits until the field `id` has no owner any more.
  func waitForOrphan(_ id: String) throws {
    let owner: [WireValue] = [.string(Focus1.fieldInterface), .string("Owner")]
    let nobody = WireBytes([.variant(.string(""))]).bytes
    while try watcher.call(Focus1.field(id), Focus1.properties, "Get", owner).body != nobody {}
  }

  /// Waits until there is no field `id` any more.
  func waitForEnd(_ id: String) throws {
    while try watcher.call(Focus1.field(id), Focus1.bindings, "ReadAll").error == nil {}
  }
}
