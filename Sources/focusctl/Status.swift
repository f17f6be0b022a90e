/// The exit status of a call.
enum Status: Int32, Sendable {
  /// Success.
  case done = 0
  /// The key resolves to nothing.
  case nothing = 1
  /// Usage error.
  case usage = 2
  /// There is no bus, or no daemon on it.
  case noDaemon = 3
  /// The daemon, or the field's owner, refused it.
  case refused = 4
  /// Changes by others conflicted again and again.
  case conflict = 5
}

/// Ends a command early, with a status and, unless it succeeded, a message.
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
