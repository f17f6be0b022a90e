package import DBus
package import DBusTypes
package import FocusContract

/// A field as a program wants it to be registered.
package struct FieldDescription {
  /// Names the field within this process; what belongs to one thing of the program has one `group`.
  package let number: UInt64
  package let group: UInt64
  /// The object that stands behind the field.
  package let objectPath: ObjectPath
  /// The id to register under; the daemon picks one for an empty one.
  package var id = ""
  package var label: String?
  /// The number of the field's parent, which must have been added before; nil: the field is a scene.
  package var parent: UInt64?
  package var isSceneScoped = false
  package var isSensitive = false
  /// Whether the program has collected the changes: others need not see each of them.
  package var isCoalesced = false
  /// The process that the field belongs to; nil: this one.
  package var process: UInt32?
  /// Further options of `Register`.
  package var options: [(name: String, value: DBusValue)] = []
  package var properties: [Key: FieldProperty] = [:]
  package var commands: [Key: FieldCommand] = [:]
  /// The commands that are off when the field is registered.
  package var disabled: Set<Key> = []
  /// How the field takes and loses focus; nil: it never has focus of its own accord.
  package var focus: FieldFocus?
  /// What becomes of another program's request to focus the field.
  package var requests = FocusRequests.granted

  package init(number: UInt64, group: UInt64, objectPath: ObjectPath) {
    self.number = number
    self.group = group
    self.objectPath = objectPath
  }

  /// Whether others can use anything of the object; a field without that needs no object.
  package var showsAnything: Bool { !properties.isEmpty || !commands.isEmpty || takesRequests }

  /// Whether other programs may ask for focus for the field.
  var takesRequests: Bool {
    switch requests {
    case .refused: false
    case .granted: focus != nil
    case .asked, .passedOn: true
    }
  }
}

/// A value that a field publishes.
///
/// All closures are called on the loop's thread, and complete on it, now or later.
package struct FieldProperty {
  /// Takes the value, or the error that prevented it.
  package typealias Reading = (Result<DBusValue, DBusError>) -> Void
  /// Takes what a write came to.
  package typealias Completion = (Result<Void, DBusError>) -> Void

  package let type: DBusType
  /// Whether `FieldPublisher.changed` is called for every change, also for those of a write before it completes; else
  /// the value is read after each write.
  package let tellsChanges: Bool
  /// Reads the value, with the error `unknownProperty` for one that is nil; nil: the property is write-only.
  package let read: ((@escaping Reading) -> Void)?
  /// Makes what `read` hands over current, or fails with what prevents that; nil: it always is.
  package var refresh: ((@escaping Completion) -> Void)?
  /// Writes a value of `type`; nil: the property is read-only.
  package let write: ((DBusValue, @escaping Completion) -> Void)?

  package init(
    type: DBusType, tellsChanges: Bool, read: ((@escaping Reading) -> Void)?,
    write: ((DBusValue, @escaping Completion) -> Void)?
  ) {
    self.type = type
    self.tellsChanges = tellsChanges
    self.read = read
    self.write = write
  }

  /// A property whose value is always known.
  package init(
    type: DBusType, tellsChanges: Bool, read: @escaping () throws(DBusError) -> DBusValue,
    write: ((DBusValue, @escaping Completion) -> Void)?
  ) {
    self.init(
      type: type, tellsChanges: tellsChanges,
      read: { reading in reading(Result { () throws(DBusError) in try read() }) }, write: write)
  }
}

/// A command that a field publishes.
///
/// It is called on the loop's thread, and completes on it, now or later.
package struct FieldCommand {
  package let input: [DBusType]
  package let output: [DBusType]
  package let run: ([DBusValue], @escaping (Result<[DBusValue], DBusError>) -> Void) -> Void

  package init(
    input: [DBusType], output: [DBusType],
    run: @escaping ([DBusValue], @escaping (Result<[DBusValue], DBusError>) -> Void) -> Void
  ) {
    self.input = input
    self.output = output
    self.run = run
  }
}

/// How a program and the daemon agree on whether a field has focus.
///
/// All closures are called on the loop's thread.
package struct FieldFocus {
  /// Whether the program wants the field to have focus.
  package let isWanted: () -> Bool
  /// Takes over that the field has focus or not, unless the program has changed its mind meanwhile.
  package let set: (_ isFocused: Bool) -> Void

  package init(isWanted: @escaping () -> Bool, set: @escaping (_ isFocused: Bool) -> Void) {
    self.isWanted = isWanted
    self.set = set
  }
}

/// What becomes of another program's request to focus a field.
package enum FocusRequests {
  /// The field takes focus at once, if it has a `focus` at all.
  case granted
  /// The field takes focus when the closure has moved focus to it, or not if that fails.
  case asked((@escaping FieldProperty.Completion) -> Void)
  /// The closure does all that there is to do.
  case passedOn((@escaping FieldProperty.Completion) -> Void)
  /// The field takes none.
  case refused
}
