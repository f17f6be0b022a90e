internal import Foundation
internal import TestSupport
internal import Testing

/// The two implementations of the session bus that Debian has.
enum SessionBus: String, CaseIterable, Sendable {
  case daemon = "dbus-daemon"
  case broker = "dbus-broker"
}

/// What a shell script printed, and how it ended.
struct Transcript: CustomStringConvertible {
  /// The exit status, or nil if a signal ended the script.
  let status: Int32?
  let output: [String]
  let errors: [String]

  var description: String {
    "status \(status.map(String.init) ?? "of a signal")\n" + (output + errors).joined(separator: "\n")
  }
}

/// Shell scripts that install and use focusd.
enum Script {
  static let project = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized.path()
  static let installer = project + "/Systemd/install"

  /// The programs under test: those built with the tests, or a release.
  static let binaries = ProcessInfo.processInfo.environment["FOCUSD_TEST_BINARIES"] ?? Products.directory

  /// The names of all user units.
  static var units: [String] { get throws { try unitFiles.map { String($0.dropLast(3)) } } }

  /// The names of all programs that are installed: those of the units, and `focusctl`.
  static var programs: [String] {
    get throws {
      let started = try unitFiles.map { file in
        let text = try String(contentsOfFile: project + "/Systemd/" + file, encoding: .utf8)
        return try #require(text.firstMatch(of: /(?m)^ExecStart=@[a-z]+@\/(\S+)/)).1
      }
      return Set(started.map(String.init) + ["focusctl"]).sorted()
    }
  }

  /// The directory below the prefix for a program: nobody types the bridges' names.
  static func directory(of program: String) -> String {
    ["focusd", "focusctl"].contains(program) ? "bin" : "libexec"
  }

  /// The names of all manuals.
  static var manuals: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: project + "/Systemd/man") }
  }

  private static var unitFiles: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: project + "/Systemd")
        .filter { $0.hasPrefix("focusd") && $0.hasSuffix(".service.in") }
    }
  }

  /// Runs `script` with bash, where each command must succeed, in an environment that knows of no session.
  static func run(
    _ script: String, in directory: String, with environment: [String: String] = [:]
  ) async throws -> Transcript {
    let session = ["HOME": directory, "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin", "BINARIES": binaries]
    return try await finish(
      ["/bin/bash", "-euo", "pipefail", "-c", "install=\(installer)\ncd\n" + script],
      with: session.merging(environment) { $1 })
  }

  /// The same in an empty home, which is removed with all that it holds.
  static func runInNewHome(_ script: String) async throws -> Transcript {
    let home = FileManager.default.temporaryDirectory.appending(path: "focusd-home-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: home) }
    return try await run(script, in: home.path())
  }

  /// Runs `script` as an ordinary user in a session of `systemd --user` with `bus`.
  ///
  /// There `install_focusd` installs the programs under test, `version` calls the daemon, `show` prints a unit's property.
  /// `logged N TEXT` waits until the journal has N lines with TEXT, and prints them.
  /// Cancels the test, with the reason, where this machine cannot have such a session.
  static func runInSession(
    on bus: SessionBus = .daemon, hasUserNamespaces: Bool = true, staging files: [String] = [], _ script: String
  ) async throws -> Transcript {
    let staged = [project + "/Systemd"] + (try programs.map { binaries + "/" + $0 }) + files
    let functions = """
      install_focusd() { /run/stage/Systemd/install --binaries /run/stage >/dev/null; }
      version() { busctl --user get-property org.focusd.Focus1 /org/focusd/Focus1 org.focusd.Focus1.Manager Version; }
      show() { systemctl --user show focusd.service --value --property "$1"; }
      logged() { grep -m "$1" "$2" < <(timeout 50 journalctl --user --follow --lines all --output cat -u focusd.service); }

      """
    let transcript = try await finish(
      (hasUserNamespaces ? [] : [project + "/Tests/SystemdTests/without-user-namespaces"])
        + [project + "/Tests/SystemdTests/user-manager", "--bus", bus.rawValue] + staged.flatMap { ["--stage", $0] }
        + ["bash", "-euo", "pipefail", "-c", functions + script],
      with: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
    if transcript.status == 77 {
      let reason = "\(bus.rawValue): \(transcript.errors.joined(separator: " "))"
      // For one case of several, the cancellation's own message is not shown.
      FileHandle.standardError.write(Data("skipped on \(reason)\n".utf8))
      try Test.cancel("\(reason)")
    }
    return transcript
  }

  private static func finish(_ arguments: [String], with environment: [String: String]) async throws -> Transcript {
    let process = try await ManagedProcess.start(arguments, environment: environment)
    let exit = try await process.finish()
    let progress = process.progress.now
    let status: Int32? = if case .status(let status) = exit { status } else { nil }
    return Transcript(status: status, output: progress.output, errors: progress.errors)
  }
}
