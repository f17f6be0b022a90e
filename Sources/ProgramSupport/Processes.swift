internal import Glibc

/// The processes of the session: `proc(5)`.
package struct Processes {
  /// More parents than any process has.
  private static let longestChain = 64

  private let root: String
  private let groups: String

  /// Reads from `root` and `groups`, the mount points of procfs and of control groups but in tests.
  package init(root: String = "/proc", groups: String = "/sys/fs/cgroup") { (self.root, self.groups) = (root, groups) }

  /// A process, its parent, that one's parent, and so on; the process alone if it is gone.
  package func chain(of process: UInt32) -> [UInt32] {
    var chain = [process]
    while let last = chain.last, last > 1, chain.count < Self.longestChain, let parent = parent(of: last), parent > 0 {
      chain.append(parent)
    }
    return chain
  }

  /// The processes that are in the same Flatpak as a process; none if it is in none.
  ///
  /// Its messages come from a proxy, which is no parent of its windows' process; both are in one scope, `cgroups(7)`.
  package func companions(of process: UInt32) -> [UInt32] {
    let lines = (contents("\(process)/cgroup") ?? []).split(separator: UInt8(ascii: "\n")).map(text)
    let path = lines.first { $0.hasPrefix("0::/") }?.dropFirst("0::/".count).split(separator: "/") ?? []
    guard let scope = path.firstIndex(where: { $0.hasPrefix("app-flatpak-") }), !path.contains("..") else { return [] }
    let file = ([groups] + path[...scope].map(String.init) + ["cgroup.procs"]).joined(separator: "/")
    let processes = (contents(at: file) ?? []).split(separator: UInt8(ascii: "\n")).compactMap { UInt32(text($0)) }
    return processes.filter { $0 != process }
  }

  /// Whether a process is a kernel thread, which has no command line; false if no such process exists.
  package func isKernelThread(_ process: UInt32) -> Bool {
    contents("\(process)/comm") != nil && contents("\(process)/cmdline") == nil
  }

  /// The number of the terminal that a process is started in, 0 if in none; nil if the process is gone.
  package func terminal(of process: UInt32) -> UInt32? { number(4, of: process) }

  private func parent(of process: UInt32) -> UInt32? { number(1, of: process) }

  /// The number at a place of a process's state, counted from that state's letter on.
  private func number(_ place: Int, of process: UInt32) -> UInt32? {
    guard let stat = contents("\(process)/stat"), let end = stat.lastIndex(of: UInt8(ascii: ")")) else { return nil }
    // The name in parentheses may hold anything.
    let fields = stat[(end + 1)...].split(separator: UInt8(ascii: " "), maxSplits: place + 1)
    return fields.count > place ? UInt32(String(decoding: fields[place], as: UTF8.self)) : nil
  }

  /// What runs the script that its first argument names which is no option.
  private static let interpreters = [
    "python", "perl", "ruby", "node", "gjs", "guile", "lua", "sh", "bash", "dash", "zsh", "ksh",
  ]

  /// The names of the program of a process, of the script that it runs, and of the application that its sandbox is for.
  ///
  /// With `withCompanions`, those of the other programs in its Flatpak are among them: its messages come from a proxy. Empty if
  /// the process is gone, or hidden by the mount option `hidepid`.
  package func names(of process: UInt32, withCompanions: Bool = true) -> [String] {
    let own = ownNames(of: process)
    guard !own.isEmpty else { return [] }
    let companions = withCompanions ? companions(of: process).prefix(Self.mostCompanions) : []
    return own + companions.flatMap(ownNames) + application(of: process)
  }

  /// The most processes of a Flatpak whose names are read.
  private static let mostCompanions = 64

  private func ownNames(of process: UInt32) -> [String] {
    guard let name = contents("\(process)/comm").map({ text($0.prefix { $0 != UInt8(ascii: "\n") }) }) else {
      return []
    }
    let arguments = (contents("\(process)/cmdline") ?? []).split(separator: 0).prefix(8).map(text)
    let program = arguments.first?.split(separator: "/").last.map(String.init) ?? ""
    var names = [name] + arguments.prefix(1)
    if Self.isInterpreter(program) {
      names += arguments.dropFirst().filter { !$0.hasPrefix("-") }.prefix(1)
    }
    return names
  }

  /// Logs it if the mount option `hidepid` hides the names of the user's programs, as it does in a unit's sandbox: without
  /// its name, none is looked into.
  package static func checkNames(_ log: Log) {
    guard Processes().names(of: UInt32(getppid())).isEmpty else { return }
    log.error("the mount option hidepid of /proc hides the names of programs: none is looked into")
  }

  /// The environment that a process was started with, as far as it can be read.
  package func environment(of process: UInt32) -> [String: String] {
    var environment: [String: String] = [:]
    for entry in (contents("\(process)/environ", limit: 1 << 16) ?? []).split(separator: 0) {
      let parts = entry.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { environment[text(parts[0])] = text(parts[1]) }
    }
    return environment
  }

  /// Whether a program runs scripts, such as python3 and python3.11: its name says nothing of them.
  package static func isInterpreter(_ program: String) -> Bool {
    interpreters.contains { program.hasPrefix($0) && program.dropFirst($0.count).allSatisfy(\.isVersion) }
  }

  private func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }

  /// The name of the Flatpak or Snap that a process is of, whole and its parts.
  private func application(of process: UInt32) -> [String] {
    let information = (contents("\(process)/root/.flatpak-info") ?? []).split(separator: UInt8(ascii: "\n")).map(text)
    var name = information.first { $0.hasPrefix("name=") }.map { String($0.dropFirst("name=".count)) }
    for part in (contents("\(process)/cgroup") ?? []).split(separator: UInt8(ascii: "/")).map(text) where name == nil {
      if part.hasPrefix("app-flatpak-") {
        name = unescaped(
          part.dropFirst("app-flatpak-".count).split(separator: "-").dropLast().joined(separator: "-"))
      } else if part.hasPrefix("snap.") {
        name = part.split(separator: ".").dropFirst().first.map(String.init)
      }
    }
    guard let name else { return [] }
    return [name] + name.split(separator: ".").map(String.init)
  }

  /// A part of a unit's name, in which systemd writes a hyphen as `\x2d`: `systemd.unit(5)`.
  private func unescaped(_ part: String) -> String {
    var bytes: [UInt8] = []
    var rest = Array(part.utf8)[...]
    while let first = rest.popFirst() {
      let digits = rest.dropFirst().prefix(2)
      if first == UInt8(ascii: "\\"), rest.first == UInt8(ascii: "x"), let byte = UInt8(text(digits), radix: 16) {
        bytes.append(byte)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(first)
      }
    }
    return text(bytes)
  }

  /// The path of this program; nil without `/proc`.
  package static var ownPath: String? {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &path, path.count)
    return count > 0 ? String(decoding: path.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
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
  private func contents(_ name: String, limit: Int = 8192) -> [UInt8]? {
    contents(at: "\(root)/\(name)", limit: limit)
  }

  private func contents(at path: String, limit: Int = 8192) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: limit)
    let count = read(descriptor, &bytes, bytes.count)
    return count > 0 ? Array(bytes[..<count]) : nil
  }
}

extension Character {
  /// Whether it may be in a version.
  fileprivate var isVersion: Bool { isNumber || self == "." }
}
