internal import DBus
internal import DBusTypes
internal import FocusBus
internal import Observation

/// A value of a key as the daemon told it.
struct Known: Sendable {
  let value: DBusValue
  /// Which state of which field it is; a signal does not say.
  var origin: Origin?
  /// Which field it is of, as far as was said since focus moved.
  var field: ObjectPath?
  /// How often focus had moved.
  var moves: Int

  init(_ reading: Reading, moves: Int) {
    value = reading.value
    origin = reading.origin
    field = reading.origin.field
    self.moves = moves
  }

  /// A value that a signal told of after `before`.
  init(_ value: DBusValue, after before: Known?, moves: Int) {
    self.value = value
    field = before?.moves == moves ? before?.field : nil
    self.moves = moves
  }

  /// The same value after a move of focus, which may have made it another field's.
  func moved(_ moves: Int) -> Known { Known(value, after: nil, moves: moves) }

  /// Whether `reading` is of the field whose value this is, and has that still.
  func isStill(_ reading: Reading, moves: Int) -> Bool {
    reading.value == value && (field.map { $0 == reading.origin.field } ?? (self.moves == moves))
  }
}

/// What a reader of a key saw, and may base a write on.
struct Sight: Sendable {
  let value: DBusValue?
  fileprivate let confirmed: Known?
  /// Whether the value is one that this program wrote and that is still on its way.
  fileprivate let isPending: Bool
}

/// A write that is under way.
struct WriteTicket: Sendable {
  let slot: Slot
  let number: UInt64
  /// The row of writes that it belongs to; when one is refused, the rest of its row goes with it.
  let row: UInt64
  let value: DBusValue
  /// What was read before, or nil where that was the value of the write before this one.
  let base: Known?
}

/// What is known of one key that is focused: a lock and a value, so that reading it takes no message.
///
/// A write is seen at once, before the daemon has taken it.
final class Slot: Observable, Sendable {
  private struct Content {
    var confirmed: Known?
    var isCommandEnabled: Bool?
    var pending: [(number: UInt64, value: DBusValue)] = []
    var lastWrite: UInt64 = 0
    var row: UInt64 = 0
    var sinks: [(number: UInt64, sink: (DBusValue?) -> Void)] = []
    var lastSink: UInt64 = 0

    var isNil: Bool { confirmed == nil && pending.isEmpty }
    var visible: DBusValue? { pending.last?.value ?? confirmed?.value }
    var sight: Sight { Sight(value: visible, confirmed: confirmed, isPending: !pending.isEmpty) }

    /// What a write is based on whose writer saw `sight`; nil for the write of this program before it.
    func base(of sight: Sight, _ seen: DBusValue) -> Known? {
      guard sight.isPending else { return sight.confirmed }
      guard pending.isEmpty else { return nil }
      if let confirmed, confirmed.value == seen { return confirmed }
      // That write was refused, or another's came after it.
      return Known(seen, after: nil, moves: -1)
    }
  }

  let key: String
  private let mailbox: Worker.Letters
  private let content: Locked<Content>
  private let registrar = ObservationRegistrar()
  /// Which types the value had that the program has no use for, so that each is reported once.
  private let misread = Locked<Set<String>>([])

  init(_ key: String, _ mailbox: Worker.Letters, _ known: Known?, _ isCommandEnabled: Bool?) {
    self.key = key
    self.mailbox = mailbox
    content = Locked(Content(confirmed: known, isCommandEnabled: isCommandEnabled))
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

  /// The value that a reader sees, as the type of its own key; one that is none is nil, and reported.
  func value<Value: DBusRepresentable>(as type: Value.Type) -> Value? {
    guard let value else { return nil }
    return converted(value)
  }

  /// `value` as the type of a reader's key; one that is none is nil, and reported the first time.
  func converted<Value: DBusRepresentable>(_ value: DBusValue) -> Value? {
    do {
      return try Value(dbusValue: value)
    } catch {
      let found = value.type
      guard misread.withLock({ $0.insert("\(found) \(Value.self)").inserted }) else { return nil }
      let report = FocusError(
        "'\(key)' is read as '\(Value.self)', of type '\(Value.dbusType)', and what has focus publishes it with type "
          + "'\(found)': \(FocusError(any: error).message)", name: FocusError.typeMismatch)
      // Not from here, where a reader may hold a lock.
      mailbox.post { $0.report(report) }
      return nil
    }
  }

  /// Whether the command of this name may be called, or nil where nobody has one.
  var isCommandEnabled: Bool? {
    registrar.access(self, keyPath: \.value)
    return content.withLock { $0.isCommandEnabled }
  }

  /// What a reader sees, to be handed to `write` with what is made of it.
  var sight: Sight {
    registrar.access(self, keyPath: \.value)
    return content.withLock { $0.sight }
  }

  private func update(_ change: (inout Content) -> Void) {
    let isChanged = content.withLock { content in
      let (before, wasEnabled) = (content.visible, content.isCommandEnabled)
      change(&content)
      let after = content.visible
      if before != after { for (_, sink) in content.sinks { sink(after) } }
      return before != after || wasEnabled != content.isCommandEnabled
    }
    if isChanged { registrar.withMutation(of: self, keyPath: \.value) {} }
  }

  func confirm(_ known: Known?) { update { $0.confirmed = known } }

  func setCommandEnabled(_ isEnabled: Bool?) { update { $0.isCommandEnabled = isEnabled } }

  /// Shows `value` at once and has the worker write it, if the key is still what its writer saw: `sight`, or what is there
  /// now; nothing where that was nil or has that value.
  func write(_ value: DBusValue, basedOn sight: Sight? = nil) {
    update { content in
      let sight = sight ?? content.sight
      guard let seen = sight.value else { return }
      let value = value.adapted(to: seen.type)
      guard seen != value else { return }
      content.lastWrite += 1
      let ticket = WriteTicket(
        slot: self, number: content.lastWrite, row: content.row, value: value, base: content.base(of: sight, seen))
      content.pending.append((ticket.number, value))
      mailbox.post { $0.writes.add(ticket) }
    }
  }

  /// Ends a write that the daemon took; what it told of the value before that is at least as new as the reply.
  func finish(_ ticket: WriteTicket, _ known: Known) {
    update { content in
      content.pending.removeAll { $0.number == ticket.number }
      if content.confirmed?.value == known.value, content.confirmed?.moves == known.moves { content.confirmed = known }
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
