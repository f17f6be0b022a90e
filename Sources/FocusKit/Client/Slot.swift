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

  /// Whether `reading` is of the field whose value this is.
  func isOfSameField(_ reading: KeyReading, moves: Int) -> Bool {
    field.map { $0 == reading.origin.field } ?? (self.moves == moves)
  }
}

/// A write that the daemon has not taken yet.
struct PendingWrite: Sendable {
  /// Which of the slot's writes it is.
  let number: UInt64
  /// How many calls had been made before it.
  let calls: UInt64
  var value: DBusValue
  var rule: WriteRule
  /// The value that it changes.
  var before: DBusValue
  /// The value that was read before, or nil if that was the value of the write before it.
  let base: Snapshot?
}

/// What readers see of a key: its value, or whether its command may be called.
///
/// Both are nil if no field in focus has the key.
struct Shown: Sendable {
  var value: DBusValue?
  var isCommandEnabled: Bool?
}

/// One focused key: a lock and a value, so that reading it takes no message.
///
/// A write is seen at once, before the daemon has taken it.
final class Slot: Observable, Sendable {
  private struct Content {
    var confirmed: Snapshot?
    var isCommandEnabled: Bool?
    /// The write that the daemon was asked for, and those that come after it: all between two calls as one.
    var sent: PendingWrite?
    var waiting: [PendingWrite] = []
    var lastNumber: UInt64 = 0
    /// Counts what readers see: another value, or another field's.
    var state: UInt64 = 1

    var visible: DBusValue? { waiting.last?.value ?? sent?.value ?? confirmed?.value }
    var shown: Shown { Shown(value: visible, isCommandEnabled: isCommandEnabled) }

    var reading: SlotReading? {
      visible.map { SlotReading(value: $0, state: state, moves: confirmed?.moves ?? 0, field: confirmed?.field) }
    }

    /// The change from `reading` to `value`, made in the value as it is now; nil if that cannot be.
    func changed(_ reading: SlotReading, _ value: DBusValue, _ rule: WriteRule) -> (DBusValue, WriteRule)? {
      let value = value.adapted(to: reading.value.type)
      if reading.state == state { return (value, rule) }
      guard reading.moves == confirmed?.moves || (reading.field != nil && reading.field == confirmed?.field),
        let visible
      else { return nil }
      return rule.apply(reading.value, value, to: visible).map { ($0, rule) }
    }
  }

  let key: String
  private let mailbox: Worker.Letters
  private let calls: CallCount
  private let content: Followed<Content, Shown>
  private let registrar = ObservationRegistrar()
  /// The value's identity for Observation, made once: it costs as much as the rest of a read.
  private static nonisolated(unsafe) let path: KeyPath<Slot, DBusValue?> = \.value
  /// Which types the value had that the program has no use for, so that each is reported once.
  private let misread = Locked<Set<String>>([])
  private static let mostMisread = 256

  init(
    _ key: String, _ mailbox: Worker.Letters, _ calls: CallCount, _ snapshot: Snapshot?, _ isCommandEnabled: Bool?
  ) {
    self.key = key
    self.mailbox = mailbox
    self.calls = calls
    content = Followed(Content(confirmed: snapshot, isCommandEnabled: isCommandEnabled)) { $0.shown }
  }

  /// The value that a reader sees.
  var value: DBusValue? {
    registrar.access(self, keyPath: Self.path)
    return content.withLock { $0.visible }
  }

  /// Whether a reader sees no value.
  var isNil: Bool {
    registrar.access(self, keyPath: Self.path)
    return content.withLock { $0.visible == nil }
  }

  /// `value` as the type of a reader's key; nil if it cannot be converted, which is reported once.
  func converted<Value: DBusRepresentable>(_ value: DBusValue) -> Value? {
    do throws(FocusError) {
      return try value.converted(to: Value.self, of: key)
    } catch {
      let isNew = misread.withLock { misread in
        // Another program chooses them.
        if misread.count >= Self.mostMisread { misread = [] }
        return misread.insert("\(value.type) \(Value.self)").inserted
      }
      guard isNew else { return nil }
      mailbox.post { $0.report(error) }
      return nil
    }
  }

  /// Whether the command of this name may be called, or nil if there is no such command.
  var isCommandEnabled: Bool? {
    registrar.access(self, keyPath: Self.path)
    return content.withLock { $0.isCommandEnabled }
  }

  /// The value that a reader sees, for a change that follows from it.
  var reading: SlotReading? { content.withLock { $0.reading } }

  /// The same; Observation registers the read.
  func read() -> SlotReading? {
    registrar.access(self, keyPath: Self.path)
    return reading
  }

  private func change(_ change: (inout Content) -> Void) -> Bool {
    content.change { content in
      let (before, moves) = (content.shown, content.confirmed?.moves)
      change(&content)
      let after = content.shown
      let isOther = before.value != after.value
      if isOther || moves != content.confirmed?.moves { content.state += 1 }
      return isOther || before.isCommandEnabled != after.isCommandEnabled
    }
  }

  private func update(_ change: (inout Content) -> Void) {
    if self.change(change) { tell() }
  }

  /// Shows what the daemon told; if readers see another value now, `tell()` must follow.
  func confirm(_ snapshot: Snapshot?) -> Bool { change { $0.confirmed = snapshot } }

  /// Tells Observation and those who follow what readers see now.
  func tell() {
    registrar.withMutation(of: self, keyPath: \.value) {}
    content.tell()
  }

  func setCommandEnabled(_ isEnabled: Bool?) { update { $0.isCommandEnabled = isEnabled } }

  // MARK: Writes

  /// Shows `value` at once and asks the worker to write it; does nothing if the key is nil or has that value.
  func assign(_ value: DBusValue) { _ = write { _ in (value, .whole) } }

  /// Makes the change from `reading` to `value`, also in a newer value of the same field if `inNewer`.
  /// - Returns: false if that cannot be.
  func change(_ reading: SlotReading, to value: DBusValue, _ rule: WriteRule, inNewer: Bool = true) -> Bool {
    write { inNewer || $0.state == reading.state ? $0.changed(reading, value, rule) : nil }
  }

  private func write(_ change: (inout Content) -> (DBusValue, WriteRule)?) -> Bool {
    var isMade = true
    update { content in
      guard let visible = content.visible else { return }
      guard let (value, rule) = change(&content) else {
        isMade = false
        return
      }
      let adapted = value.adapted(to: visible.type)
      guard visible != adapted else { return }
      let calls = calls.value
      if let last = content.waiting.indices.last, content.waiting[last].calls == calls {
        content.waiting[last].value = adapted
        content.waiting[last].rule = content.waiting[last].rule.followed(by: rule)
        return
      }
      let isFirst = content.sent == nil && content.waiting.isEmpty
      content.lastNumber += 1
      let number = content.lastNumber
      content.waiting.append(
        PendingWrite(
          number: number, calls: calls, value: adapted, rule: rule, before: visible,
          base: isFirst ? content.confirmed : nil))
      // Before anybody sees the value: what they do then comes after the write.
      mailbox.post { $0.writes.add(self, number) }
    }
    return isMade
  }

  /// Takes the write `number`, if it waits and no other is under way.
  func beginWrite(_ number: UInt64) -> PendingWrite? {
    content.withLock { content in
      guard content.sent == nil, content.waiting.first?.number == number else { return nil }
      content.sent = content.waiting.removeFirst()
      return content.sent
    }
  }

  /// The field whose value is seen, as far as that is known.
  var field: ObjectPath? { content.withLock { $0.confirmed?.field } }

  /// Ends the write under way, which the daemon took; what it told of the value before that is at least as new as the
  /// reply.
  func finishWrite(_ snapshot: Snapshot) {
    var isFinished = false
    while !isFinished {
      let (sent, waiting) = content.withLock { ($0.sent, $0.waiting) }
      let rebased = sent.map { Self.rebased(waiting, from: $0.value, to: snapshot.value) } ?? waiting
      update { content in
        guard content.waiting.count == waiting.count, content.waiting.last?.value == waiting.last?.value else { return }
        isFinished = true
        content.sent = nil
        if content.confirmed?.value == snapshot.value, content.confirmed?.moves == snapshot.moves {
          content.confirmed = snapshot
        }
        content.waiting = rebased
      }
    }
  }

  /// The writes that were made on the value `base`, made on what became of it; as they are from one on that cannot be.
  private static func rebased(_ writes: [PendingWrite], from base: DBusValue, to value: DBusValue) -> [PendingWrite] {
    var (writes, base, value) = (writes, base, value)
    for index in writes.indices {
      guard base != value, let made = writes[index].rule.apply(base, writes[index].value, to: value) else { break }
      base = writes[index].value
      writes[index].before = value
      writes[index].value = made
      value = made
    }
    return writes
  }

  /// Shows the value that the daemon told, without the write under way and what was made on it.
  /// - Returns: whether anything was made on it.
  @discardableResult
  func endWrites() -> Bool {
    var hadNext = false
    update { content in
      hadNext = !content.waiting.isEmpty
      content.sent = nil
      content.waiting = []
    }
    return hadNext
  }

  // MARK: Followers

  /// Calls `sink` with what a reader sees, now if `withCurrent`, and after each change, until the result is called.
  func follow(withCurrent: Bool, _ sink: @escaping (Shown) -> Void) -> @Sendable () -> Void {
    content.follow(withCurrent: withCurrent, sink)
  }
}

extension DBusValue {
  /// The value of the key `name` as the type of its reader.
  /// - Throws: `FocusError`, which names the key and both types.
  func converted<Value: DBusRepresentable>(to _: Value.Type, of name: String) throws(FocusError) -> Value {
    do {
      return try Value(dbusValue: self)
    } catch {
      throw FocusError(
        "'\(name)' is read as '\(Value.self)', of type '\(Value.dbusType)', but the focused field publishes it with type "
          + "'\(type)': \(FocusError(any: error).message)", name: FocusError.typeMismatch)
    }
  }
}
