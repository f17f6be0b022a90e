import Foundation
import ProgramSupport
import Testing

/// Processes and their parents, from a procfs made of files.
@Suite struct ProcessTests {
  /// Makes a procfs.
  static func write(_ files: [String: String], to root: URL) throws {
    for (name, contents) in files {
      let file = root.appending(path: name)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(contents.utf8).write(to: file)
    }
  }

  private static func with(_ files: [String: String], _ body: (Processes) -> Void) throws {
    let root = FileManager.default.temporaryDirectory.appending(path: "focusd-proc-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: root) }
    try write(files, to: root)
    body(Processes(root: root.path, groups: root.path + "/groups"))
  }

  @Test func whatIsInOneFlatpakIsFound() throws {
    let scope = "user.slice/app.slice/app-flatpak-org.example.Editor-13.scope"
    let files = [
      "13/cgroup": "0::/\(scope)\n", "14/cgroup": "1:name=x:/\n0::/\(scope)/inner\n",
      "15/cgroup": "0::/user.slice/app.slice/app-foot.scope\n", "16/cgroup": "0::/../app-flatpak-x.scope\n",
      "groups/\(scope)/cgroup.procs": "12\n13\n14\n",
      "groups/user.slice/app.slice/app-foot.scope/cgroup.procs": "15\n17\n",
    ]
    try Self.with(files) { processes in
      #expect(processes.companions(of: 13) == [12, 14])
      #expect(processes.companions(of: 14) == [12, 13])
      for process: UInt32 in [15, 16, 99] { #expect(processes.companions(of: process) == []) }
    }
  }

  @Test func parentsAreFollowedWhateverProgramsAreCalled() throws {
    let files = [
      "10/stat": "10 (sh) S 9 10 10 0", "9/stat": "9 (a) b) 7 (x) R 1 9 9 0", "20/stat": "20 (loop) S 21 0",
      "21/stat": "21 (loop) S 20 0", "30/stat": "nonsense", "31/stat": "31 (x)", "32/stat": "32 (x) S -5 0",
      "33/stat": "33 (x) S 99999999999 0", "34/stat": "",
    ]
    try Self.with(files) { processes in
      #expect(processes.chain(of: 10) == [10, 9, 1])
      #expect(processes.chain(of: 20).count == 64)
      for broken: UInt32 in [30, 31, 32, 33, 34, 77, 0] { #expect(processes.chain(of: broken) == [broken]) }
    }
    #expect(Processes().chain(of: UInt32(getpid())).contains(UInt32(getppid())))
  }

  @Test func aProgramIsCalledAsTheSystemAndItsArgumentsSay() throws {
    let files = [
      "10/comm": "python3\n", "10/cmdline": "/usr/bin/python3\0/usr/bin/vault\0--open\0", "11/comm": "kthread\n",
      "11/cmdline": "", "20/comm": "mousepad\n", "20/cmdline": "mousepad\0pinentry-notes.txt\0",
      "21/comm": "python3.11\n", "21/cmdline": "/usr/bin/python3.11\0-B\0/opt/keepassxc\0",
      "22/comm": "xdg-dbus-proxy\n", "22/cmdline": "xdg-dbus-proxy\0--args=43\0",
      "22/root/.flatpak-info": "[Application]\nname=org.keepassxc.KeePassXC\n",
      "23/comm": "xdg-dbus-proxy\n", "23/cmdline": "xdg-dbus-proxy\0",
      "23/cgroup": "0::/user.slice/app.slice/app-flatpak-com.bitwarden.desktop-123.scope\n",
      "25/comm": "xdg-dbus-proxy\n", "25/cmdline": "xdg-dbus-proxy\0",
      "25/cgroup": "0::/app-flatpak-org.example.my\\x2dnotes-7.scope\n",
      "groups/app-flatpak-org.example.my\\x2dnotes-7.scope/cgroup.procs": "25\n26\n27\n", "26/comm": "notes.py\n",
      "26/cmdline": "/usr/bin/python3\0/app/bin/notes.py\0",
      "24/comm": "shotwell\n", "24/cmdline": "shotwell\0/home/keepassxc\0",
    ]
    try Self.with(files) { processes in
      #expect(processes.names(of: 10) == ["python3", "/usr/bin/python3", "/usr/bin/vault"])
      #expect(processes.names(of: 11) == ["kthread"])
      #expect(processes.names(of: 12) == [])
      #expect(processes.names(of: 20) == ["mousepad", "mousepad"])
      #expect(processes.names(of: 21) == ["python3.11", "/usr/bin/python3.11", "/opt/keepassxc"])
      #expect(processes.names(of: 22).suffix(3) == ["org", "keepassxc", "KeePassXC"])
      #expect(processes.names(of: 23).suffix(3) == ["com", "bitwarden", "desktop"])
      #expect(
        processes.names(of: 25) == [
          "xdg-dbus-proxy", "xdg-dbus-proxy", "notes.py", "/usr/bin/python3", "/app/bin/notes.py",
          "org.example.my-notes", "org", "example", "my-notes",
        ])
      #expect(processes.names(of: 24) == ["shotwell", "shotwell"])
    }
  }

  @Test func sandboxesAreKnownByWhatEveryoneCanRead() throws {
    let status = "Name:\tx\nNSpid:\t%\nNSsid:\t1\n"
    let groups = "0::/user.slice/app.slice/app-foot.scope\n"
    var files = [
      "12/root/.flatpak-info": "", "13/cgroup": "0::/user.slice/app.slice/app-flatpak-org.example.Editor-13.scope\n",
      "14/cgroup": "0::/user.slice/snap.editor.editor-1.scope\n", "17/status": "NSpid:", "18/cgroup": "",
    ]
    for (process, namespaces) in [10: "10", 11: "11\t2", 12: "12", 13: "13", 14: "14", 15: "15"] {
      files["\(process)/status"] = status.replacing("%", with: namespaces)
    }
    for process in [10, 11, 15, 17] { files["\(process)/cgroup"] = groups }
    try Self.with(files) { processes in
      for free: UInt32 in [10, 15, 17] { #expect(!processes.isSandboxed(free), "\(free)") }
      for caged: UInt32 in [11, 12, 13, 14, 18, 99] { #expect(processes.isSandboxed(caged), "\(caged)") }
    }
  }
}
