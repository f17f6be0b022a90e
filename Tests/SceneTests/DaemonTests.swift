import BusSupport
import Foundation
import Glibc
import TestSupport
import Testing

/// The daemon as a process.
@Suite struct DaemonTests {
  @Test func aSecondInstanceSaysWhoHoldsTheName() async throws {
    try await TestDesktop.with { desktop in
      let second = try await desktop.bus.run([Products.focusd, "--address", desktop.bus.address])
      #expect(second.status == 1)
      #expect(second.output.isEmpty)
      #expect(second.errors.count == 1)
      #expect(second.errorText.contains("\(desktop.daemon.processID)"))
      #expect(second.errorText.contains(Focus1.name))
      let client = try await desktop.witness()
      try await client.register("a")
    }
  }

  @Test(arguments: [
    ["--address", "unix:path=/nonexistent/bus"], ["--address", ""], ["--address", "nonsense"],
    ["--address", "unixexec:path=/bin/true"], ["--address", "tcp:host=localhost,port=1"],
  ])
  func withoutABusItSaysSoInOneLine(arguments: [String]) async throws {
    try await PrivateBus.with { bus in
      let result = try await bus.run([Products.focusd] + arguments)
      #expect(result.status == 1)
      #expect(result.output.isEmpty)
      #expect(result.errors.count == 1, "\(result)")
    }
  }

  /// libdbus would start a bus if there is only a display.
  @Test(arguments: [("XDG_RUNTIME_DIR", "/nonexistent", "/nonexistent/bus"), ("DISPLAY", ":9", "neither")])
  func withoutASessionItSaysSoInOneLine(variable: String, value: String, reason: String) async throws {
    try await PrivateBus.with { bus in
      let daemon = try await ManagedProcess.start(
        [Products.focusd], environment: ["HOME": bus.directory, "PATH": "/usr/bin:/bin", variable: value])
      #expect(try await daemon.finish() == .status(1))
      let errors = daemon.progress.now.errors
      #expect(errors.count == 1 && errors[0].contains(reason), "\(errors)")
    }
  }

  @Test(arguments: [
    ["--colour"], ["-x"], ["word"], ["--address"], ["--help", "--colour"].reversed(), ["--verbose=1"], ["--", "word"],
  ])
  func wordsThatAreOffAreRefused(arguments: [String]) async throws {
    try await PrivateBus.with { bus in
      let result = try await bus.run([Products.focusd] + arguments)
      #expect(result.status == 2)
      #expect(result.output.isEmpty)
      #expect(result.errors.count == 1, "\(result)")
      #expect(result.errorText.contains("--help"))
    }
  }

  @Test func helpAndVersion() async throws {
    try await PrivateBus.with { bus in
      for option in ["--help", "-h"] {
        let help = try await bus.run([Products.focusd, option])
        #expect(help.succeeded)
        #expect(help.errors.isEmpty)
        for word in ["Usage:", "--address", "--verbose", "--help", "--version"] { #expect(help.text.contains(word)) }
        #expect(help.output.allSatisfy { $0.count <= 80 })
      }
      let version = try await bus.run([Products.focusd, "--version"])
      #expect(version.succeeded)
      #expect(version.output.count == 1)
      #expect(version.text.hasPrefix("focusd "))
    }
  }

  @Test(arguments: [Int32(15), 2])
  func aSignalEndsItInOrder(signal: Int32) async throws {
    try await TestDesktop.with { desktop in
      try await desktop.end(signal)
      let answer = try await desktop.bus.busctl("status", Focus1.name)
      #expect(!answer.succeeded)
    }
  }

  @Test func theEndOfTheBusEndsIt() async throws {
    try await TestDesktop.with { desktop in
      try await desktop.bus.stop()
      #expect(try await desktop.ended() == .status(1))
    }
  }

  @Test func theSessionBusIsTheDefault() async throws {
    try await PrivateBus.with { bus in
      let daemon = try await bus.start([Products.focusd])
      let waited = try await bus.gdbus("wait", "--timeout", "50", Focus1.name)
      #expect(waited.succeeded)
      try await daemon.stop()
    }
  }

  /// The variable is inherited from what systemd started: lines have priorities only if the stream is the journal's.
  @Test func standardErrorIsTheJournalsOnlyIfItIsTheSameStream() async throws {
    try await PrivateBus.with { bus in
      let words = [Products.focusd, "--address", bus.address]
      for (prefix, start) in [(TestDesktop.journaled, "<6>"), ([], "focusd: ")] {
        let daemon = try await bus.start(prefix + words, extra: ["JOURNAL_STREAM": "8:1"])
        _ = try await daemon.says("serving as")
        #expect(daemon.progress.now.errors.allSatisfy { $0.hasPrefix(start) }, "\(daemon.progress.now)")
        try await daemon.stop()
      }
    }
  }

  /// How a shell on a terminal starts the program, and whether it ends with that.
  private static let starts = [
    (start: "exec FOCUSD", ends: true), ("exec nohup FOCUSD", false),
    // As an interactive shell that ends: the terminal is still there when it tells its jobs.
    ("set -m; FOCUSD & read -r line; kill -HUP $!; echo told; read -r line", true),
  ]

  /// SIGHUP is otherwise to read the settings anew.
  @Test(arguments: starts) func itEndsWithItsTerminal(start: String, ends: Bool) async throws {
    try await PrivateBus.with { bus in
      let program = "\(Products.focusd) --address \(bus.address) >\(bus.directory)/log 2>&1"
      let command = start.replacingOccurrences(of: "FOCUSD", with: program)
      let terminal = try await bus.start(["/usr/bin/script", "-qefc", command, "/dev/null"])
      let client = try await Peer(on: bus)
      try await client.waitForOwner(of: Focus1.name)
      if command.contains("told") {
        terminal.send(line: "")
        try await terminal.line { $0.hasPrefix("told") }
        // The signal is read before the second call.
        for _ in 0..<2 { #expect(try await client.fields() == []) }
        terminal.send(line: "")
      } else {
        terminal.terminate(SIGKILL)
      }
      _ = try await terminal.finish()
      guard !ends else { return try await client.waitForDeparture(of: Focus1.name) }
      // The signal comes when the terminal's last user ends, and is read before the second call.
      for _ in 0..<2 { #expect(try await client.fields() == []) }
    }
  }

  /// As under systemd with `WatchdogSec=`: the process says that it is ready, and then again and again that it lives.
  @Test func itTellsTheServiceManagerThatItLives() async throws {
    try await PrivateBus.with { bus in
      let listener = try await bus.start(["/usr/bin/python3", "-u", "-c", Self.listener, bus.directory + "/notify"])
      try await listener.line { $0 == "listening" }
      let daemon = try await bus.start(
        [Products.focusd, "--address", bus.address],
        extra: ["NOTIFY_SOCKET": bus.directory + "/notify", "WATCHDOG_USEC": "20000"])
      try await listener.line("READY=1") { $0 == "READY=1" }
      // The third one takes a timer that was set by a timer that was set by a timer.
      _ = try await listener.progress.wait(for: "WATCHDOG=1") { progress in
        progress.output.filter { $0 == "WATCHDOG=1" }.count >= 3 ? true : nil
      }
      daemon.terminate()
      try await listener.line("STOPPING=1") { $0 == "STOPPING=1" }
      #expect(try await daemon.finish() == .status(0))
    }
  }

  /// Zero and negative numbers are no interval: sd_watchdog_enabled(3).
  @Test(arguments: ["0", "-5"])
  func itTellsNothingInNoTime(interval: String) async throws {
    try await PrivateBus.with { bus in
      let listener = try await bus.start(["/usr/bin/python3", "-u", "-c", Self.listener, bus.directory + "/notify"])
      try await listener.line { $0 == "listening" }
      let daemon = try await bus.start(
        [Products.focusd, "--address", bus.address],
        extra: ["NOTIFY_SOCKET": bus.directory + "/notify", "WATCHDOG_USEC": interval])
      try await listener.line("READY=1") { $0 == "READY=1" }
      daemon.terminate()
      try await listener.line("STOPPING=1") { $0 == "STOPPING=1" }
      #expect(!listener.progress.now.output.contains("WATCHDOG=1"))
      #expect(try await daemon.finish() == .status(0))
    }
  }

  /// The manager holds them open itself: sd_listen_fds(3).
  @Test func itClosesTheFilesThatAnEarlierProcessLeft() async throws {
    try await PrivateBus.with { bus in
      let held = bus.directory + "/held"
      let start = """
        export LISTEN_PID=$$ LISTEN_FDS=2
        exec 3>'\(held)' 4>'\(held)' \(Products.focusd) --address \(bus.address)
        """
      let daemon = try await bus.start(["/bin/bash", "-c", start])
      try await Peer(on: bus).waitForOwner(of: Focus1.name)
      let files = "/proc/\(daemon.processID)/fd"
      let open = try FileManager.default.contentsOfDirectory(atPath: files)
        .compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(files)/\($0)") }
      #expect(!open.isEmpty && !open.contains { $0.hasSuffix("/held") })
      daemon.terminate()
      try await daemon.finish()
    }
  }

  private static let listener = """
    import socket, sys
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    s.bind(sys.argv[1])
    print("listening")
    while True:
        print(s.recv(4096).decode())
    """
}
