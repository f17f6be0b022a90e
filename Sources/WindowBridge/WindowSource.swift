/// A window manager as the bridge sees it; everything happens on the loop's thread.
package protocol WindowSource: AnyObject {
  /// Called with each new state, at the latest when all that has arrived in a turn is read.
  var onChange: ((Desktop) -> Void)? { get set }
  /// Called once if the window manager is gone for good, with what happened.
  var onEnd: ((String) -> Void)? { get set }

  /// Begins to follow the window manager.
  /// - Throws: what prevents that.
  func start() throws
  /// Brings a window to the front; `completion` gets why the window manager refuses, or nil once it has accepted.
  func raise(_ window: WindowID, _ completion: @escaping (_ refusal: String?) -> Void)
  /// Does something to a window; `completion` as in `raise`.
  func perform(_ action: WindowAction, on window: WindowID, _ completion: @escaping (_ refusal: String?) -> Void)
}
