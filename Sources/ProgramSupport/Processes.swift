internal import Glibc

/// The processes of the session: `proc(5)`.
package struct Processes {
  /// More parents than any process has.
  private static let longestChain = 64

  private let root: String

  /// Reads from `root`, the mount point of procfs but in tests.
  package init(root: String = "/proc") { self.root = root }

  /// A process, its parent, that one's parent, and so on; the process alone if it is gone.
  package func chain(of process: UInt32) -> [UInt32] {
    var chain = [process]
    while let last = chain.last, last > 1, chain.count < Self.longestChain, let parent = parent(of: last), parent > 0 {
      chain.append(parent)
    }
    return chain
  }

  private func parent(of process: UInt32) -> UInt32? {
    guard let stat = contents("\(process)/stat"), let end = stat.lastIndex(of: UInt8(ascii: ")")) else { return nil }
    // The name in parentheses may hold anything; the state and the parent follow it.
    let fields = stat[(end + 1)...].split(separator: UInt8(ascii: " "), maxSplits: 2)
    return fields.count > 1 ? UInt32(String(decoding: fields[1], as: UTF8.self)) : nil
  }

  /// What the system calls the program of a process, and the script that it runs.
  package func names(of process: UInt32) -> [String] {
    let name = (contents("\(process)/comm") ?? []).prefix { $0 != UInt8(ascii: "\n") }
    let arguments = (contents("\(process)/cmdline") ?? []).split(separator: 0, maxSplits: 2).prefix(2)
    return ([name] + arguments).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Whether a process is in a sandbox: Flatpak's, Snap's, or a process namespace below this one; one that hides counts.
  package func isSandboxed(_ process: UInt32) -> Bool {
    // The root may be unreadable, as it is for who hides its memory; the other two are readable for all.
    if access("\(root)/\(process)/root/.flatpak-info", F_OK) == 0 { return true }
    guard let groups = contents("\(process)/cgroup"), let status = contents("\(process)/status") else { return true }
    let parts = groups.split(separator: UInt8(ascii: "/"))
    if parts.contains(where: { $0.starts(with: "app-flatpak-".utf8) || $0.starts(with: "snap.".utf8) }) { return true }
    for line in status.split(separator: UInt8(ascii: "\n")) where line.starts(with: "NSpid:".utf8) {
      return line.split(separator: UInt8(ascii: "\t")).count > 2
    }
    return false
  }

  /// The beginning of a small file.
  private func contents(_ name: String) -> [UInt8]? {
    let descriptor = open("\(root)/\(name)", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 8192)
    let count = read(descriptor, &bytes, bytes.count)
    return count > 0 ? Array(bytes[..<count]) : nil
  }
}
