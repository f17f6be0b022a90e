/// A window manager as the bridge sees it; everything happens on the loop's thread.
package protocol WindowSource: AnyObject {
  /// Called with each new state, at the latest when all that has arrived in a turn is read.
  var onChange: ((Desktop) -> Void)? { get set }
  /// Called once if the window manager is gone for good, with what happened.
  var onEnd: ((String) -> Void)? { get set }

  /// Whether it waits for a window manager that is lost to come back, which is so unless it is told otherwise.
  var isLasting: Bool { get set }
  /// Where the accessibility bus is, for programs that look for it at the desktop.
  var accessibilityBus: String? { get set }

  /// Begins to follow the window manager.
  /// - Throws: what prevents that.
  func start() throws
  /// Lets go of a window manager that is still there.
  func stop()
  /// Brings a window to the front; `completion` gets why the window manager refuses, or nil once it has accepted.
  func raise(_ window: WindowID, _ completion: @escaping (_ refusal: String?) -> Void)
  /// Does something to a window; `completion` as in `raise`.
  func perform(_ action: WindowAction, on window: WindowID, _ completion: @escaping (_ refusal: String?) -> Void)
}

extension WindowSource {
  /// A source that never waits has nothing to change.
  package var isLasting: Bool {
    get { false }
    set {}
  }

  /// Only those of X11 look for it there.
  package var accessibilityBus: String? {
    get { nil }
    set {}
  }

  /// A source ends by itself unless its window manager can stay without being followed.
  package func stop() {}
}
