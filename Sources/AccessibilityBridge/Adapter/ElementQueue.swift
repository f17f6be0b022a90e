internal import BridgeSupport
package import DBus
internal import DBusTypes

/// The writes and commands of one element, which are carried out one after another.
///
/// Each reads the element first, and would otherwise not see what the one before it is about to change.
package final class ElementQueue {
  package typealias Completion = (Result<Void, DBusError>) -> Void
  /// Carries out a write, and calls the completion once.
  package typealias Write = (@escaping Completion) -> Void

  /// The most writes that wait.
  package static let limit = 256
  /// The errors of an element, or of a program, that cannot carry out the next write either.
  private static let lasting: [ErrorName] = [.unknownObject, .noReply, .timeout, .disconnected]

  private var waiting: [(write: Write, done: Completion)] = []
  private var isBusy = false

  package init() {}

  deinit { end() }

  /// Starts `write` when those before it are over; `done` gets its outcome.
  ///
  /// If the element is gone or its program does not reply, those that wait fail, too: `UnknownObject` or `Timeout`; one
  /// too many fails at once: `LimitsExceeded`.
  package func add(_ write: @escaping Write, _ done: @escaping Completion) {
    guard waiting.count < Self.limit else {
      return done(
        .failure(DBusError(.limitsExceeded, "\(Self.limit) writes and commands of the element are already waiting")))
    }
    waiting.append((write, done))
    startNext()
  }

  private func startNext() {
    guard !isBusy, !waiting.isEmpty else { return }
    isBusy = true
    let (write, done) = waiting.removeFirst()
    write { [weak self] outcome in
      done(outcome)
      guard let self else { return }
      isBusy = false
      if case .failure(let error) = outcome, Self.lasting.contains(error.name) {
        end(error.isLate ? .programSilent : .elementGone)
      }
      startNext()
    }
  }

  private func end(_ error: DBusError = .elementGone) {
    let ended = waiting
    waiting = []
    for (_, done) in ended { done(.failure(error)) }
  }
}
