internal import BridgeSupport
internal import DBus
internal import DBusTypes

/// What a program tells of an element that decides whether its text may be shown: only what is proved not to be secret is.
final class SecretProof {
  enum Outcome {
    case plain
    case secret
    /// The program does not tell, or not what it should.
    case suspect
    /// It has another role than was expected.
    case changed
    /// The program did not answer.
    case failed(DBusError)
  }

  /// The role, once it is known.
  private(set) var role: ElementRole?
  private var attributes: [String: String] = [:]
  private var isSuspect = false
  /// Why the role is not known.
  private(set) var error: DBusError?

  func askRole(of element: ElementReference, on bus: ProgramBus, _ answers: Answers) {
    bus.role(
      of: element,
      answers.expect { [self] answer in
        switch answer {
        case .success(let number): role = ElementRole(rawValue: number)
        case .failure(.wrongAnswer): isSuspect = true
        case .failure(let problem): error = problem
        }
      })
  }

  func askAttributes(of element: ElementReference, on bus: ProgramBus, _ answers: Answers) {
    bus.ask(
      element, "GetAttributes",
      answers.expect { [self] (answer: ProgramBus.Answer) in
        guard case .success(let values) = answer, case .dictionary(let entries)? = values.first,
          entries.keyType == .string, entries.valueType == .string
        else {
          isSuspect = true
          return
        }
        for entry in entries.entries { attributes[entry.key.basicText ?? ""] = entry.value.basicText }
      })
  }

  /// What the answers come to; `expected` is the role that the element had before, if it had one.
  func outcome(_ expected: ElementRole? = nil) -> Outcome {
    if let error { return .failed(error) }
    if SecretRule.isSecret(role ?? .passwordText, attributes: attributes) { return role == nil ? .suspect : .secret }
    if isSuspect { return .suspect }
    return expected == nil || expected == role ? .plain : .changed
  }
}
