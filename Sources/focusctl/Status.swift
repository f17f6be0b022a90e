/// How a call ends, as its exit status says it.
enum Status: Int32, Sendable {
  /// It is done.
  case done = 0
  /// The key resolves to nothing.
  case nothing = 1
  /// The words of the call are off.
  case usage = 2
  /// There is no bus, or no daemon on it.
  case noDaemon = 3
  /// The daemon, or the field's owner, refused it.
  case refused = 4
  /// Somebody else's change came in between, again and again.
  case conflict = 5
}

/// Ends a command before its end: with a status, and a sentence for people where there is something to say.
struct CommandError: Error, Hashable, Sendable {
  let status: Status
  let message: String?

  init(_ status: Status, _ message: String? = nil) {
    self.status = status
    self.message = message
  }

  static func usage(_ message: String) -> CommandError { CommandError(.usage, message) }
  static func refused(_ message: String) -> CommandError { CommandError(.refused, message) }
}
