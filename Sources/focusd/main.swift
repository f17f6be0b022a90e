internal import DBus
internal import EventLoop
internal import FocusContract
internal import FocusService
internal import ProgramSupport

private let help = """
  focusd: mirrors what has focus on the session bus, as org.focusd.Focus1

  Usage: focusd [--verbose] [--address ADDRESS]

  The first call to it, or systemctl --user start focusd, starts the daemon. Each
  user session needs one. To see its fields: focusctl, or busctl --user tree
  org.focusd.Focus1.

    --address ADDRESS  the bus to serve on, such as unix:path=/run/user/1000/bus
                       (default: the session bus)
    --verbose          log each step to standard error, but never a value
    -h, --help         print this and exit
    --version          print the version and exit

  Exit status: 0 terminated on request; 1 no bus, or the name is already owned;
  2 usage error.

  """

private let options = ProgramOptions([.init("address", argument: "the address of a bus"), .init("verbose")])

ServiceProgram.main("focusd", help: help, version: Version.current, options) { program in
  ServiceProgram.raiseDescriptorLimit()
  let connection = try Connection(to: ServiceProgram.bus(options))
  connection.onDisconnect = { [weak program] in program?.fail("lost the connection to the bus") }
  let manager = program.manager
  let service = FocusService(connection, on: program.loop, log: program.log)
  service.onSlowStart = { status, time in
    manager.notify("EXTEND_TIMEOUT_USEC=\(time.components.seconds * 1_000_000)\nSTATUS=\(status)")
  }
  try service.start()
  manager.notify("READY=1\nSTATUS=\(service.status)")
  program.log.info("serving as \(Focus1.busName)")
  reportStatus(of: service, manager, program.loop)
  return service
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
