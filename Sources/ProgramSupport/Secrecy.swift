internal import CLinux
internal import EventLoop
internal import Glibc

/// Keeps the process's memory private: it holds the session's values, including passwords.
package enum Secrecy {
  /// Disables core dumps, and denies other processes of the user, debuggers included, access to this one's memory.
  ///
  /// `FOCUSD_ALLOW_TRACING=1` allows the access, for leak checkers.
  package static func begin() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    // Under systemd the unit sets it, and the sandbox may refuse this.
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    guard Environment.value("FOCUSD_ALLOW_TRACING") != "1" else { return }
    _ = clinux_set_dumpable(0)
  }
}
