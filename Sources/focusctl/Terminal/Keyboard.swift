import DBus
import EventLoop
import Glibc

/// Reads single key presses from the terminal, without echo, until it is released.
final class Keyboard {
  /// The keys that scroll or end a view.
  enum Press: Hashable, Sendable {
    case up, down, pageUp, pageDown, home, end, quit
  }

  private var before = termios()
  private var source: DescriptorSource?

  /// Takes over standard input if it is a terminal that this process may read from.
  init(on loop: EventLoop, _ handler: @escaping (Press) -> Void) {
    guard isatty(STDIN_FILENO) != 0, Keyboard.isInForeground, tcgetattr(STDIN_FILENO, &before) == 0 else { return }
    source = DescriptorSource(STDIN_FILENO, .readable, on: loop) { [weak self] in
      guard let self else { return }
      var bytes = [UInt8](repeating: 0, count: 64)
      let count = read(STDIN_FILENO, &bytes, bytes.count)
      guard count > 0 else { return release() }
      for press in Keyboard.presses(of: String(decoding: bytes.prefix(count), as: UTF8.self)) { handler(press) }
    }
    hold()
  }

  /// Whether this process may draw on the terminal and read from it.
  static var isInForeground: Bool { tcgetpgrp(STDOUT_FILENO) == getpgrp() }

  /// Takes the terminal over again after another program used it.
  func hold() {
    guard source != nil else { return }
    var mode = before
    mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
    tcsetattr(STDIN_FILENO, TCSADRAIN, &mode)
  }

  /// Restores the terminal.
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

  /// The keys that a terminal's bytes stand for; other bytes are ignored.
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
