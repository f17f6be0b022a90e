internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

extension ErrorName {
  static let ioError = Focus1.ioError
  static let notFocused = Focus1.notFocused
  static let noSuchField = Focus1.noSuchField
  static let fieldExists = Focus1.fieldExists
  static let typeMismatch = Focus1.typeMismatch
  static let disabled = Focus1.disabled
  static let ownerGone = Focus1.ownerGone
  static let noSuchElement = Focus1.noSuchElement
  static let conflict = Focus1.conflict
}

extension DBusError {
  /// The error as callers see it.
  init(_ error: ModelError) {
    let name: ErrorName =
      switch error {
      case .notFocused, .commandNotFocused: .notFocused
      case .noSuchField: .noSuchField
      case .fieldExists: .fieldExists
      case .typeMismatch: .typeMismatch
      case .noSuchElement: .noSuchElement
      case .conflict: .conflict
      case .disabled: .disabled
      case .unknownProperty: .unknownProperty
      case .unknownCommand: .unknownMethod
      case .readOnly: .propertyReadOnly
      case .accessDenied: .accessDenied
      case .invalid: .invalidArgs
      case .limitExceeded: .limitsExceeded
      }
    self.init(name, error.description)
  }

  /// Whatever a handler threw, as callers see it.
  init(any error: any Error) {
    switch error {
    case let error as DBusError: self = error
    case let error as ModelError: self.init(error)
    case let error as SyntaxError: self.init(error)
    case let error as TypeMismatch: self.init(.invalidArgs, error.description)
    default: self.init(.failed, "\(error)")
    }
  }
}
