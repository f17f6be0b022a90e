import EventLoop
@preconcurrency import Glibc
import ProgramSupport

/// Shows what is longer than the terminal in a pager, as systemctl does.
enum Pager {
  /// Writes `text` to standard output, through a pager if that is a terminal with fewer lines, and `options` allow it.
  static func show(_ text: String, _ options: Options) throws(CommandError) {
    let terminal = Terminal.output
    let isLong = text.utf8.count { $0 == UInt8(ascii: "\n") } >= terminal.rows
    guard terminal.isTerminal, !terminal.isDumb, isLong, !options.noPager, Keyboard.isInForeground, page(text) else {
      return try Output.write(text)
    }
  }

  /// The commands to try, in order; none if the user wants no pager.
  static func commands(_ variable: (String) -> String?) -> [[String]] {
    guard let chosen = variable("SYSTEMD_PAGER") ?? variable("PAGER") else { return [["less"], ["more"]] }
    // It may have arguments.
    return ["", "cat"].contains(chosen) ? [] : [["/bin/sh", "-c", chosen]]
  }

  /// Runs a pager on `text` until the user leaves it.
  /// - Returns: whether there was one.
  private static func page(_ text: String) -> Bool {
    for command in commands(Environment.text) {
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else { return false }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      // Ctrl+C is for the pager: it would lose the terminal if this process ended first.
      let interrupt = signal(SIGINT, SIG_IGN)
      defer { signal(SIGINT, interrupt) }
      let process = start(command, input: ends[0])
      close(ends[0])
      if process != nil {
        // It may have been left before it read everything.
        var text = text
        _ = text.withUTF8 { StandardStreams.write($0, to: ends[1]) }
      }
      close(ends[1])
      guard let process else { continue }
      var status: Int32 = 0
      while waitpid(process, &status, 0) < 0, errno == EINTR {}
      // A shell that finds no such program exits with 127, having shown nothing.
      return status != 127 << 8
    }
    return false
  }

  private static func start(_ command: [String], input: Int32) -> pid_t? {
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGINT)
    sigaddset(&signals, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
    // As systemctl has it: colours, no escapes of others, nothing that starts programs, gone if it fits.
    let own = ["LESS=\(Environment.value("SYSTEMD_LESS") ?? "FRSXMK")", "LESSCHARSET=utf-8", "LESSSECURE=1"]
    let inherited = environment.filter { entry in !own.contains { entry.hasPrefix($0.prefix { $0 != "=" } + "=") } }
    let words = command.map { strdup($0) } + [nil]
    let variables = (inherited + own).map { strdup($0) } + [nil]
    defer { for text in words + variables { free(text) } }
    var process: pid_t = 0
    return posix_spawnp(&process, command[0], &actions, &attributes, words, variables) == 0 ? process : nil
  }

  private static var environment: [String] {
    var entries: [String] = []
    var next = environ
    while let entry = next.pointee {
      entries.append(String(cString: entry))
      next += 1
    }
    return entries
  }
}
