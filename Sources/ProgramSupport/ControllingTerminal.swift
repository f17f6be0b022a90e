package import EventLoop
internal import Glibc

/// The terminal that a program was started from, which sends SIGHUP when it is closed: `credentials(7)`.
package struct ControllingTerminal {
  /// When it is looked at again after SIGHUP: shells send that while they end, and the terminal is closed then.
  private static let pauses: [Duration] = [.seconds(1), .seconds(3), .seconds(10), .seconds(30)]

  private let endsProgram: Bool

  /// Looks whether there is one now; what was started with nohup(1) does not end with it.
  package init() {
    var action = sigaction()
    let isIgnored = sigaction(SIGHUP, nil, &action) == 0 && action.isIgnored
    endsProgram = Self.isThere && !isIgnored
  }

  /// Handles SIGHUP: calls `end` if the terminal is closed, or is so soon, else `reload`.
  package func hungUp(on loop: EventLoop, reload: () -> Void, end: @escaping () -> Void) {
    guard !hasEnded else { return end() }
    reload()
    if endsProgram { lookLater(Self.pauses[...], on: loop, end) }
  }

  private func lookLater(_ pauses: ArraySlice<Duration>, on loop: EventLoop, _ end: @escaping () -> Void) {
    guard let pause = pauses.first else { return }
    loop.schedule(after: pause) { [weak loop] in
      guard !hasEnded else { return end() }
      if let loop { lookLater(pauses.dropFirst(), on: loop, end) }
    }
  }

  private var hasEnded: Bool { endsProgram && !Self.isThere }

  private static var isThere: Bool {
    let descriptor = open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return errno != ENXIO }
    close(descriptor)
    return true
  }
}

extension sigaction {
  fileprivate var isIgnored: Bool { unsafeBitCast(__sigaction_handler.sa_handler, to: Int.self) == 1 }
}
