import DBus
import EventLoop
import Glibc

/// The keys of a terminal, each as it is pressed and without its echo, until it is released.
final class Keyboard {
  /// What keys move a view, or end it.
  enum Press: Hashable, Sendable {
    case up, down, pageUp, pageDown, home, end, quit
  }

  private var before = termios()
  private var source: ReadSource?

  /// Takes hold of standard input where that is the terminal that this process may read from.
  init(on loop: EventLoop, _ handler: @escaping (Press) -> Void) {
    guard isatty(STDIN_FILENO) != 0, Keyboard.isInForeground, tcgetattr(STDIN_FILENO, &before) == 0 else { return }
    source = ReadSource(STDIN_FILENO, on: loop) { [weak self] in
      guard let self else { return }
      var bytes = [UInt8](repeating: 0, count: 64)
      let count = read(STDIN_FILENO, &bytes, bytes.count)
      guard count > 0 else { return release() }
      for press in Keyboard.presses(of: String(decoding: bytes.prefix(count), as: UTF8.self)) { handler(press) }
    }
    hold()
  }

  /// Whether the terminal is this process's to write over and to read from.
  static var isInForeground: Bool { tcgetpgrp(STDOUT_FILENO) == getpgrp() }

  /// Takes hold again, after another program had the terminal.
  func hold() {
    guard source != nil else { return }
    var mode = before
    mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
    tcsetattr(STDIN_FILENO, TCSADRAIN, &mode)
  }

  /// Leaves the terminal as it was.
  func release() {
    guard let source else { return }
    source.cancel()
    self.source = nil
    tcsetattr(STDIN_FILENO, TCSADRAIN, &before)
  }

  private static let sequences: [(text: String, press: Press)] = [
    ("\u{1b}[A", .up), ("\u{1b}OA", .up), ("\u{1b}[B", .down), ("\u{1b}OB", .down), ("\u{1b}[5~", .pageUp),
    ("\u{1b}[6~", .pageDown), ("\u{1b}[H", .home), ("\u{1b}[F", .end), ("k", .up), ("j", .down), (" ", .pageDown),
    ("b", .pageUp), ("g", .home), ("G", .end), ("q", .quit), ("\u{4}", .quit),
  ]

  /// What the bytes that a terminal sent mean; what means nothing is passed over.
  static func presses(of text: String) -> [Press] {
    var presses: [Press] = []
    var rest = text[...]
    while !rest.isEmpty {
      if let found = sequences.first(where: { rest.hasPrefix($0.text) }) {
        presses.append(found.press)
        rest = rest.dropFirst(found.text.count)
      } else {
        rest = rest.dropFirst()
      }
    }
    return presses
  }
}
