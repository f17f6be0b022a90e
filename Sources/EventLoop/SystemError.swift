internal import Glibc

/// A system call that failed.
package struct SystemError: Error, CustomStringConvertible {
  /// The call's name, such as `signalfd`.
  package let call: String
  /// The call's error number: `errno(3)`.
  package let number: Int32

  /// The error that `call` has just reported in `errno`.
  package init(_ call: String) {
    number = errno
    self.call = call
  }

  package var description: String { "\(call): \(String(cString: strerror(number)))" }
}
