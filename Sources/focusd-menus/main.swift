internal import DBus
internal import FocusContract
internal import MenuBridge
internal import ProgramSupport

private let help = """
  focusd-menus: shows focusd what programs offer in their menus

  Usage: focusd-menus [--ignore APPLICATION]... [--address ADDRESS] [--verbose]

  A bridge from the menus and actions of GTK, KDE and Qt programs to focusd: a key
  for Edit.Undo undoes in the program in front, and focusctl menu lists and runs all
  that its menus have. It is off until you turn it on:

      systemctl --user enable --now focusd-menus

  A program is asked when its window comes to the front for the first time, and when
  somebody runs a command. Menus may hold names of files and parts of what was typed:
  they are told only to who asks for them, and never logged.

    --ignore APPLICATION  never look into that program: its executable's name; may be
                          given more than once
    --address ADDRESS     the session bus, such as unix:path=/run/user/1000/bus
    --verbose             log each step to standard error, but nothing of a menu
    -h, --help            print this and exit
    --version             print the version and exit

  Exit status: 0 terminated on request; 1 no bus, or the bridge already runs;
  2 usage error.

  """

private let options = ProgramOptions([
  .init("ignore", argument: "the name of a program"), .init("address", argument: "the address of a bus"),
  .init("verbose"),
])

ServiceProgram.main("focusd-menus", help: help, version: Version.current, options) { program in
  let bus = try ServiceProgram.bus(options)
  func ignored(_ program: ServiceProgram) -> [String] {
    options.arguments(of: "ignore") + program.settings(.menus).names(.ignore)
  }
  let bridge = try MenuBridge(bus, ignoring: ignored(program), on: program.loop, log: program.log)
  program.onReload = { [weak program, weak bridge] in
    if let program { bridge?.ignore(ignored(program)) }
  }
  bridge.onEnd = { [weak program] in program?.fail($0) }
  program.onEnd = { [weak bridge] in bridge?.end() }
  Processes.checkNames(program.log)
  program.manager.notify("READY=1")
  return bridge
}
