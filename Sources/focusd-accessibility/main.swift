internal import AccessibilityBridge
internal import DBus
internal import FocusContract
internal import ProgramSupport

private let help = """
  focusd-accessibility: shows focusd what has focus in programs that do not know it

  Usage: focusd-accessibility [--ignore APPLICATION]... [--terminals] [--no-enable]
                              [--address ADDRESS] [--verbose]

  A bridge from AT-SPI, which GTK, Qt and browsers speak, to focusd: the text, range
  or check box that has focus in any of them can be read and written with focusctl.
  It is off until you turn it on:

      systemctl --user enable --now focusd-accessibility

  While it runs, it turns accessibility on for the session, which costs every program
  that is started meanwhile some time and memory, browsers the most. Every program on
  the session bus can read what the focused element shows, except for passwords:
  focusd-accessibility(8) says what is not safe.

    --ignore APPLICATION  never look into that program: its executable's name, or its
                          accessible name; may be given more than once
    --terminals           show the text of terminals, which is their whole screen
    --no-enable           leave the session's accessibility as it is
    --address ADDRESS     the session bus, such as unix:path=/run/user/1000/bus
    --verbose             log each step to standard error, but never a value
    -h, --help            print this and exit
    --version             print the version and exit

  Exit status: 0 terminated on request; 1 no bus, or the bridge already runs;
  2 usage error.

  """

private let options = ProgramOptions([
  .init("ignore", argument: "the name of a program"), .init("terminals"), .init("no-enable"),
  .init("address", argument: "the address of a bus"), .init("verbose"),
])

ServiceProgram.main("focusd-accessibility", help: help, version: Version.current, options) { program in
  func bridgeOptions(_ program: ServiceProgram) -> BridgeOptions {
    let settings = program.settings(.accessibility)
    var result = BridgeOptions()
    result.ignored = options.arguments(of: "ignore") + settings.names(.ignore)
    result.secret = settings.names(.secret)
    result.showsTerminals = options.contains("terminals") || settings.isOn(.terminals) ?? false
    result.enables = !options.contains("no-enable") && settings.isOn(.enable) ?? true
    return result
  }
  let bus = try ServiceProgram.bus(options)
  let bridge = try Bridge(bus, on: program.loop, log: program.log, bridgeOptions(program))
  bridge.onEnd = { [weak program] in program?.fail($0) }
  program.onEnd = { [weak bridge] in bridge?.end() }
  program.onReload = { [weak program, weak bridge] in
    if let program { bridge?.apply(bridgeOptions(program)) }
  }
  Processes.checkNames(program.log)
  program.manager.notify("READY=1")
  return bridge
}
