internal import DBus
internal import DBusTypes

/// A menu bar whose items another source has, too, with more of them but their keys.
final class AcceleratorSource: MenuSource {
  /// Nil while it is not known which menu bar it is.
  var bar: (any MenuSource)?
  var onEnabled: ((_ id: String, _ isEnabled: Bool) -> Void)?

  var canRun: Bool { false }

  init(of bar: (any MenuSource)? = nil) { self.bar = bar }

  /// Nothing at first sight, and nothing that could be run.
  func read(isWhole: Bool, timeout: Duration, _ done: @escaping (Result<[MenuItem], DBusError>) -> Void) {
    guard isWhole, let bar else { return done(.success([])) }
    bar.read(isWhole: true, timeout: timeout, done)
  }

  func look(at id: String, _ done: @escaping (Result<MenuItem, DBusError>) -> Void) { done(.failure(.itemGone(id))) }
  func run(_ id: String, _ done: @escaping (Result<Void, DBusError>) -> Void) { done(.failure(.itemGone(id))) }
}
