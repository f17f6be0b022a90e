@preconcurrency internal import CLinux
internal import DBus
internal import EventLoop
internal import FocusContract
internal import FocusService
internal import Glibc
internal import ProgramSupport

private let options = Options.parse(CommandLine.argc, CommandLine.unsafeArgv)
switch options.action {
case .showHelp: print(Options.help, terminator: "")
case .showVersion: print("focusd \(Version.current)")
case .refuse(let reason):
  Log(program: "focusd", isVerbose: false, showsPriorities: false).error("\(reason); see focusd --help")
  exit(2)
case .serve: exit(serve(options))
}

/// Serves until a signal or the end of the bus, and returns the process's exit status.
private func serve(_ options: Options) -> Int32 {
  Secrecy.begin()
  let manager = ServiceManager()
  let log = Log(program: "focusd", isVerbose: options.isVerbose, showsPriorities: manager.readsPriorities)
  let loop = EventLoop()
  // Return large blocks to the system when they are freed: glibc would keep them once one has been freed.
  mallopt(M_MMAP_THRESHOLD, 256 << 10)
  // If a file may not grow further, the write fails, and the process continues.
  signal(SIGXFSZ, SIG_IGN)
  var status: Int32 = 0
  do {
    // A loop's handlers never retain the loop: both would outlive the connection, and the journal with it.
    let signals = try SignalSource([SIGTERM, SIGINT, SIGHUP], on: loop) { [weak loop] number in
      guard number != SIGHUP else { return }
      log.info("terminating on request")
      loop?.stop()
    }
    defer { withExtendedLifetime(signals) {} }
    let connection = try Connection(to: options.bus)
    connection.onDisconnect = { [weak loop] in
      log.error("lost the connection to the bus")
      status = 1
      loop?.stop()
    }
    let service = FocusService(connection, on: loop, log: log)
    service.onSlowStart = { status, time in
      manager.notify("EXTEND_TIMEOUT_USEC=\(time.components.seconds * 1_000_000)\nSTATUS=\(status)")
    }
    try service.start()
    manager.notify("READY=1\nSTATUS=\(service.status)")
    log.info("serving as \(Focus1.busName)")
    manager.keepAlive(loop)
    reportStatus(of: service, manager, loop)
    withExtendedLifetime(service) { loop.run() }
    manager.notify("STOPPING=1")
  } catch {
    log.error((error as? DBusError)?.message ?? "\(error)")
    return 1
  }
  return status
}

/// Reports the service's status to the manager, at most once a second.
private func reportStatus(of service: FocusService, _ manager: ServiceManager, _ loop: EventLoop) {
  var isPending = false
  service.onChange = { [weak service, weak loop] in
    guard !isPending else { return }
    isPending = true
    loop?.schedule(after: .seconds(1)) {
      isPending = false
      if let service { manager.notify("STATUS=\(service.status)") }
    }
  }
}
