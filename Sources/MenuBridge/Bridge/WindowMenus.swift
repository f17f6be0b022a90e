internal import BridgeSupport
internal import DBus
internal import DBusTypes
internal import EventLoop
internal import ProgramSupport

/// What the menus of one window need of the bridge.
protocol WindowMenusDelegate: FrontSession {
  /// The commands that are there, or whether each is enabled, may be others.
  func changed(_ menus: WindowMenus)
  func isPoorChanged(of menus: WindowMenus)
}

/// The menus of one window: its sources, and which of their items are standard commands.
final class WindowMenus {
  typealias Completion = (Result<Void, DBusError>) -> Void

  /// Where a command is: the number of the source, and the item's id there.
  struct Place: Equatable {
    let source: Int
    let id: String
  }

  /// Programs disable some items while another window is in front for a moment.
  private static let disabling = Duration.milliseconds(200)

  let window: ObjectPath
  /// The field's number with the publisher, and its group's.
  let number: UInt64
  let loop: EventLoop
  private(set) weak var delegate: (any WindowMenusDelegate)?
  private var recognition = Recognition(catalogue: .empty)
  private(set) var sources: [any MenuSource] = []
  private(set) var places: [String: Place] = [:]
  /// Whether each standard command is enabled, as far as the program tells it; by key.
  private(set) var commands: [String: Bool] = [:]
  /// The commands that the field was described with.
  var published: Set<String> = []
  /// Whether any source has items.
  private(set) var hasItems = false
  private(set) var isEnded = false
  /// Why a source could not be read, the last time.
  private(set) var failure: DBusError?
  /// That a program did not answer in time, if that is why.
  var late: DBusError? { failure.flatMap { $0.isLate ? $0 : nil } }
  /// Whether programs may have more than was read.
  var isPartial: Bool { late != nil || sources.contains { $0.isPartial } }

  /// The process of its program; 0 while it is not known.
  var process: UInt32 = 0
  /// Whether the window manager tells it.
  var isProcessTold = false
  /// How often the program was looked at, whether it is just now, and before when it is not again.
  var looks = 0
  var isLooking = false
  var nextLook = SuspendingClock.now
  /// Whether it is looked at again soon, because of another title.
  var isWaiting = false
  /// Whether some of its sources may not have been found yet.
  private var isUnsure = false
  /// Whether it offers so little that there may be more later.
  private(set) var isPoor = true {
    didSet { if isPoor != oldValue { delegate?.isPoorChanged(of: self) } }
  }
  /// Whether a program has told of more than was read, and whether that is read soon.
  private var hasMore = false
  private var isReadingSoon = false
  private var pace = ReadingPace()
  /// What waits until an item is checked or not, as another call wants it, by id.
  var checks: [String: [() -> Void]] = [:]
  /// How many calls run items, or wait for what these show then.
  var calls = 0
  /// Whether more was read for them than the standard commands need.
  var mustForget = false

  init(_ window: ObjectPath, number: UInt64, on loop: EventLoop, _ delegate: any WindowMenusDelegate) {
    (self.window, self.number, self.loop) = (window, number, loop)
    self.delegate = delegate
  }

  func end() {
    isEnded = true
    for source in sources { source.end() }
    sources = []
    let waiting = checks.values.joined()
    checks = [:]
    for next in waiting { next() }
  }

  func received(_ message: Message) { for source in sources { source.received(message) } }

  // MARK: Sources and their items

  /// Takes the sources, unless they are fewer only since the program was too slow (`isLate`), and reads what is seen at first.
  func take(
    _ sources: [any MenuSource], isLate: Bool, _ recognition: Recognition, timeout: Duration,
    _ done: @escaping () -> Void
  ) {
    // A source that does not answer now is not gone.
    let keepsOld =
      (isLate && !self.sources.isEmpty && sources.count <= self.sources.count) || (isPartial && sources.isEmpty)
    if isEnded || keepsOld {
      for source in sources { source.end() }
      if !isEnded { done() }
      return
    }
    for source in self.sources { source.end() }
    (self.sources, self.recognition, isUnsure) = (sources, recognition, isLate)
    for (index, source) in sources.enumerated() {
      source.onEnabled = { [weak self] in self?.enabled(Place(source: index, id: $0), $1) }
      source.onMore = { [weak self] in
        self?.hasMore = true
        self?.readMore()
      }
    }
    read(isWhole: false, timeout: timeout) { [weak self] _ in
      self?.forget()
      done()
    }
  }

  /// Reads the items of each source, and recognises the standard commands among them; with patience for who waits.
  func read(
    isWhole: Bool, timeout: Duration = ProgramBus.changeTimeout, _ done: @escaping ([[MenuItem]]) -> Void
  ) {
    let sources = sources
    let couldRun = sources.map(\.canRun)
    var all = sources.map { _ in [MenuItem]() }
    failure = nil
    let answers = Answers { [weak self] in
      guard let self, !isEnded else { return done([]) }
      // It was looked at again meanwhile, or another source is needed as well.
      guard sources.elementsEqual(self.sources, by: ===), couldRun == sources.map(\.canRun) else {
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
      isUnsure || (isPoor && isPartial) || !all.joined().contains { !$0.menus.isEmpty }
      || !commands.keys.contains { $0.hasPrefix("org.focusd.Edit.") }
    guard commands != self.commands else { return }
    self.commands = commands
    delegate?.changed(self)
  }

  /// Reads soon what a program has added, while the window is in front.
  private func readMore() {
    guard hasMore, !isReadingSoon, delegate?.timeInFront(of: window) != nil else { return }
    isReadingSoon = true
    loop.schedule(after: pace.pause(at: .now)) { [weak self] in
      guard let self else { return }
      isReadingSoon = false
      // A call may need what this would forget.
      guard hasMore, !isEnded, calls == 0, delegate?.timeInFront(of: window) != nil else { return }
      hasMore = false
      read(isWhole: false) { [weak self] _ in
        guard let self else { return }
        forget()
        guard late != nil else { return }
        hasMore = true
        readMore()
      }
    }
  }

  /// Keeps of what was read what the standard commands need, unless a call needs more.
  func forget() {
    guard calls == 0 else {
      mustForget = true
      return
    }
    for (index, source) in sources.enumerated() { source.forget(except: standard(in: index)) }
    // A window's menus take some hundred kilobytes while they are read.
    ServiceProgram.releaseMemory()
  }

  /// The ids of the standard commands of a source.
  private func standard(in source: Int) -> Set<String> { Set(places.values.filter { $0.source == source }.map(\.id)) }

  /// A call that needed what was read is over; of a source that checks its items, which takes long to read, it is kept.
  func callEnded() {
    calls -= 1
    guard calls == 0 else { return }
    readMore()
    guard mustForget else { return }
    mustForget = false
    for (index, source) in sources.enumerated() where !source.checksItems {
      source.forget(except: standard(in: index))
    }
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
  func cameToFront() {
    for place in places.values where isDisabled(place) { enabled(place, false) }
    readMore()
  }
}
