internal import Glibc

/// The variables that the process was started with: `environ(7)`.
package enum Environment {
  /// The variable `name`; nil if it is not set, or empty.
  package static func value(_ name: String) -> String? {
    guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
    return value
  }
}
