internal import Foundation
internal import TestSupport

/// A program in a process namespace of its own, as in a sandbox, where processes have other numbers.
///
/// It is no child of the tests.
package final class SandboxedProgram: Sendable {
  /// Whether there can be one.
  package static let canRun = geteuid() == 0 && access("/usr/bin/unshare", X_OK) == 0

  /// The program's parent, which is outside.
  package let process: Int32

  /// Has a sandboxed program hold a field, and say that it belongs to the process `claimed`.
  /// - Throws: `SpawnError`, `DeadlinePassed`, `RemoteError`.
  package init(on desktop: TestDesktop, holding id: String, claiming claimed: Int32) async throws {
    let gate = "\(desktop.bus.directory)/\(id).gate"
    // It begins when the shell that has started it is gone.
    let script = """
      mkfifo "$0" && isolate() { exec /usr/bin/unshare --pid --fork --kill-child "$@"; }
      isolate /bin/sh -c 'read -r go <"$0"; exec "$@"' "$0" "$@" >/dev/null 2>&1 & echo $!
      """
    let hold = [
      Products.focusctl, "--address", desktop.bus.address, "hold", "--process", "\(claimed)", id,
      "demo.Form.Name=\(id)",
    ]
    let started = try await desktop.run(["/bin/sh", "-c", script, gate] + hold)
    guard let process = Int32(started.text.filter(\.isNumber)) else {
      throw RemoteError(name: "unshare", message: started.errorText)
    }
    self.process = process
    try "go\n".write(toFile: gate, atomically: false, encoding: .utf8)
    let peer = try await desktop.peer()
    try await eventually("the field of the sandboxed program") { try await peer.fields().contains(id) }
  }

  deinit { kill(process, SIGKILL) }
}
