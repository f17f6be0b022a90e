internal import DBus
internal import DBusTypes
internal import FocusModel

extension ErrorName {
  private static func focus(_ last: String) -> ErrorName { ErrorName(known: "org.focusd.Focus1.Error." + last) }

  static let notFocused = focus("NotFocused")
  static let noSuchField = focus("NoSuchField")
  static let fieldExists = focus("FieldExists")
  static let typeMismatch = focus("TypeMismatch")
  /// What is to be kept cannot be.
  static let ioError = ErrorName(known: "org.freedesktop.DBus.Error.IOError")
  static let disabled = focus("Disabled")
  static let ownerGone = focus("OwnerGone")
  static let noSuchElement = focus("NoSuchElement")
  static let conflict = focus("Conflict")
}

extension DBusError {
  /// The error as callers see it.
  init(_ error: FocusError) {
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
    case let error as FocusError: self.init(error)
    case let error as SyntaxError: self.init(error)
    case let error as TypeMismatch: self.init(.invalidArgs, error.description)
    default: self.init(.failed, "\(error)")
    }
  }
}
