/// Where closures may be called: anywhere, or only on the main actor if they were created there.
enum Isolation: Sendable {
  case anywhere
  case main
  /// On an actor of the program's own, where nobody can call them without waiting.
  case foreign(String)

  /// The isolation of closures that are isolated to `actors`.
  init(_ actors: [(any Actor)?]) {
    let actors = actors.compactMap { $0 }
    if let foreign = actors.first(where: { $0 !== MainActor.shared }) {
      self = .foreign("\(type(of: foreign))")
    } else {
      self = actors.isEmpty ? .anywhere : .main
    }
  }

  /// Runs `body` there and waits for it.
  func run<Output, Failure>(_ body: () throws(Failure) -> Output) throws(Failure) -> Output {
    switch self {
    case .anywhere: return try body()
    case .main: return try MainThread.wait(body)
    case .foreign(let actor): preconditionFailure(Self.refusal(of: actor))
    }
  }

  /// Refuses closures that cannot be called.
  /// - Throws: `FocusError`.
  func check() throws(FocusError) {
    if case .foreign(let actor) = self { throw FocusError(Self.refusal(of: actor)) }
  }

  private static func refusal(of actor: String) -> String {
    "the closures of a 'Binding' belong to the actor '\(actor)': only closures of the main actor, or of none, can be read "
      + "and written without waiting"
  }
}
