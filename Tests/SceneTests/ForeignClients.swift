import BusSupport
import TestSupport
import Testing

/// Programs that know nothing of the fields' owner, nor of each other.
enum Tool: String, CaseIterable, CustomTestStringConvertible {
  case busctl
  case gdbus
  case focusctl

  var testDescription: String { rawValue }

  /// The value of the 32-bit integer `demo.Form.Number` that is focused, or what refused it.
  func readNumber(_ desktop: TestDesktop) async throws -> String {
    let result: CommandResult
    switch self {
    case .busctl:
      result = try await desktop.busctl("get-property", "demo.Form", "Number")
    case .gdbus:
      result = try await desktop.gdbus("call", "--method", Focus1.properties + ".Get", "demo.Form", "Number")
    case .focusctl:
      result = try await desktop.focusctl("get", "demo.Form.Number")
    }
    guard result.succeeded else { return refusal(result) }
    switch self {
    case .busctl: return result.text.hasPrefix("i ") ? String(result.text.dropFirst(2)) : result.text
    case .gdbus: return String(result.text.dropFirst(2).dropLast(3))
    case .focusctl: return result.text
    }
  }

  /// Writes the 32-bit integer `demo.Form.Number` that is focused, and says "done" or what refused it.
  func writeNumber(_ value: Int, _ desktop: TestDesktop) async throws -> String {
    let result: CommandResult
    switch self {
    case .busctl:
      result = try await desktop.busctl("set-property", "demo.Form", "Number", "i", String(value))
    case .gdbus:
      result = try await desktop.gdbus(
        "call", "--method", Focus1.properties + ".Set", "demo.Form", "Number", "<\(value)>")
    case .focusctl:
      result = try await desktop.focusctl("set", "demo.Form.Number", String(value))
    }
    return result.succeeded ? "done" : refusal(result)
  }

  /// "nil", "read-only", or all that the tool said.
  private func refusal(_ result: CommandResult) -> String {
    switch self {
    case .busctl, .gdbus:
      if result.errorText.contains("org.focusd.Focus1.Error.NotFocused") { return "nil" }
      if result.errorText.contains("org.freedesktop.DBus.Error.PropertyReadOnly") { return "read-only" }
      // busctl shows the message alone.
      if self == .busctl, result.status == 1, result.errors.count == 1 {
        if result.errorText.contains("read-only") { return "read-only" }
        if result.errorText.contains(" is nil") { return "nil" }
      }
    case .focusctl:
      if result.status == 1, result.output.isEmpty { return "nil" }
      if result.status == 4, result.output.isEmpty, result.errors.count == 1 { return "read-only" }
    }
    return result.description
  }
}
