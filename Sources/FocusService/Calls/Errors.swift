internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

extension DBusError {
  /// The error as callers see it.
  init(_ error: ModelError) {
    let name: ErrorName =
      switch error {
      case .notFocused, .commandNotFocused: Focus1.notFocused
      case .noSuchField: Focus1.noSuchField
      case .fieldExists: Focus1.fieldExists
      case .typeMismatch, .isCommand: Focus1.typeMismatch
      case .noSuchElement: Focus1.noSuchElement
      case .conflict: Focus1.conflict
      case .disabled: Focus1.disabled
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
    case let error as WireError: self.init(.invalidArgs, "\(error)")
    case let error as TypeMismatch: self.init(.invalidArgs, error.description)
    default: self.init(.failed, "\(error)")
    }
  }
}
