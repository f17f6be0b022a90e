public import DBusTypes
public import FocusContract

/// Why an operation on the model was refused; in each case nothing has changed.
public enum ModelError: Error, Hashable, Sendable {
  /// The key resolves to nothing now.
  case notFocused(Key)
  /// There is no such field.
  case noSuchField(String)
  /// The id is taken.
  case fieldExists(FieldID)
  /// The key, or the element of its value, has another type than the given value.
  case typeMismatch(BindingPath, expected: DBusType, actual: DBusType)
  /// The key is another thing in every program.
  case vocabulary(VocabularyError)
  /// The value has no such element.
  case noSuchElement(Key, PointerError)
  /// The binding is no longer in the state that the write was meant for, or the key resolves to another field.
  case conflict(String)
  /// The field does not publish the key.
  case unknownProperty(Key, FieldID)
  /// The command resolves to nothing now.
  case commandNotFocused(Key)
  /// The field has no such command.
  case unknownCommand(Key, FieldID)
  /// The command is there, and disabled.
  case disabled(Key, FieldID)
  /// Only the owner may write the key.
  case readOnly(Key, FieldID)
  /// Only the owner may do that.
  case accessDenied(String)
  /// An argument is not valid.
  case invalid(String)
  /// A limit would be passed.
  case limitExceeded(String)
}

extension ModelError {
  /// The error of a pointer into the value of `key`.
  init(_ key: Key, _ error: PointerError) {
    switch error {
    case .noSuchElement: self = .noSuchElement(key, error)
    case .typeMismatch(let pointer, let mismatch):
      self = .typeMismatch(BindingPath(key, pointer), expected: mismatch.expected, actual: mismatch.actual)
    }
  }
}

extension ModelError: CustomStringConvertible {
  /// What was asked and what would have been right, in one sentence.
  public var description: String {
    switch self {
    case .notFocused(let key):
      "\(key) is nil: neither the focused field, its ancestors, its scene nor a session field publishes it"
    case .noSuchField(let text):
      "there is no field '\(text.excerpt)': a field is named by its object path, /org/focusd/Focus1/field/ID"
    case .fieldExists(let id):
      "the field '\(id)' already exists: choose another id, or \"\" to let focusd choose one"
    case .noSuchElement(let key, let error):
      "\(key): \(error)"
    case .typeMismatch(let path, let expected, let actual):
      expected.isNumber && actual.isNumber
        ? "\(path) is of type '\(expected)', which does not hold exactly the given number, of type '\(actual)'"
        : "\(path) is of type '\(expected)', but the given value is of type '\(actual)'"
    case .vocabulary(let error): error.description
    case .unknownProperty(let key, let field):
      "the field '\(field)' does not publish \(key): its property Keys lists what it does"
    case .commandNotFocused(let key):
      "there is no command \(key) now: neither the focused field, its ancestors, its scene nor a session field has it"
    case .unknownCommand(let key, let field):
      "the field '\(field)' has no command \(key): its property Commands lists those that it has"
    case .disabled(let key, let field):
      "the command \(key) of the field '\(field)' is disabled until its owner enables it"
    case .readOnly(let key, let field):
      "\(key) of the field '\(field)' is read-only: its object does not let it be set, or only its owner may"
    case .conflict(let sentence), .accessDenied(let sentence), .invalid(let sentence), .limitExceeded(let sentence):
      sentence
    }
  }
}
