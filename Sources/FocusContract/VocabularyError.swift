public import DBusTypes

/// That a program has something else at a shared key than all programs have there.
public enum VocabularyError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The value has another type.
  case typeMismatch(Key, expected: DBusType, actual: DBusType)
  /// The key is a command, and no value.
  case isCommand(Key)
  /// The command has other arguments.
  case signatureMismatch(Key, expected: Signature, actual: Signature)
  /// The key is a value, and no command.
  case isValue(Key)

  /// What the key is, in one sentence.
  public var description: String {
    switch self {
    case .typeMismatch(let key, let expected, let actual):
      "\(key) is of type '\(expected)' in every program, but the given value is of type '\(actual)'"
    case .isCommand(let key):
      "\(key) is a command, which an object's method carries out, and cannot be published as a value"
    case .signatureMismatch(let key, let expected, let actual):
      "the command \(key) has the signature '\(expected.text)', and not '\(actual.text)'"
    case .isValue(let key): "\(key) is a value, which a property holds, and cannot be a command"
    }
  }
}
