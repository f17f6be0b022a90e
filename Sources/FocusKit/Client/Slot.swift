internal import DBus
internal import DBusTypes
internal import EventLoop
internal import FocusContract
internal import Observation

/// A value of a key that the daemon sent.
struct Snapshot: Sendable {
  let value: DBusValue
  /// Which state of which field it is; a signal does not say.
  var origin: Origin?
  /// Which field it is of, as far as was said since focus moved.
  var field: ObjectPath?
  /// How often focus had moved.
  var moves: Int

  init(_ value: DBusValue, _ origin: Origin, moves: Int) {
    self.value = value
    self.origin = origin
    field = origin.field
    self.moves = moves
  }

  /// A value that a signal told of after `before`.
  init(_ value: DBusValue, after before: Snapshot?, moves: Int) {
    self.value = value
    field = before?.moves == moves ? before?.field : nil
    self.moves = moves
  }

  /// The same value after a move of focus, which may have made it another field's.
  func moved(_ moves: Int) -> Snapshot { Snapshot(value, after: nil, moves: moves) }

  /// Whether `reading` is of the field whose value this is, and has that still.
  func isStill(_ reading: KeyReading, moves: Int) -> Bool {
    reading.value == value && (field.map { $0 == reading.origin.field } ?? (self.moves == moves))
  }
}

/// A write that is under way.
struct WriteTicket: Sendable {
  let slot: Slot
  let number: UInt64
  /// The row of writes that it belongs to; when one is refused, the rest of its row goes with it.
  let row: UInt64
  let value: DBusValue
  /// The value read before, or nil if that was the value of the previous write.
  let base: Snapshot?
}

/// One focused key: a lock and a value, so that reading it takes no message.
///
/// A write is seen at once, before the daemon has taken it.
final class Slot: Observable, Sendable {
  private struct Content {
    var confirmed: Snapshot?
    var isCommandEnabled: Bool?
    var pending: [(number: UInt64, value: DBusValue)] = []
    var lastWrite: UInt64 = 0
    var row: UInt64 = 0
    /// Counts what readers see: another value, or another field's.
    var state: UInt64 = 1
    var sinks: [(number: UInt64, sink: (DBusValue?) -> Void)] = []
    var lastSink: UInt64 = 0

    var isNil: Bool { confirmed == nil && pending.isEmpty }
    var visible: DBusValue? { pending.last?.value ?? confirmed?.value }
  }

  let key: String
  private let mailbox: Worker.Letters
  private let content: Locked<Content>
  private let registrar = ObservationRegistrar()
  /// Which types the value had that the program has no use for, so that each is reported once.
  private let misread = Locked<Set<String>>([])

  init(_ key: String, _ mailbox: Worker.Letters, _ snapshot: Snapshot?, _ isCommandEnabled: Bool?) {
    self.key = key
    self.mailbox = mailbox
    content = Locked(Content(confirmed: snapshot, isCommandEnabled: isCommandEnabled))
  }

  /// The value that a reader sees.
  var value: DBusValue? {
    registrar.access(self, keyPath: \.value)
    return content.withLock { $0.visible }
  }

  /// Whether a reader sees no value.
  var isNil: Bool {
    registrar.access(self, keyPath: \.value)
    return content.withLock { $0.isNil }
  }

  /// The value that a reader sees, as the type of its own key; nil, and reported, if it cannot be converted.
  func value<Value: DBusRepresentable>(as type: Value.Type) -> Value? {
    guard let value else { return nil }
    return converted(value)
  }

  /// `value` as the type of a reader's key; nil if it cannot be converted, which is reported once.
  func converted<Value: DBusRepresentable>(_ value: DBusValue) -> Value? {
    do {
      return try Value(dbusValue: value)
    } catch {
      let found = value.type
      guard misread.withLock({ $0.insert("\(found) \(Value.self)").inserted }) else { return nil }
      let report = FocusError(
        "'\(key)' is read as '\(Value.self)', of type '\(Value.dbusType)', but the focused field publishes it with type "
          + "'\(found)': \(FocusError(any: error).message)", name: FocusError.typeMismatch)
      // Not from here, where a reader may hold a lock.
      mailbox.post { $0.report(report) }
      return nil
    }
  }

  /// Whether the command of this name may be called, or nil if there is no such command.
  var isCommandEnabled: Bool? {
    registrar.access(self, keyPath: \.value)
    return content.withLock { $0.isCommandEnabled }
  }

  /// The value that a reader sees, and the number of the state that it is of, for a write that is based on it.
  var seen: (value: DBusValue?, state: UInt64) {
    registrar.access(self, keyPath: \.value)
    return content.withLock { ($0.visible, $0.state) }
  }

  private func update(_ change: (inout Content) -> Void) {
    let isChanged = content.withLock { content in
      let (before, moves, wasEnabled) = (content.visible, content.confirmed?.moves, content.isCommandEnabled)
      change(&content)
      let after = content.visible
      if before != after || moves != content.confirmed?.moves { content.state += 1 }
      if before != after { for (_, sink) in content.sinks { sink(after) } }
      return before != after || wasEnabled != content.isCommandEnabled
    }
    if isChanged { registrar.withMutation(of: self, keyPath: \.value) {} }
  }

  func confirm(_ snapshot: Snapshot?) { update { $0.confirmed = snapshot } }

  func setCommandEnabled(_ isEnabled: Bool?) { update { $0.isCommandEnabled = isEnabled } }

  /// Shows `value` at once and asks the worker to write it; does nothing if the key is nil or has that value.
  /// - Returns: whether the key is still in the state `state`; in another one nothing is written.
  func write(_ value: DBusValue, in state: UInt64?) -> Bool {
    var isStill = true
    update { content in
      isStill = state == nil || state == content.state
      guard isStill, let visible = content.visible else { return }
      let value = value.adapted(to: visible.type)
      guard visible != value else { return }
      content.lastWrite += 1
      let base = content.pending.isEmpty ? content.confirmed : nil
      let ticket = WriteTicket(
        slot: self, number: content.lastWrite, row: content.row, value: value, base: base)
      content.pending.append((ticket.number, value))
      mailbox.post { $0.writes.add(ticket) }
    }
    return isStill
  }

  /// Ends a write that the daemon took; what it told of the value before that is at least as new as the reply.
  func finish(_ ticket: WriteTicket, _ snapshot: Snapshot) {
    update { content in
      content.pending.removeAll { $0.number == ticket.number }
      if content.confirmed?.value == snapshot.value, content.confirmed?.moves == snapshot.moves {
        content.confirmed = snapshot
      }
    }
  }

  /// Undoes the row of writes that `ticket` belongs to.
  func undo(_ ticket: WriteTicket) {
    update { content in
      guard content.row == ticket.row else { return }
      content.row += 1
      content.pending = []
    }
  }

  func isCurrent(_ ticket: WriteTicket) -> Bool { content.withLock { $0.row == ticket.row } }

  /// Calls `sink`, under the lock, with each new value that a reader sees, until the result is called.
  func follow(_ sink: @escaping (DBusValue?) -> Void, withCurrent: Bool = false) -> @Sendable () -> Void {
    let number = content.withLock { content in
      if withCurrent { sink(content.visible) }
      content.lastSink += 1
      content.sinks.append((content.lastSink, sink))
      return content.lastSink
    }
    return { [weak self] in
      guard let self else { return }
      content.withLock { content in content.sinks.removeAll { $0.number == number } }
    }
  }
}
