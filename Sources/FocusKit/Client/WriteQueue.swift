internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import FocusContract

/// The writes of focused bindings, and the calls between them, in the order in which the program made them.
///
/// Those of one key go one after another, each under the state that was read before.
/// Once focus has moved to another field, a write under way is still the first one's, and no other waits for it.
final class WriteQueue {
  /// A write that the daemon was asked for.
  private final class Sent {
    let slot: Slot
    let write: PendingWrite
    /// The field that is written to, once that is known.
    var field: ObjectPath?
    /// Whether the key has become another field's.
    var isLeft = false

    init(_ slot: Slot, _ write: PendingWrite) {
      self.slot = slot
      self.write = write
      field = write.base?.field
    }
  }

  private enum Entry {
    case write(Slot, number: UInt64)
    /// A call, which comes after the writes before it, and before those after it.
    case call(() -> Void)
  }

  /// How often a write meets another's change before it is given up.
  private static let mostConflicts = 1000

  private let link: Link
  private let cache: FocusedCache
  private let reporter: ErrorReporter
  /// The state after the last write of a key, which the next one that follows it is made under.
  private var last: [String: Origin] = [:]
  /// The writes under way, by key.
  private var busy: [String: Sent] = [:]
  /// What the program asked for and was not begun, in order.
  private var entries: [Entry] = []

  init(_ link: Link, _ cache: FocusedCache, _ reporter: ErrorReporter) {
    self.link = link
    self.cache = cache
    self.reporter = reporter
  }

  /// Makes the write `number` of `slot` when its turn comes.
  func add(_ slot: Slot, _ number: UInt64) {
    entries.append(.write(slot, number: number))
    proceed()
  }

  /// Calls `handler` when each write until now has been taken or refused, so that what it sends comes after them; later writes
  /// come after that.
  func afterAll(_ handler: @escaping () -> Void) {
    entries.append(.call(handler))
    proceed()
  }

  private func proceed() {
    while let entry = takeNext() {
      switch entry {
      case .write(let slot, let number): begin(slot, number)
      case .call(let handler): handler()
      }
    }
  }

  /// Takes the first entry whose turn it is: a write need not wait for those of other fields, nor for what they wait for.
  private func takeNext() -> Entry? {
    // The fields of the writes that wait, nil for one that is not known.
    var held: Set<ObjectPath?> = []
    for (index, entry) in entries.enumerated() {
      switch entry {
      case .call:
        return index == 0 && busy.isEmpty ? entries.removeFirst() : nil
      case .write(let slot, _):
        let sent = busy[slot.key]
        let field = sent?.field ?? slot.field
        let isHeld = !held.isEmpty && (field == nil || held.contains(field) || held.contains(nil))
        if sent == nil, !isHeld { return entries.remove(at: index) }
        held.insert(field)
      }
    }
    return nil
  }

  /// Finds out whether the keys that are being written are still the same fields'.
  func focusMoved() { for sent in busy.values { check(sent) } }

  private func check(_ sent: Sent) {
    let key = sent.slot.key
    // The answer would not say any more of which field the value was.
    guard let field = sent.field else { return leave(sent, isRefused: true) }
    link.ask(.read(key)) { [weak self] result in
      let reading: KeyReading?
      switch result {
      case .success(let found): reading = found
      case .failure(let error) where error.name == ErrorName.accessDenied.text: reading = nil
      case .failure: return
      }
      guard let self, let sent = busy[key], sent.field == field, reading?.origin.field != field else { return }
      leave(sent)
      if let reading { cache.learn(key, reading) }
    }
  }

  /// The key has become another field's: what was made on the write could only be written to a field in focus.
  private func leave(_ sent: Sent, isRefused: Bool = false) {
    sent.isLeft = true
    if end(sent) || isRefused { reporter.report(Self.conflict(sent.slot)) }
    proceed()
  }

  private func begin(_ slot: Slot, _ number: UInt64) {
    guard let write = slot.beginWrite(number) else { return }
    let sent = Sent(slot, write)
    busy[slot.key] = sent
    if let base = write.base {
      if base.moves != cache.moves { check(sent) }
      guard !sent.isLeft else { return }
      if let origin = base.origin { send(sent, write.value, origin) } else { ask(sent, base) }
    } else if let origin = last[slot.key] {
      send(sent, write.value, origin)
    } else {
      refuse(sent, Self.isNil(slot))
    }
  }

  /// Finds out which state of which field `base` is.
  private func ask(_ sent: Sent, _ base: Snapshot) {
    read(sent) { [self] reading in
      guard base.isOfSameField(reading, moves: cache.moves) else {
        return refuse(sent, Self.conflict(sent.slot), instead: reading)
      }
      resolve(sent, reading, conflicts: 0)
    }
  }

  private func send(_ sent: Sent, _ value: DBusValue, _ origin: Origin, conflicts: Int = 0) {
    sent.field = origin.field
    // If focus moves meanwhile, the reply is about what may not be in focus any more.
    link.ask(.write(sent.slot.key, value, under: origin)) { [weak self, moves = cache.moves] result in
      guard let self else { return }
      switch result {
      case .success(let reading):
        finish(sent, reading, moves: moves)
      case .failure(let error):
        guard error.name == FocusError.conflict, conflicts < Self.mostConflicts else {
          return refuse(sent, error)
        }
        read(sent) { reading in
          guard reading.origin.field == origin.field else { return self.refuse(sent, error, instead: reading) }
          self.resolve(sent, reading, conflicts: conflicts + 1)
        }
      }
    }
  }

  /// Makes a write on the value as it is now.
  private func resolve(_ sent: Sent, _ reading: KeyReading, conflicts: Int) {
    let write = sent.write
    guard let value = write.rule.apply(write.before, write.value, to: reading.value) else {
      return refuse(sent, Self.conflict(sent.slot))
    }
    // It is there already, or there is nothing any more that it could change.
    if value == reading.value, value != write.before { return finish(sent, reading, moves: cache.moves) }
    send(sent, value, reading.origin, conflicts: conflicts)
  }

  private func finish(_ sent: Sent, _ reading: KeyReading, moves: Int) {
    guard !sent.isLeft else { return }
    let slot = sent.slot
    last[slot.key] = reading.origin
    slot.finishWrite(Snapshot(reading.value, reading.origin, moves: moves))
    busy[slot.key] = nil
    proceed()
  }

  private func read(_ sent: Sent, _ handler: @escaping (KeyReading) -> Void) {
    link.ask(.read(sent.slot.key)) { [weak self] result in
      guard let self, !sent.isLeft || sent.field != nil else { return }
      do throws(FocusError) {
        guard let reading = try result.get() else { throw Self.isNil(sent.slot) }
        handler(reading)
      } catch {
        refuse(sent, error)
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
  private func refuse(_ sent: Sent, _ error: FocusError, instead: KeyReading? = nil) {
    if let instead { cache.learn(sent.slot.key, instead) }
    if !sent.isLeft { end(sent) }
    reporter.report(error)
    proceed()
  }

  /// - Returns: whether anything was made on the write.
  @discardableResult
  private func end(_ sent: Sent) -> Bool {
    busy[sent.slot.key] = nil
    return sent.slot.endWrites()
  }
}
