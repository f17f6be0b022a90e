internal import DBus
internal import DBusTypes
internal import FocusClient
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

  init(_ link: Link, _ cache: FocusedCache, _ reporter: ErrorReporter) {
    self.link = link
    self.cache = cache
    self.reporter = reporter
  }

  /// Makes the write of `slot` that waits, unless another is under way.
  func begin(_ slot: Slot) {
    guard let write = slot.beginWrite() else { return }
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
      guard base.isOfSameField(reading, moves: cache.moves) else { return refuse(slot, Self.conflict(slot)) }
      resolve(slot, write, reading, conflicts: 0)
    }
  }

  private func send(_ slot: Slot, _ write: PendingWrite, _ value: DBusValue, _ origin: Origin, conflicts: Int = 0) {
    let key = slot.key
    link.ask(.write(key, value, under: origin)) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let reading):
        last[key] = reading.origin
        slot.finishWrite(Snapshot(reading.value, reading.origin, moves: cache.moves))
        begin(slot)
      case .failure(let error):
        guard error.name == FocusError.conflict, conflicts < Self.mostConflicts else {
          return refuse(slot, error)
        }
        read(slot) { reading in
          guard reading.origin.field == origin.field else { return self.refuse(slot, error) }
          self.resolve(slot, write, reading, conflicts: conflicts + 1)
        }
      }
    }
  }

  /// Makes a write on the value as it is now.
  private func resolve(_ slot: Slot, _ write: PendingWrite, _ reading: KeyReading, conflicts: Int) {
    let value: DBusValue? =
      switch write.rule {
      case .replace: write.value
      case .compare, .merge: Merge.merge(write.before, write.value, onto: reading.value, write.rule)
      }
    guard let value else { return refuse(slot, Self.conflict(slot)) }
    send(slot, write, value, reading.origin, conflicts: conflicts)
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
  private func refuse(_ slot: Slot, _ error: FocusError) {
    slot.undoWrites()
    reporter.report(error)
    begin(slot)
  }
}
