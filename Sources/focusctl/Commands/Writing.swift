import DBus
import DBusTypes
import DaemonClient
import FocusContract

/// The commands that write one key.
enum Writing {
  static func set(_ call: Invocation) throws(CommandError) {
    let key = try KeyArgument(call.operands[0])
    let isInput = call.operands[1] == "-" && call.firstLiteral > 1
    let text = isInput ? try Input.text() : call.operands[1]
    let bindings = try Bindings(try call.connect(), call.options)
    var refused: (type: DBusType, error: DBusError)?
    // The type is of one field: if the key has resolved to another one meanwhile, that may have another type.
    for _ in 0..<attempts {
      let found: (key: KeyArgument, type: DBusType)?
      do {
        found = try typeOfTarget(of: key, in: bindings)
      } catch {
        guard error.error?.name == .accessDenied else {
          throw bindings.explained(error)
        }
        return try writeUnseen(error.key.name, key, text, in: bindings)
      }
      guard let found else { throw unresolved(key, in: bindings) }
      if let refused, refused.type == found.type { throw CommandError(refused.error) }
      let value = try read(text, as: found.type, for: found.key.text)
      do { return try bindings.write(found.key.text, value) } catch {
        guard error.name == Focus1.typeMismatch else { throw CommandError(refusing: found.key, error) }
        refused = (found.type, error)
      }
    }
    throw CommandError(.conflict, "cannot set '\(key.text)': its type changed \(attempts) times")
  }

  private static func read(
    _ text: String, as type: DBusType, for key: String
  ) throws(CommandError) -> DBusValue {
    do { return try ValueText.read(text, as: type) } catch { throw .usage("\(key): \(error)") }
  }

  static func update(_ call: Invocation) throws(CommandError) {
    let key = try KeyArgument(call.operands[0])
    let expression = try Expression(Array(call.operands.dropFirst()))
    let bounds = try Bounds(call.options, of: expression)
    let daemon = try call.connect()
    let bindings = try Bindings(daemon, call.options)
    let found: (key: KeyArgument, reading: KeyReading)?
    do { found = try bindings.read(key) } catch { throw bindings.explained(error) }
    guard let first = found else { throw unresolved(key, in: bindings) }
    let whole = first.key.text
    var reading = first.reading
    // If focus moves from here on, the change still applies to the field that was read.
    let field = Bindings(daemon, reading.origin.field)
    for _ in 0..<attempts {
      let value: DBusValue
      do { value = try expression.applied(to: reading.value, within: bounds) } catch {
        throw CommandError(error.status, error.message.map { "\(whole): \($0)" })
      }
      do {
        try field.write(whole, value, under: reading.origin)
        return
      } catch  where error.name == Focus1.conflict {
      } catch {
        throw leftField(error, first.key, field.path)
      }
      let again: KeyReading?
      do { again = try field.read(whole) } catch { throw leftField(error, first.key, field.path) }
      guard let again else { throw gone(whole, field.path) }
      reading = again
    }
    throw CommandError(.conflict, "cannot update '\(whole)': gave up after \(attempts) conflicts with other changes")
  }

  /// How often a write is tried: each conflict is another client's success, so only a constantly changing value gets there.
  private static let attempts = 10_000

  private static func leftField(_ error: DBusError, _ key: KeyArgument, _ field: ObjectPath) -> CommandError {
    let isGone = [.unknownObject, .unknownProperty, Focus1.notFocused].contains(error.name)
    return isGone ? gone(key.text, field) : CommandError(refusing: key, error)
  }

  private static func gone(_ key: String, _ field: ObjectPath) -> CommandError {
    .refused("'\(key)' was not changed: the field '\(FieldID.id(field))', from which it was read, no longer has it")
  }

  private static func unresolved(_ key: KeyArgument, in bindings: Bindings) -> CommandError {
    CommandError(.nothing, bindings.whyNil(key))
  }

  /// The whole key and the type of its element, which need not exist yet: an array's `/-`, a new dictionary key.
  private static func typeOfTarget(
    of key: KeyArgument, in bindings: Bindings
  ) throws(ReadFailure) -> (key: KeyArgument, type: DBusType)? {
    if key.lastToken != "-" {
      do {
        guard let found = try bindings.read(key) else { return nil }
        return (found.key, found.reading.value.type)
      } catch {
        guard error.error?.name == Focus1.noSuchElement else { throw error }
        guard let container = key.container, let found = try bindings.read(container),
          case .dictionary(_, let value) = found.reading.value.lookedThrough.type
        else { throw error }
        return (found.key.appending(pointer: key.lastToken), value)
      }
    }
    guard let container = key.container, let found = try bindings.read(container) else { return nil }
    let whole = found.key.appending(pointer: key.lastToken)
    switch found.reading.value.lookedThrough.type {
    case .array(let element): return (whole, element)
    case .dictionary(_, let value): return (whole, value)
    case let other:
      throw ReadFailure(
        key: whole,
        command: .refused("cannot append to '\(whole.text)': '\(found.key.text)' is of type '\(other)', not an array"))
    }
  }

  /// Writes to a key that cannot be read: it is write-only, or of a sensitive field.
  private static func writeUnseen(
    _ name: String, _ key: KeyArgument, _ text: String, in bindings: Bindings
  ) throws(CommandError) {
    // The daemon refuses a pointer into such a value, whatever is written.
    let type = key.pointer.isEmpty ? (try? bindings.property(name))?.type : nil
    let value = try type.map { type throws(CommandError) in try read(text, as: type, for: name) }
    try bindings.daemon.ask(.write(name + key.pointer, value ?? .string(text), at: bindings.path))
  }
}

extension CommandError {
  private static let texts = ["org.focusd.Text.Content", "org.focusd.Text.SelectedText"]

  /// The error that ends a command whose write to `key` failed with `error`: a text that cannot be written can be typed.
  fileprivate init(refusing key: KeyArgument, _ error: DBusError) {
    self.init(error)
    guard error.name == .propertyReadOnly, Self.texts.contains(key.name), let message else { return }
    self.init(
      status,
      "\(message); the text is read-only now, or its program offers no way to write it: "
        + "try xdotool on X11, else wtype or ydotool")
  }
}
