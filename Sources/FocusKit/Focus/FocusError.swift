internal import DBus
internal import DBusTypes
internal import FocusContract

/// What went wrong on the way to the focused field, or what a field's owner refuses.
public struct FocusError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The error's name on the bus, such as `org.focusd.Focus1.Error.Conflict`.
  public let name: String
  /// What was asked and what would have been right, in one sentence.
  public let message: String

  /// Creates an error, such as one with which a field's owner refuses a value.
  public init(_ message: String, name: String = "org.freedesktop.DBus.Error.Failed") {
    self.message = message
    self.name = name
  }

  init(_ error: DBusError) { self.init(error.message, name: error.name.text) }

  /// The error for whatever was thrown.
  init(any error: any Error) {
    switch error {
    case let error as FocusError: self = error
    case let error as DBusError: self.init(error)
    case let error as DBusConversionError: self.init(error.description, name: Self.typeMismatch)
    case let error as SyntaxError: self.init(DBusError(error))
    case is DecodingError: self.init("the value lacks a member: \(error)", name: Self.typeMismatch)
    default: self.init("\(error)")
    }
  }

  /// The error as it goes over the bus.
  var onBus: DBusError {
    let name = (try? ErrorName(name)) ?? .failed
    return DBusError(name, message)
  }

  /// The message, then the name.
  public var description: String { "\(message) (\(name))" }

  /// Nothing that has focus publishes the key.
  public static let notFocused = Focus1.notFocused.text
  /// What was read is not what is there now: focus moved, or the value is another.
  public static let conflict = Focus1.conflict.text
  /// A value of another type than the key's.
  public static let typeMismatch = Focus1.typeMismatch.text
  /// A field with that id is there already.
  static let fieldExists = Focus1.fieldExists.text
}
