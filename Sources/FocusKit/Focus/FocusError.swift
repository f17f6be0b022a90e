internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import FocusContract

/// An error of a call to the focused field, or a refusal by a field's owner.
public struct FocusError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The error's name on the bus, such as `org.focusd.Focus1.Error.Conflict`.
  public let name: String
  /// The cause and the remedy, in one sentence.
  public let message: String

  /// Creates an error, for example to refuse a value of a field.
  public init(_ message: String, name: String = "org.freedesktop.DBus.Error.Failed") {
    self.message = message
    self.name = name
  }

  init(_ error: DBusError) { self.init(error.explained, name: error.name.text) }

  /// The error for any thrown error.
  init(any error: any Error) {
    switch error {
    case let error as FocusError: self = error
    case let error as DBusError: self.init(error)
    case let error as TypeMismatch: self.init(error.description, name: Self.typeMismatch)
    case let error as DBusConversionError: self.init(error.description, name: Self.typeMismatch)
    case let error as SyntaxError: self.init(DBusError(error))
    case is DecodingError: self.init("the value does not match its type: \(error)", name: Self.typeMismatch)
    default: self.init("\(error)")
    }
  }

  /// The error as sent over the bus.
  var onBus: DBusError {
    let name = (try? ErrorName(name)) ?? .failed
    return DBusError(name, message)
  }

  /// The message, then the name.
  public var description: String { "\(message) (\(name))" }

  /// No field with focus publishes the key.
  public static let notFocused = Focus1.notFocused.text
  /// The value read is no longer current: focus moved, or the value changed.
  public static let conflict = Focus1.conflict.text
  /// The value's type is not the key's.
  public static let typeMismatch = Focus1.typeMismatch.text
  /// The command is turned off.
  public static let disabled = Focus1.disabled.text
  /// The key's owner lets nobody write it.
  public static let propertyReadOnly = ErrorName.propertyReadOnly.text
  /// The field does not let the caller do that.
  public static let accessDenied = ErrorName.accessDenied.text
}
