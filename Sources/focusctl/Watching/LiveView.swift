import DBus
import EventLoop
import Glibc

/// A page on the terminal that is redrawn in place when something changes.
final class LiveView {
  private var page: LivePage
  /// The width of each line that was drawn last, in columns.
  private var drawn: [Int] = []
  private var keyboard: Keyboard?
  private let loop: EventLoop
  private let end: (CommandError) -> Void

  /// Prepares to draw values of `keys`, or of all keys; calls `end` when the user quits.
  init(_ keys: [String], on loop: EventLoop, end: @escaping (CommandError) -> Void) {
    page = LivePage(keys)
    self.loop = loop
    self.end = end
  }

  /// Whether standard output is a terminal that may be drawn on.
  static var isPossible: Bool {
    let terminal = Terminal.output
    return terminal.isTerminal && !terminal.isDumb && Keyboard.isInForeground
  }

  /// Takes over the terminal; `close` restores it.
  func open() throws(CommandError) {
    do {
      _ = try SignalSource([SIGWINCH, SIGCONT, SIGINT, SIGTERM, SIGHUP], on: loop) { [weak self] signal in
        guard let self else { return }
        switch signal {
        case SIGWINCH: draw()
        case SIGCONT:
          keyboard?.hold()
          drawn = []
          draw()
        default: finish(by: signal)
        }
      }
    } catch {
      throw .refused("\(error)")
    }
    keyboard = Keyboard(on: loop) { [weak self] press in
      guard let self else { return }
      if press == .quit { end(CommandError(.done)) }
      page.move(press, rows: Terminal.output.rows)
      draw()
    }
  }

  /// Restores the terminal; the drawn lines remain.
  func close() { keyboard?.release() }

  /// Restores the terminal, then ends as the signal would have ended the process.
  private func finish(by signal: Int32) {
    close()
    Glibc.signal(signal, SIG_DFL)
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, signal)
    raise(signal)
    sigprocmask(SIG_UNBLOCK, &set, nil)
  }

  func show(_ changes: [WatchState.Change]) throws(CommandError) {
    page.take(changes)
    try write()
  }

  private func draw() {
    do { try write() } catch { end(error) }
  }

  private func write() throws(CommandError) {
    let terminal = Terminal.output
    let lines = page.lines(on: terminal)
    // A terminal that became narrower has wrapped the lines that were drawn before.
    let above = drawn.reduce(0) { $0 + max(1, ($1 + terminal.columns - 1) / terminal.columns) }
    let back = above > 0 ? "\u{1b}[\(min(above, terminal.rows - 1))A\r\u{1b}[J" : ""
    drawn = lines.map { TextWidth.columns(of: LiveView.withoutStyles($0)) }
    try Output.write(back + lines.map { $0 + "\n" }.joined())
  }

  private static func withoutStyles(_ line: String) -> String {
    line.split(separator: "\u{1b}[", omittingEmptySubsequences: false).enumerated().map { index, part in
      index == 0 ? String(part) : part.firstIndex(of: "m").map { String(part[part.index(after: $0)...]) } ?? ""
    }.joined()
  }
}
