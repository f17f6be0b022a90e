internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import FocusContract

/// The writes of focused bindings: those of one key go one after another, each under the state that was read before.
final class WriteQueue {
  /// How often a write meets another's change before it is given up.
  private static let mostConflicts = 1000

  private let link: Link
  private let cache: FocusedCache
  private let reporter: ErrorReporter
  /// The state after the last write of a key, which the next one that follows it is made under.
  private var last: [String: Origin] = [:]
  /// The slots with a write under way.
  private var busy: [String: Slot] = [:]
  /// What waits for writes: how many of each key.
  private var waiters: [(writes: [String: Int], handler: () -> Void)] = []

  init(_ link: Link, _ cache: FocusedCache, _ reporter: ErrorReporter) {
    self.link = link
    self.cache = cache
    self.reporter = reporter
  }

  /// Calls `handler` when each write until now has been taken or refused, so that what it sends comes after them.
  func afterAll(_ handler: @escaping () -> Void) {
    if busy.isEmpty { return handler() }
    waiters.append((busy.mapValues(\.pendingWrites), handler))
  }

  /// A write of `slot` is over, or all of them.
  private func ended(_ slot: Slot, isAll: Bool) {
    for index in waiters.indices {
      let count = waiters[index].writes[slot.key] ?? 0
      waiters[index].writes[slot.key] = isAll || count <= 1 ? nil : count - 1
    }
    if slot.pendingWrites == 0 { busy[slot.key] = nil }
    while let waiter = waiters.first, waiter.writes.isEmpty {
      waiters.removeFirst()
      waiter.handler()
    }
  }

  /// Makes the write of `slot` that waits, unless another is under way.
  func begin(_ slot: Slot) {
    guard let write = slot.beginWrite() else { return }
    busy[slot.key] = slot
    if let base = write.base {
      if let origin = base.origin { send(slot, write, write.value, origin) } else { ask(slot, write, base) }
    } else if let origin = last[slot.key] {
      send(slot, write, write.value, origin)
    } else {
      refuse(slot, Self.isNil(slot))
    }
  }

  /// Finds out which state of which field `base` is.
  private func ask(_ slot: Slot, _ write: PendingWrite, _ base: Snapshot) {
    read(slot) { [self] reading in
      guard base.isOfSameField(reading, moves: cache.moves) else {
        return refuse(slot, Self.conflict(slot), instead: reading)
      }
      resolve(slot, write, reading, conflicts: 0)
    }
  }

  private func send(_ slot: Slot, _ write: PendingWrite, _ value: DBusValue, _ origin: Origin, conflicts: Int = 0) {
    // If focus moves meanwhile, the reply is about what is not in focus any more.
    let (key, moves) = (slot.key, cache.moves)
    link.ask(.write(key, value, under: origin)) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let reading):
        finish(slot, reading, moves: moves)
      case .failure(let error):
        guard error.name == FocusError.conflict, conflicts < Self.mostConflicts else {
          return refuse(slot, error)
        }
        read(slot) { reading in
          guard reading.origin.field == origin.field else { return self.refuse(slot, error, instead: reading) }
          self.resolve(slot, write, reading, conflicts: conflicts + 1)
        }
      }
    }
  }

  /// Makes a write on the value as it is now.
  private func resolve(_ slot: Slot, _ write: PendingWrite, _ reading: KeyReading, conflicts: Int) {
    guard let value = write.rule.apply(write.before, write.value, to: reading.value) else {
      return refuse(slot, Self.conflict(slot))
    }
    // It is there already, or there is nothing any more that it could change.
    if value == reading.value, value != write.before { return finish(slot, reading, moves: cache.moves) }
    send(slot, write, value, reading.origin, conflicts: conflicts)
  }

  private func finish(_ slot: Slot, _ reading: KeyReading, moves: Int) {
    last[slot.key] = reading.origin
    slot.finishWrite(Snapshot(reading.value, reading.origin, moves: moves))
    ended(slot, isAll: false)
    begin(slot)
  }

  private func read(_ slot: Slot, _ handler: @escaping (KeyReading) -> Void) {
    link.ask(.read(slot.key)) { [weak self] result in
      guard let self else { return }
      do throws(FocusError) {
        guard let reading = try result.get() else { throw Self.isNil(slot) }
        handler(reading)
      } catch {
        refuse(slot, error)
      }
    }
  }

  private static func isNil(_ slot: Slot) -> FocusError {
    FocusError("'\(slot.key)' is now nil", name: FocusError.notFocused)
  }

  private static func conflict(_ slot: Slot) -> FocusError {
    FocusError("'\(slot.key)' is no longer the value that was read", name: FocusError.conflict)
  }

  /// Undoes the write, and those that were made on it: one refusal, told once.
  ///
  /// What was found `instead` is of another field, which the next write is of.
  private func refuse(_ slot: Slot, _ error: FocusError, instead: KeyReading? = nil) {
    if let instead { cache.learn(slot.key, instead) }
    slot.undoWrites()
    ended(slot, isAll: true)
    reporter.report(error)
    begin(slot)
  }
}
