internal import DBus
internal import DBusTypes

/// The menu bar of a window whose items another source offers as well: it tells their keys, and runs those that the other cannot.
final class SupplementSource: MenuSource {
  private let main: GTKSource
  /// The menu bar; nil before `choose` was called, and if the window has no menu bar.
  private var bar: MenuBarSource?
  private var isChosen = false
  private var waiting: [() -> Void] = []

  var canRun: Bool { main.isLacking }
  var checksItems: Bool { bar?.checksItems ?? true }
  var isPartial: Bool { canRun && bar?.isPartial == true }

  init(to main: GTKSource) { self.main = main }

  convenience init(to main: GTKSource, _ bar: MenuBarSource) {
    self.init(to: main)
    choose(bar)
  }

  /// Sets the menu bar, which is nil if the window has none, and answers the readings that wait for it.
  func choose(_ bar: MenuBarSource?) {
    (self.bar, isChosen) = (bar, true)
    let readings = waiting
    waiting = []
    for read in readings { read() }
  }

  /// Reads nothing at first sight, unless the other source lacks something.
  func read(isWhole: Bool, timeout: Duration, _ done: @escaping (Result<[MenuItem], DBusError>) -> Void) {
    guard isWhole || canRun else { return done(.success([])) }
    if canRun, !isChosen {
      return waiting.append { [weak self] in
        self?.read(isWhole: isWhole, timeout: timeout, done) ?? done(.success([]))
      }
    }
    guard let bar else { return done(.success([])) }
    bar.read(isWhole: isWhole, timeout: timeout, done)
  }

  func look(at id: String, _ done: @escaping (Result<MenuItem, DBusError>) -> Void) {
    bar?.look(at: id, done) ?? done(.failure(.itemGone(id)))
  }

  func run(_ id: String, _ done: @escaping (Result<Void, DBusError>) -> Void) {
    bar?.run(id, done) ?? done(.failure(.itemGone(id)))
  }

  func forget(except ids: Set<String>) { bar?.forget(except: ids) }
}
