internal import BridgeSupport
internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import EventLoop

/// The windows that a window manager knows, each with a connection of its own.
extension Bridge {
  /// How long a program may take to close a window after another of its windows has come to the front.
  private static let closing = Duration.milliseconds(500)

  /// Finds the window that a window manager knows, of an element that should have focus in `window`; `known` is what was
  /// found before.
  ///
  /// What pops up has the role of a menu, or no title, and does not become active.
  func frame(
    of window: ElementReference, known: ElementReference?, _ done: @escaping (ElementReference?) -> Void
  ) {
    guard let bus, let front = tracker.window, front != window, front.application == window.application else {
      return done(window)
    }
    let hasTitle = applications[window.application]?.titles[window]?.isEmpty == false
    guard hasTitle else {
      return bus.states(of: window) { answer in
        done((try? answer.get()).map { $0.contains(.active) ? window : front } ?? known ?? window)
      }
    }
    bus.role(of: window) { answer in
      let role = (try? answer.get()).map { ElementRole(rawValue: $0) }
      done(role.map { $0.isMenu || $0 == .popupMenu ? front : window } ?? known ?? window)
    }
  }

  /// Another window is in front than `before`, or none.
  func frontChanged(from before: ElementReference?) {
    for window in [before, tracker.window].compactMap(\.self) {
      applications[window.application]?.connections[window]?.window?.isActive = window == tracker.window
    }
    haveLeft(Set([before, tracker.window].compactMap { $0?.application }))
  }

  /// The field that has focus, as the daemon tells, is another: of a dialog, GTK 4 does not tell the bridge that it is in front.
  func focusMoved(from before: ElementField?) {
    guard let program = before?.element.application, program != focused?.element.application else { return }
    haveLeft([program])
  }

  /// A window of each of `programs` was left, or closed, or is about to be.
  private func haveLeft(_ programs: Set<BusName>) {
    dropClosed(of: programs)
    closing.formUnion(programs)
    if let closedTimer { loop.cancel(closedTimer) }
    closedTimer = loop.schedule(after: Self.closing) { [weak self] in
      guard let self else { return }
      let programs = closing
      (closedTimer, closing) = (nil, [])
      dropClosed(of: programs)
    }
  }

  /// Forgets the windows of `programs` that are not shown any more: Qt and GTK 4 do not tell that a dialog was closed.
  private func dropClosed(of programs: Set<BusName>) {
    for application in programs.compactMap({ applications[$0] }) {
      let windows = application.connections.all.keys.compactMap(\.self)
      // The only window of a program stays when another program comes to the front.
      guard windows.count > 1 || tracker.window?.application == application.name else { continue }
      for window in windows where window != tracker.window { dropIfClosed(window, of: application) }
    }
  }

  private func dropIfClosed(_ window: ElementReference, of application: Application, attempt: Int = 0) {
    bus?.states(of: window) { [weak self, weak application] answer in
      guard let self, let application, tracker.window != window, application.connections[window] != nil else { return }
      switch answer {
      // An open dialog of GTK 4 is visible alone.
      case .success(let states): guard states.isDisjoint(with: [.showing, .visible]) else { return }
      case .failure(let error) where error.isLate:
        return askAgain(.isShown(window), of: application, attempt) { [weak self, weak application] in
          if let self, let application { dropIfClosed(window, of: application, attempt: attempt + 1) }
        }
      case .failure: break
      }
      take(.destroyed(window))
    }
  }
}
