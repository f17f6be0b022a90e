internal import BridgeSupport
internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import FocusContract

/// What stands behind the keys of elements' fields.
struct FieldActions {
  /// Reads the element anew, and publishes what it tells.
  let read: (ElementField, Key, @escaping FieldProperty.Completion) -> Void
  /// Writes a value, if the element still has the expected one where there is one.
  let write: (ElementField, Key, DBusValue, _ expected: DBusValue?, @escaping FieldProperty.Completion) -> Void
  let run: (ElementField, Key, [DBusValue], @escaping FieldProperty.Completion) -> Void
  let isFocused: (ElementField) -> Bool
  let requestFocus: (ElementField, @escaping FieldProperty.Completion) -> Void
}

/// An element that took focus, as a field.
final class ElementField {
  typealias Waiter = (ElementReader.Outcome) -> Void

  let element: ElementReference
  let number: UInt64
  /// The window that it is in, once that is known.
  var window: ElementReference?
  /// The window that a window manager knows: for a menu, or what else pops up, the one that it belongs to.
  var frame: ElementReference?
  private(set) var snapshot: ElementSnapshot
  private(set) var shape: ElementShape
  private(set) var place: ElementPlace
  private(set) var values: [Key: DBusValue]
  /// Who waits for the reading that comes after the one under way.
  var waiters: [Waiter] = []
  /// What is being read.
  var reading: (aspects: ElementAspects, marks: ReadingMarks)?
  /// What must be read after that.
  var pending: ElementAspects = []
  /// How often in a row its program did not answer.
  var failures = 0
  /// Whether it is read once more after a pause.
  var isReadAgain = false
  /// Called before the field goes, as with the window, or the program, that a command closes; returns whether somebody who has
  /// written is still to be answered.
  var onRemoval: ((_ programHasLeft: Bool) -> Bool)?
  /// Where the next text is inserted while the text's length and caret are those of `extent`: the program left its caret in front
  /// of the text that was written last, and refuses to move it.
  var continuation: (extent: TextExtent, position: Int32)?
  private let writes = ElementQueue()
  private var last = LastRequest.other

  /// What the daemon has asked for last.
  private enum LastRequest {
    case other
    /// The write of a key, and when it ended.
    case write(Key, SuspendingClock.Instant)
    /// The value of a key, which was read anew, and when.
    case value(Key, DBusValue?, SuspendingClock.Instant)
  }

  init(
    _ element: ElementReference, number: UInt64, window: ElementReference?, frame: ElementReference?,
    _ snapshot: ElementSnapshot, at place: ElementPlace
  ) {
    (self.element, self.number, self.window, self.frame) = (element, number, window, frame)
    (self.snapshot, self.place) = (snapshot, place)
    shape = ElementShape(snapshot)
    values = ElementValues.values(of: snapshot, at: place)
  }

  /// Whether all is known of it that it shows.
  var isWhole: Bool { !snapshot.isIncomplete && !snapshot.isSuspect && !place.isIncomplete }

  /// Takes what was read anew.
  /// - Returns: whether the field has other keys.
  func update(_ snapshot: ElementSnapshot, at place: ElementPlace) -> Bool {
    let shapeBefore = shape
    (self.snapshot, self.place) = (snapshot, place)
    if let continuation, snapshot.text?.counted != continuation.extent { self.continuation = nil }
    shape = ElementShape(snapshot)
    values = ElementValues.values(of: snapshot, at: place)
    return shape != shapeBefore
  }

  /// The field as the daemon is told of it.
  func description(_ actions: FieldActions) -> FieldDescription {
    var field = FieldDescription(
      number: number, group: number, objectPath: ObjectPath(known: "/org/focusd/accessibility/\(number)"))
    field.label = ElementField.label(of: snapshot)
    field.process = place.process
    field.isCoalesced = true
    for (key, access) in shape.values {
      field.properties[key] = property(key, access, actions)
    }
    if case .secret(isEditable: true) = shape.text {
      field.properties[ElementKey.content] = property(ElementKey.content, nil, actions)
    }
    for key in commands { field.commands[key] = command(key, actions) }
    field.requests =
      shape.takesFocus
      ? .asked { [weak self] done in
        if let self { actions.requestFocus(self, done) } else { done(.failure(.elementGone)) }
      } : .refused
    field.focus = FieldFocus(
      isWanted: { [weak self] in self.map(actions.isFocused) ?? false }, set: { _ in })
    return field
  }

  private var commands: [Key] {
    var commands = Array(shape.commands)
    if case .shown(isEditable: true) = shape.text { commands.append(ElementKey.insert) }
    if shape.range == .readWrite { commands += [ElementKey.increment, ElementKey.decrement] }
    return commands
  }

  /// A property that may be read unless `access` is nil, and written unless it is read-only.
  private func property(_ key: Key, _ access: ElementShape.Access?, _ actions: FieldActions) -> FieldProperty {
    let write: (DBusValue, @escaping FieldProperty.Completion) -> Void = { [weak self] value, done in
      guard let self else { return done(.failure(.elementGone)) }
      var before: DBusValue?
      inOrder { [weak self] result in
        self?.wasWritten(key, value, over: before, result)
        done(result)
      } _: {
        before = $0.values[key]
        actions.write($0, key, value, $0.takeExpected(of: key), $1)
      }
    }
    let read: (@escaping FieldProperty.Reading) -> Void = { [weak self] reading in
      let value = self?.values[key]
      reading(value.map { .success($0) } ?? .failure(DBusError(.unknownProperty, "\(key) has no value")))
    }
    var property = FieldProperty(
      type: Vocabulary.type(of: key) ?? .string, tellsChanges: true, read: access == nil ? nil : read,
      write: access == .readOnly ? nil : write)
    guard access == .readWrite else { return property }
    // Changes are collected, and some are not told: who is about to write must not miss any.
    property.refresh = { [weak self] done in
      guard let self else { return done(.failure(.elementGone)) }
      inOrder { [weak self] result in
        self?.wasRead(key)
        done(result)
      } _: {
        actions.read($0, key, $1)
      }
    }
    return property
  }

  /// Notes that the daemon asks at once what a write made of `before`, which it does unless that failed, or it was told `value`.
  private func wasWritten(_ key: Key, _ value: DBusValue, over before: DBusValue?, _ result: Result<Void, DBusError>) {
    let isTold = values[key] == value && before != value
    if case .success = result, !isTold { last = .write(key, .now) } else { last = .other }
  }

  /// Notes that the daemon is told what `key` is: a write that follows depends on it, unless the daemon has asked at once what a
  /// write made of it.
  private func wasRead(_ key: Key) {
    if case .write(key, let time) = last, SuspendingClock.now - time < .milliseconds(100) {
      last = .other
      return
    }
    last = .value(key, values[key], .now)
  }

  /// What a write of `key` depends on; nil if on nothing.
  ///
  /// The daemon asks for the value and writes at once; what the program has then may be another already.
  private func takeExpected(of key: Key) -> DBusValue? {
    guard case .value(key, let value, let time) = last, SuspendingClock.now - time < .seconds(1) else { return nil }
    return value
  }

  /// Begins `act` when the writes and commands before it are over.
  private func inOrder(
    _ done: @escaping FieldProperty.Completion,
    _ act: @escaping (ElementField, @escaping FieldProperty.Completion) -> Void
  ) {
    writes.add({ [weak self] done in if let self { act(self, done) } else { done(.failure(.elementGone)) } }, done)
  }

  private func command(_ key: Key, _ actions: FieldActions) -> FieldCommand {
    FieldCommand(input: key == ElementKey.insert ? [.string] : [], output: []) { [weak self] arguments, done in
      guard let self else { return done(.failure(.elementGone)) }
      inOrder({ done($0.map { [] }) }) {
        $0.last = .other
        actions.run($0, key, arguments, $1)
      }
    }
  }

  private static func label(of snapshot: ElementSnapshot) -> String? {
    let name = snapshot.name
    return name.isEmpty || name.utf8.count > 256 ? snapshot.role.name : name
  }
}

extension DBusError {
  static let elementGone = DBusError(.unknownObject, "the element is not shown any more")

  /// Whether a program has answered that it has no such object, or not with what was asked for.
  var isOfMissingObject: Bool { [.unknownObject, .unknownMethod, .unknownInterface].contains(name) }
}
