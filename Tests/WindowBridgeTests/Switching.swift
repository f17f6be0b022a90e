import BusSupport
import DBusTypes
import TestSupport
import Testing

/// A window that a test switches to.
struct Target: Sendable, Equatable {
  let window: String
  /// The field of the program in it, if that has one.
  var field: String?
  /// Whether the program says when it gains and loses focus, as `demo.Form.State`.
  var reports = false

  var path: [String] { [field, window].compactMap(\.self) }
}

/// Switches between windows, each time to another, and expects the right field when both sides have settled.
func switchTimes(
  _ count: Int, _ targets: [Target], _ peer: Peer, to activate: (Target) async throws -> Void
) async throws {
  var (random, current) = (SystemRandomNumberGenerator(), -1)
  for _ in 0..<count {
    let next = targets.indices.filter { $0 != current }.randomElement(using: &random) ?? 0
    let target = targets[next]
    try await activate(target)
    try await eventually("window \(target.window)") { try await peer.path().last == target.window }
    // All others: what one of them said before the first round may be on its way.
    for other in targets where other.window != target.window { try await peer.hasSaid("out", other) }
    try await peer.hasSaid("in", target)
    // Window managers may say meanwhile that no window is in front.
    try await peer.reached(target.path)
    current = next
  }
}

extension Peer {
  /// Waits until the program in a window, if it says so, has said that it gained or lost focus, and was answered.
  func hasSaid(_ state: String, _ target: Target) async throws {
    guard target.reports, let field = target.field else { return }
    do {
      try await eventually("\(field) says \(state)") {
        try await self.read("demo.Form.State", at: Focus1.field(field)).value == .string(state)
      }
    } catch let error as DeadlinePassed {
      let said = try await self.read("demo.Form.State", at: Focus1.field(field)).value
      Issue.record("\(field) says \(String(describing: said)), and the focus path is \(try await self.path())")
      throw error
    }
  }

  /// The window whose program says that it has the keyboard, if one alone says so.
  func front(of targets: [Target]) async throws -> Target? {
    var front: [Target] = []
    for target in targets {
      guard let field = target.field else { continue }
      let said = try await read("demo.Form.State", at: Focus1.field(field)).value
      if said == .string("in") { front.append(target) }
    }
    return front.count == 1 ? front.first : nil
  }

  /// Waits for the window with a title.
  func window(_ title: String) async throws -> String {
    try await eventually("window '\(title)'") { try await self.windows()[title] != nil }
    return try #require(try await windows()[title])
  }
}
