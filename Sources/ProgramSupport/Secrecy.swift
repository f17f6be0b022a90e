internal import CLinux
internal import EventLoop
internal import Glibc

/// Keeps the process's memory private: it holds the session's values, including passwords.
package enum Secrecy {
  /// Disables core dumps, and if it `hidesMemory` denies other processes of the user, debuggers included, access to this
  /// one's memory, and to what `proc(5)` has of it: also to the path of its program.
  ///
  /// `FOCUSD_ALLOW_TRACING=1` allows the access, for leak checkers.
  package static func begin(hidesMemory: Bool) {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    // Under systemd the unit sets it, and the sandbox may refuse this.
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    guard hidesMemory, Environment.value("FOCUSD_ALLOW_TRACING") != "1" else { return }
    _ = clinux_set_dumpable(0)
  }
}
