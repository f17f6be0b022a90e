internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import FocusContract

/// An error of a call to the focused field, or a refusal by a field's owner.
///
/// Show people its `message`; `localizedDescription` does not have it.
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
    case let error as DecodingError:
      self.init("the value does not match its type: \(error.explained)", name: Self.typeMismatch)
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
  /// Who was asked has not answered in time; it may still do what was asked.
  public static let timeout = ErrorName.timeout.text
  /// No daemon is on the bus, and none could be started.
  public static let serviceUnknown = ErrorName.serviceUnknown.text
  /// There is no connection to the bus.
  public static let disconnected = ErrorName.disconnected.text
  /// The arguments are not those of the command, or what was asked is not possible as it was said.
  public static let invalidArguments = ErrorName.invalidArgs.text
  /// There is no such field.
  public static let unknownObject = ErrorName.unknownObject.text
}
