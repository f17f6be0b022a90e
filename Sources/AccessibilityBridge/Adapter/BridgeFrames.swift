internal import BridgeSupport
internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import EventLoop

/// The windows that a window manager knows, each with a connection of its own.
extension Bridge {
  /// How long a program may take to close a window after another of its windows has come to the front.
  private static let closing = Duration.milliseconds(500)

  /// Finds the window that a window manager knows, of an element that should have focus in `window`: what pops up does not
  /// become active; `known` is what was found before.
  func frame(
    of window: ElementReference, known: ElementReference?, _ done: @escaping (ElementReference?) -> Void
  ) {
    guard let bus, let front = tracker.window, front != window, front.application == window.application else {
      return done(window)
    }
    bus.ask(window, "GetState") { answer in
      guard case .success(let values) = answer, let states = ElementStates(values.first) else {
        return done(known ?? window)
      }
      done(states.contains(.active) ? window : front)
    }
  }

  /// Another window is in front than `before`, or none.
  func frontChanged(from before: ElementReference?) {
    for window in [before, tracker.window].compactMap(\.self) {
      applications[window.application]?.connections[window]?.window?.isActive = window == tracker.window
    }
    let names = Set([before, tracker.window].compactMap { $0?.application })
    dropClosed(of: names)
    if let closedTimer { loop.cancel(closedTimer) }
    closedTimer = loop.schedule(after: Self.closing) { [weak self] in
      guard let self else { return }
      closedTimer = nil
      dropClosed(of: names)
    }
  }

  /// Forgets the windows of programs that are not shown any more: Qt and GTK 4 do not tell that a dialog was closed.
  private func dropClosed(of programs: Set<BusName>) {
    for window in programs.compactMap({ applications[$0] }).flatMap(\.connections.keys).compactMap(\.self)
    where window != tracker.window {
      bus?.ask(window, "GetState") { [weak self] answer in
        guard let self, tracker.window != window else { return }
        switch answer {
        case .success(let values): if ElementStates(values.first)?.contains(.showing) != false { return }
        case .failure(let error): if error.isLate { return }
        }
        take(.destroyed(window))
      }
    }
  }
}
