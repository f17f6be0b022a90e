internal import BridgeSupport
internal import DBus
internal import DBusTypes
internal import EventLoop
internal import FocusContract
internal import ProgramSupport

/// What the menus of one window need of the bridge.
protocol WindowMenusDelegate: FrontSession {
  /// The commands that are there, or whether each is enabled, may be others.
  func changed(_ menus: WindowMenus)
}

/// The menus of one window: its sources, and which of their items are standard commands.
final class WindowMenus {
  typealias Completion = (Result<Void, DBusError>) -> Void

  /// Where a command is: the number of the source, and the item's id there.
  private struct Place: Equatable {
    let source: Int
    let id: String
  }

  /// How long a window may take to be in front, and an item to be enabled then.
  private static let patience = Duration.milliseconds(400)
  private static let step = Duration.milliseconds(50)
  /// How long a program may take to show that an item is not checked any more.
  private static let unchecking = Duration.seconds(1)
  /// An item that is not done after this time has begun: it may have opened a dialog.
  private static let begun = Duration.milliseconds(300)
  /// Programs disable some items while another window is in front for a moment.
  private static let disabling = Duration.milliseconds(200)

  let window: ObjectPath
  /// The field's number with the publisher, and its group's.
  let number: UInt64
  private let loop: EventLoop
  private weak var delegate: (any WindowMenusDelegate)?
  private var recognition = Recognition(catalogue: .empty)
  private(set) var sources: [any MenuSource] = []
  private var places: [String: Place] = [:]
  /// Whether each standard command is enabled, as far as the program tells it; by key.
  private(set) var commands: [String: Bool] = [:]
  /// The commands that the field was described with.
  var published: Set<String> = []
  /// Whether any source has items.
  private(set) var hasItems = false
  private var isEnded = false
  /// Why a source could not be read, the last time.
  private var failure: DBusError?
  /// That a program did not answer in time, if that is why.
  private var late: DBusError? { failure.flatMap { $0.isLate ? $0 : nil } }
  /// Whether programs may have more than was read.
  private var isPartial: Bool { late != nil || sources.contains { $0.isPartial } }

  /// How often the program was looked at, whether it is just now, and before when it is not again.
  var looks = 0
  var isLooking = false
  var nextLook = SuspendingClock.now
  /// Whether it is looked at again soon, because of another title.
  var isWaiting = false
  /// Whether it offers so little that there may be more later.
  private(set) var isPoor = true

  init(_ window: ObjectPath, number: UInt64, on loop: EventLoop, _ delegate: any WindowMenusDelegate) {
    (self.window, self.number, self.loop) = (window, number, loop)
    self.delegate = delegate
  }

  func end() {
    isEnded = true
    for source in sources { source.end() }
    sources = []
  }

  func received(_ message: Message) { for source in sources { source.received(message) } }

  // MARK: Sources and their items

  /// Takes the sources, and reads what is seen at first.
  func take(
    _ sources: [any MenuSource], _ recognition: Recognition, timeout: Duration, _ done: @escaping () -> Void
  ) {
    guard !isEnded else {
      for source in sources { source.end() }
      return
    }
    // What offered a part is not gone since it does not answer now.
    guard !sources.isEmpty || !isPartial else { return done() }
    for source in self.sources { source.end() }
    (self.sources, self.recognition) = (sources, recognition)
    for (index, source) in sources.enumerated() {
      source.onEnabled = { [weak self] in self?.enabled(Place(source: index, id: $0), $1) }
    }
    read(isWhole: false, timeout: timeout) { [weak self] _ in
      self?.forget()
      done()
    }
  }

  /// Reads the items of each source, and recognises the standard commands among them; with patience for who waits.
  private func read(
    isWhole: Bool, timeout: Duration = ProgramBus.changeTimeout, _ done: @escaping ([[MenuItem]]) -> Void
  ) {
    let sources = sources
    var all = sources.map { _ in [MenuItem]() }
    failure = nil
    let answers = Answers { [weak self] in
      guard let self, !isEnded else { return done([]) }
      // It was looked at again meanwhile.
      guard sources.elementsEqual(self.sources, by: ===) else {
        return read(isWhole: isWhole, timeout: timeout, done)
      }
      // What a program does not answer in time is as it was.
      if failure == nil || commands.isEmpty { recognise(all) }
      done(all)
    }
    for (index, source) in sources.enumerated() {
      source.read(
        isWhole: isWhole, timeout: timeout,
        answers.expect { result in
          switch result {
          case .success(let items): if all.indices.contains(index) { all[index] = items }
          case .failure(let error): self.failure = self.late ?? error
          }
        })
    }
    answers.finish()
  }

  private func recognise(_ all: [[MenuItem]]) {
    var places: [String: Place] = [:]
    var commands: [String: Bool] = [:]
    for (index, items) in all.enumerated() where sources[index].canRun {
      for (key, id) in recognition.commands(in: items) where places[key] == nil {
        places[key] = Place(source: index, id: id)
        // Most programs tell no changes: what is disabled now may be enabled when it is run.
        commands[key] = sources[index].isEnabled(id) ?? true
      }
    }
    // What a partial reading lacks may still be there.
    guard !isPartial || self.commands.keys.allSatisfy(commands.keys.contains) else { return }
    self.places = places
    hasItems = all.contains { !$0.isEmpty }
    isPoor =
      (isPoor && isPartial) || !all.joined().contains { !$0.menus.isEmpty }
      || !commands.keys.contains { $0.hasPrefix("org.focusd.Edit.") }
    guard commands != self.commands else { return }
    self.commands = commands
    delegate?.changed(self)
  }

  /// Keeps of what was read what the standard commands need.
  private func forget() {
    for (index, source) in sources.enumerated() {
      source.forget(except: Set(places.values.filter { $0.source == index }.map(\.id)))
    }
    // A window's menus take some hundred kilobytes while they are read.
    ServiceProgram.releaseMemory()
  }

  private func enabled(_ place: Place, _ isEnabled: Bool) {
    for (key, each) in places where each == place && commands[key] != isEnabled {
      guard !isEnabled else {
        commands[key] = true
        delegate?.changed(self)
        continue
      }
      loop.schedule(after: Self.disabling) { [weak self] in self?.disable(key, at: place) }
    }
  }

  private func disable(_ key: String, at place: Place) {
    guard !isEnded, places[key] == place, commands[key] == true, delegate?.timeInFront(of: window) != nil,
      isDisabled(place)
    else { return }
    commands[key] = false
    delegate?.changed(self)
  }

  private func isDisabled(_ place: Place) -> Bool {
    sources.indices.contains(place.source) && sources[place.source].isEnabled(place.id) == false
  }

  /// The window is in front again: what the program has disabled meanwhile counts, if it stays so.
  func cameToFront() { for place in places.values where isDisabled(place) { enabled(place, false) } }

  // MARK: Commands

  /// All items, each as `Menu.Items` returns it.
  func items(_ done: @escaping (Result<[DBusValue], DBusError>) -> Void) {
    read(isWhole: true) { [weak self] all in
      let items = MenuMerge.items(all).map(\.value)
      if items.isEmpty, let self, let failure = failure ?? (isPartial ? .unread : nil) {
        return done(.failure(failure))
      }
      done(.success([.array(DBusArray(known: MenuKeys.itemType, items))]))
      self?.forget()
    }
  }

  /// Runs the standard command `key`; if its item is gone, the one that has taken its place.
  func run(_ key: String, isAgain: Bool = false, _ done: @escaping Completion) {
    guard let place = places[key] else {
      return done(.failure(DBusError(.failed, "the menus of the window do not have '\(key)' any more")))
    }
    let refused: Completion = { [weak self] result in
      guard let self, !isAgain, case .failure(let error) = result, error == .itemGone(place.id) else {
        return done(result)
      }
      read(isWhole: false) { _ in self.run(key, isAgain: true, done) }
    }
    whenReady(place, since: .now, refused) { [weak self] _ in self?.perform(place, done) }
  }

  /// Runs the item `id`.
  func activate(_ id: String, _ done: @escaping Completion) {
    find(id, done) { [weak self] place in
      self?.whenReady(place, since: .now, done) { _ in self?.perform(place, done) }
    }
  }

  /// Makes the item `id` checked or not.
  func check(_ id: String, _ isChecked: Bool, _ done: @escaping Completion) {
    find(id, done) { [weak self] place in
      self?.whenReady(place, since: .now, mustBeEnabled: false, done) { item in
        guard let now = item.isChecked else {
          return done(
            .failure(DBusError(.invalidArgs, "the item '\(id.excerpt)' does not show that it can be checked")))
        }
        guard now != isChecked else { return done(.success(())) }
        guard item.isEnabled else { return done(.failure(.disabled(id))) }
        self?.perform(place) { result in
          guard case .success = result, !isChecked else { return done(result) }
          self?.waitUntilUnchecked(place, since: .now, done)
        }
      }
    }
  }

  /// Waits until an item is not checked any more, and fails if it stays so: a radio item does when it is run again.
  private func waitUntilUnchecked(_ place: Place, since start: SuspendingClock.Instant, _ done: @escaping Completion) {
    guard !isEnded, sources.indices.contains(place.source) else { return done(.success(())) }
    sources[place.source].look(at: place.id) { [weak self] result in
      guard let self, case .success(let item) = result, item.isChecked == true else { return done(.success(())) }
      guard SuspendingClock.now - start < Self.unchecking else { return done(.failure(.stillChecked(place.id))) }
      loop.schedule(after: Self.step) { self.waitUntilUnchecked(place, since: start, done) }
    }
  }

  /// Finds an item by id, and reads all items if none that was read before has it.
  private func find(_ id: String, isAgain: Bool = false, _ done: @escaping Completion, _ use: @escaping (Place) -> Void)
  {
    look(id) { [weak self] result in
      guard let self, !isEnded else { return done(.failure(.itemGone(id))) }
      switch result {
      case .success(let place): use(place)
      case .failure(let error) where isAgain || error.isLate: done(.failure(late ?? error))
      case .failure: read(isWhole: true) { _ in self.find(id, isAgain: true, done, use) }
      }
    }
  }

  /// Finds the first source that has an item; if none does, and one did not answer in time, that is why.
  private func look(
    _ id: String, from index: Int = 0, late: DBusError? = nil, _ found: @escaping (Result<Place, DBusError>) -> Void
  ) {
    guard sources.indices.contains(index) else { return found(.failure(late ?? .itemGone(id))) }
    sources[index].look(at: id) { [weak self] result in
      switch result {
      case .success: return found(.success(Place(source: index, id: id)))
      case .failure(let error):
        self?.look(id, from: index + 1, late: error.isLate ? error : late, found) ?? found(.failure(.itemGone(id)))
      }
    }
  }

  /// Waits, for a while, until the window is in front and the item enabled: a launcher may have been in front.
  private func whenReady(
    _ place: Place, since start: SuspendingClock.Instant, mustBeEnabled: Bool = true, _ done: @escaping Completion,
    _ use: @escaping (MenuItem) -> Void
  ) {
    guard !isEnded, sources.indices.contains(place.source) else { return done(.failure(.itemGone(place.id))) }
    let inFront = delegate?.timeInFront(of: window)
    let mayWait = SuspendingClock.now - start < Self.patience
    let again = { [weak self] in
      guard let self else { return done(.failure(.itemGone(place.id))) }
      loop.schedule(after: Self.step) { self.whenReady(place, since: start, mustBeEnabled: mustBeEnabled, done, use) }
    }
    guard inFront != nil || !mayWait else { return again() }
    sources[place.source].look(at: place.id) { [weak self] result in
      guard let self, !isEnded else { return done(.failure(.itemGone(place.id))) }
      switch result {
      case .failure(let error): done(.failure(error))
      case .success(let item) where item.isEnabled || !mustBeEnabled: use(item)
      case .success:
        // It was in front all the time.
        guard mayWait, inFront ?? .zero < Self.patience else { return done(.failure(.disabled(place.id))) }
        again()
      }
    }
  }

  private func perform(_ place: Place, _ done: @escaping Completion) {
    guard !isEnded, sources.indices.contains(place.source) else { return done(.failure(.itemGone(place.id))) }
    var answer: Completion? = done
    let timer = loop.schedule(after: Self.begun) {
      answer?(.success(()))
      answer = nil
    }
    sources[place.source].run(place.id) { [loop] result in
      loop.cancel(timer)
      answer?(result)
      answer = nil
    }
  }
}

extension DBusError {
  fileprivate static let unread = DBusError(.timeout, "the items cannot be read: \(programSilent.message)")

  fileprivate static func stillChecked(_ id: String) -> DBusError {
    DBusError(
      .failed,
      "the program was asked, and the item '\(id.excerpt)' is still checked: check another of its group instead")
  }

  fileprivate static func disabled(_ id: String) -> DBusError {
    DBusError(Focus1.disabled, "the program has disabled the item '\(id.excerpt)'")
  }
}
