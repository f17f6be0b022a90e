internal import BrowserBridge
internal import DBus
internal import EventLoop
internal import FocusContract
internal import Glibc
internal import ProgramSupport

private let name = "focusd-browser"
private let help = """
  focusd-browser: shows focusd what has focus in a web browser

  Usage: focusd-browser install-host [BROWSER]...
         focusd-browser uninstall-host [BROWSER]...
         focusd-browser host-manifest BROWSER PATH
         focusd-browser ORIGIN [EXTENSION] [--address ADDRESS] [--verbose]

  The host of a browser's extension: the browser starts it, and it ends with the
  browser. The text, range or check box that has focus in a page that you share can
  be read and written with focusctl, and tabs are driven by it.

    install-host    tells this user's browsers of the host: brave, chrome, chromium,
                    edge, firefox, librewolf, vivaldi (default: those with a profile)
    uninstall-host  removes what install-host wrote (default: for all browsers)
    host-manifest   prints what tells the browser of a host at PATH, for packagers

  The extension is installed in the browser itself, and its button says which pages
  are shared: focusd-browser(8) says how.

    --address ADDRESS  the session bus, such as unix:path=/run/user/1000/bus
    --verbose          log each step to standard error, but never a value
    -h, --help         print this and exit
    --version          print the version and exit

  Exit status: 0 the browser closed its pipe, or done; 1 no bus, or a manifest
  cannot be written; 2 usage error.

  """

private func fail(_ reason: String, status: Int32 = 2) -> Never {
  let hint = status == 2 ? "; see focusd-browser --help" : ""
  Log(program: name, isVerbose: false, showsPriorities: false).error(reason + hint)
  exit(status)
}

private func changeHosts(_ names: [String], isInstalling: Bool) -> Never {
  guard let home = Environment.path("HOME") else {
    fail("HOME is not set to a directory", status: 1)
  }
  let installer = HostInstaller(home: home, configuration: Environment.path("XDG_CONFIG_HOME"))
  var done = ""
  do {
    let browsers = try names.isEmpty && !isInstalling ? Browser.all : installer.browsers(names)
    if browsers.isEmpty { fail("no profile of a browser is in \(home): name the browser", status: 1) }
    guard let host = Processes.ownPath else { fail("cannot find its own path: /proc is not mounted", status: 1) }
    for browser in browsers {
      if isInstalling {
        done += "\(browser.name): \(try installer.install(browser, host: host))\n"
      } else if let file = try installer.uninstall(browser) {
        done += "\(browser.name): removed \(file)\n"
      }
    }
  } catch let error as HostInstaller.Misuse {
    fail("\(error)")
  } catch {
    _ = StandardStreams.write(done)
    fail("\(error)", status: 1)
  }
  ServiceProgram.print(done, name)
}

// Firefox gives the path of the manifest and the extension's name, Chromium the extension's origin; each may add more.
private let words = ProgramArguments.texts
StandardStreams.open()
private let first = words.dropFirst().first ?? ""
if first == "install-host" || first == "uninstall-host" {
  let names = Array(words.dropFirst(2))
  if names.contains("--help") || names.contains("-h") { ServiceProgram.print(help, name) }
  changeHosts(names, isInstalling: first == "install-host")
}
if first == "host-manifest" {
  guard words.count == 4, let browser = Browser.named(words[2]), words[3].hasPrefix("/") else {
    fail("host-manifest requires a browser and an absolute path")
  }
  ServiceProgram.print(HostManifest.text(for: browser.kind, host: words[3]), name)
}
private let isStarted = first.hasPrefix("chrome-extension://") || first.hasSuffix(".json")
private let operands = isStarted ? words.dropFirst().prefix { !$0.hasPrefix("-") }.count : 0
private let options = ProgramOptions(
  [.init("address", argument: "the address of a bus"), .init("verbose")],
  Array(words.prefix(1)) + words.dropFirst(1 + operands))
if options.action == .serve, !isStarted { fail("a browser starts it, with the origin of its extension") }

ServiceProgram.main(name, help: help, version: Version.current, options) { program in
  let bus = try ServiceProgram.bus(options)
  let parent = UInt32(getppid())
  let process = Browser.isBrowser(Processes().names(of: parent)) ? parent : nil
  program.log.debug(process == nil ? "the parent is not a browser that is known" : "serving the browser \(parent)")
  let pipe = BrowserPipe(input: STDIN_FILENO, output: STDOUT_FILENO, on: program.loop)
  let bridge = BrowserBridge(pipe, to: bus, process: process, on: program.loop, log: program.log)
  bridge.onEnd = { [weak loop = program.loop, log = program.log] in
    log.debug("the browser closed its pipe")
    loop?.stop()
  }
  program.onEnd = { [weak bridge] in bridge?.end() }
  return bridge
}
