internal import Glibc

/// The variables that the process was started with: `environ(7)`.
package enum Environment {
  /// The variable `name`, which may be empty; nil if it is not set.
  package static func text(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  /// The variable `name`; nil if it is not set, or empty.
  package static func value(_ name: String) -> String? { text(name).flatMap { $0.isEmpty ? nil : $0 } }

  /// The path that the variable `name` holds; one that does not begin at the root counts as none: XDG Base Directory
  /// Specification.
  package static func path(_ name: String, of variable: (String) -> String? = value) -> String? {
    variable(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
  }
}
