internal import CLinux
internal import Glibc

/// What the process holds are the session's values, passwords among them: nothing of its memory is for others.
enum Secrecy {
  /// Has no core dump written, and no other process of the user, debuggers included, look at this one's memory.
  ///
  /// `FOCUSD_ALLOW_TRACING=1` leaves out the second, for those who look for leaks.
  static func begin() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    // Under systemd the unit sets it, and the sandbox may refuse this.
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    guard getenv("FOCUSD_ALLOW_TRACING").map({ String(cString: $0) }) != "1" else { return }
    _ = clinux_set_dumpable(0)
  }
}
