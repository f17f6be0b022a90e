internal import Dispatch

/// Where closures may be called: anywhere, or only on the main actor if they were created there.
struct Isolation: Sendable {
  static let anywhere = Isolation([])

  private let isMain: Bool

  /// The isolation of closures that are isolated to `actors`.
  init(_ actors: [(any Actor)?]) { isMain = actors.contains { $0 === MainActor.shared } }

  /// Runs `body` there and waits for it.
  func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard isMain, !Self.isOnMain else { return try body() }
    return try DispatchQueue.main.sync(execute: body)
  }

  private static let mark: DispatchSpecificKey<Bool> = {
    let mark = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: mark, value: true)
    return mark
  }()

  /// Whether this is the main actor: the main thread, or Dispatch's replacement for it.
  private static var isOnMain: Bool { DispatchQueue.getSpecific(key: mark) ?? false }
}
