internal import EventLoop

/// The windows of a compositor, and the requests that it takes.
package protocol RequestState {
  init()
  /// The windows that there are.
  var desktop: Desktop { get }
  /// The request that does `action` to a window; nil if the compositor cannot do it.
  func request(_ action: WindowAction, on window: WindowID) -> [UInt8]?
  /// The request that brings a window to the front.
  func raiseRequest(_ window: WindowID) -> [UInt8]
  /// Why a request was refused, from the answer; nil if it was not.
  static func refusal(_ answer: [UInt8]) -> String?
}

/// A compositor that takes each request over a connection of its own.
package protocol RequestSource: WindowSource {
  associatedtype State: RequestState
  /// The compositor's name.
  static var name: String { get }
  var state: State { get set }
  /// Sends a request; `completion` gets why it was refused, or nil.
  func request(_ request: [UInt8], _ completion: @escaping (_ refusal: String?) -> Void)
}

extension RequestSource {
  /// Changes the state, and tells the windows if they are others now.
  func change(_ body: (inout State) -> Void) {
    let before = state.desktop
    body(&state)
    if state.desktop != before { onChange?(state.desktop) }
  }

  package func raise(_ window: WindowID, _ completion: @escaping (String?) -> Void) {
    request(state.raiseRequest(window), completion)
  }

  package func perform(_ action: WindowAction, on window: WindowID, _ completion: @escaping (String?) -> Void) {
    guard let message = state.request(action, on: window) else { return completion("\(Self.name) cannot do that") }
    request(message, completion)
  }
}
