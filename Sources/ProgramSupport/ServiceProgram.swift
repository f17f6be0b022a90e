@preconcurrency internal import CLinux
package import EventLoop
internal import Glibc

/// A program that serves until the service manager or a user ends it: loop, log, readiness and orderly end.
package final class ServiceProgram {
  /// The program's one loop, on the thread that runs it.
  package let loop = EventLoop()
  package let log: Log
  package let manager = ServiceManager()
  /// Called when the settings must be read anew: `systemctl reload` sends SIGHUP, as a terminal does that is closed.
  package var onReload: (() -> Void)?
  /// Called once when the loop has ended, and the process is about to.
  package var onEnd: (() -> Void)?
  private var status: Int32 = 0

  private init(_ name: String, isVerbose: Bool) {
    log = Log(program: name, isVerbose: isVerbose, showsPriorities: manager.readsPriorities)
  }

  /// Lets the program have as many descriptors as the system allows it: others send some that wait with their calls.
  package static func raiseDescriptorLimit() {
    let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard getrlimit(descriptors, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
    limit.rlim_cur = limit.rlim_max
    // Under systemd the unit sets it, and the sandbox refuses this.
    setrlimit(descriptors, &limit)
  }

  /// Returns to the system what was freed, after something that took much for a moment.
  package static func releaseMemory() { malloc_trim(0) }

  /// Ends the program with a status other than 0, which makes the service manager start it again.
  package func fail(_ message: String, status: Int32 = 1) {
    log.error(message)
    self.status = status
    loop.stop()
  }

  /// The user's settings for `section`; the log has what is wrong with them.
  package func settings(_ section: SettingsSection) -> Settings {
    Settings.read(section) { log.error($0) }
  }

  /// Does what the arguments ask for, and ends the process.
  ///
  /// `serve` starts what the program does, which is kept while the loop runs; the service is ready when this returns. An
  /// error that it throws ends the program with status 1. The memory of a program that holds no secrets is not hidden.
  package static func main<Server>(
    _ name: String, help: String, version: String, _ options: ProgramOptions, holdsSecrets: Bool = true,
    serve: (ServiceProgram) throws -> Server
  ) -> Never {
    StandardStreams.open()
    switch options.action {
    case .showHelp: print(help, name)
    case .showVersion: print("\(name) \(version)\n", name)
    case .refuse(let reason):
      Log(program: name, isVerbose: false, showsPriorities: false).error("\(reason); see \(name) --help")
      exit(2)
    case .serve:
      Secrecy.begin(hidesMemory: holdsSecrets)
      exit(ServiceProgram(name, isVerbose: options.contains("verbose")).run(serve))
    }
  }

  /// Writes `text` to standard output, and ends the program `name`, with status 1 if it cannot be written.
  package static func print(_ text: String, _ name: String) -> Never {
    let error = StandardStreams.write(text)
    guard error != 0 else { exit(0) }
    Log(program: name, isVerbose: false, showsPriorities: false).error(
      "cannot write to standard output: \(String(cString: strerror(error)))")
    exit(1)
  }

  private func run<Server>(_ serve: (ServiceProgram) throws -> Server) -> Int32 {
    manager.closePassed()
    // Return large blocks to the system when they are freed: glibc would keep them once one has been freed.
    mallopt(M_MMAP_THRESHOLD, 256 << 10)
    // If a file may not grow further, or nobody reads a socket or a pipe, the write fails, and the process continues.
    for number in [SIGXFSZ, SIGPIPE] { signal(number, SIG_IGN) }
    let terminal = ControllingTerminal()
    do {
      // A loop's handlers never retain the loop: both would outlive what is served.
      _ = try SignalSource([SIGTERM, SIGINT, SIGHUP], on: loop) { [weak self, weak loop, log] number in
        let end = { [weak loop] in
          log.info("terminating on request")
          loop?.stop()
        }
        guard number == SIGHUP, let loop else { return end() }
        terminal.hungUp(on: loop, reload: { self?.onReload?() }, end: end)
      }
      let server = try serve(self)
      manager.keepAlive(loop)
      // A start needs more memory than what follows it.
      Self.releaseMemory()
      withExtendedLifetime(server) { loop.run() }
      manager.notify("STOPPING=1")
      onEnd?()
    } catch {
      log.error("\(error)")
      return 1
    }
    return status
  }
}
