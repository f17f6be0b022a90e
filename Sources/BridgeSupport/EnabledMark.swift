internal import Glibc
internal import ProgramSupport

/// A file that says that the bridge has turned accessibility on: the setting outlives the session and a bridge that is
/// killed, and only who made it may put it back.
struct EnabledMark {
  /// If the environment sets none, nothing is remembered.
  private let directory = StateDirectory.path(of: "focusd-accessibility")

  private var path: String? { directory.map { $0 + "/enabled" } }

  var isSet: Bool { path.map { access($0, F_OK) == 0 } ?? false }

  func set() {
    guard let directory, let path else { return }
    _ = StateDirectory.make(directory)
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    if descriptor >= 0 { close(descriptor) }
  }

  func remove() { if let path { unlink(path) } }
}
