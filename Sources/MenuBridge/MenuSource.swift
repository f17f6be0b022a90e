internal import BridgeSupport
internal import DBus
internal import DBusTypes

/// The items that one program offers for one window, in one way.
///
/// All closures are called on the loop's thread, once each, now or later.
protocol MenuSource: AnyObject {
  /// Called with the id of an item that is enabled now, or not any more, if the program tells it.
  var onEnabled: ((_ id: String, _ isEnabled: Bool) -> Void)? { get set }

  /// Called when the program tells that it may have items now that were not read.
  var onMore: (() -> Void)? { get set }

  /// Whether an item that was read is enabled now; nil unless it calls `onEnabled` for every change of that.
  func isEnabled(_ id: String) -> Bool?

  /// Whether it notices when another item has the place of one that was read.
  var checksItems: Bool { get }

  /// Whether its items can be run; else they only tell more of another's.
  var canRun: Bool { get }

  /// Reads the items; unless `isWhole`, only what few messages tell. Each question may take `timeout`.
  func read(isWhole: Bool, timeout: Duration, _ done: @escaping (Result<[MenuItem], DBusError>) -> Void)

  /// Whether the last reading ended before all was read: the program did not answer in time, or it took too long.
  var isPartial: Bool { get }

  /// Asks the program for an item that was read before, as it is now; `itemGone` if it is not there.
  ///
  /// It has `ProgramBus.changeTimeout`, since somebody waits.
  func look(at id: String, _ done: @escaping (Result<MenuItem, DBusError>) -> Void)

  /// Runs an item that was looked at.
  func run(_ id: String, _ done: @escaping (Result<Void, DBusError>) -> Void)

  /// Forgets the items that were read, but for some: others are read again when they are wanted.
  func forget(except ids: Set<String>)

  /// Takes a signal that came on the bus that programs are asked on.
  func received(_ message: Message)

  /// Undoes what makes the program, or the bus, tell of changes.
  func end()
}

extension MenuSource {
  /// How long a program may take to do what an item stands for.
  static var patience: Duration { .seconds(25) }

  var onEnabled: ((_ id: String, _ isEnabled: Bool) -> Void)? {
    get { nil }
    set {}
  }
  var onMore: (() -> Void)? {
    get { nil }
    set {}
  }
  func isEnabled(_: String) -> Bool? { nil }
  var checksItems: Bool { true }
  var canRun: Bool { true }
  var isPartial: Bool { false }
  func forget(except _: Set<String>) {}
  func received(_: Message) {}
  func end() {}
}

extension DBusError {
  static func itemGone(_ id: String) -> DBusError {
    DBusError(
      .invalidArgs, "the menus of the window have no item '\(id.excerpt)', or not any more: Menu.Items lists them")
  }

  static func opensMenu(_ id: String) -> DBusError {
    DBusError(.notSupported, "the item '\(id.excerpt)' opens a menu, and cannot be run")
  }
}

extension ProgramBus.Answer {
  /// Fails if the program answered that it did not run the item `id`.
  func unlessRefused(_ id: String) -> Result<Void, DBusError> {
    flatMap { values in
      values.first == .boolean(false)
        ? .failure(DBusError(.failed, "the program does not run the item '\(id.excerpt)'")) : .success(())
    }
  }
}
