/// How a program would like a change to be shown: SwiftUI's `Animation`, as far as a change carries it.
///
/// FocusKit draws nothing and animates nothing. It hands the animation to whoever draws: the setter of a binding,
/// `Binding(get:set:)` with a transaction, finds it in ``Transaction/animation`` and may pass it on to its toolkit. An animation stays in its process: a focused value that another program owns changes without one.
public struct Animation: Hashable, Sendable {
  /// The course of an animation over time.
  public enum Curve: Hashable, Sendable {
    /// At the same speed throughout.
    case linear
    /// Slow at the beginning.
    case easeIn
    /// Slow at the end.
    case easeOut
    /// Slow at the beginning and at the end.
    case easeInOut
    /// As a spring moves.
    case spring
  }

  /// The course over time.
  public var curve: Curve
  /// The length in seconds, nil for the toolkit's own.
  public var duration: Double?

  /// Creates an animation of `duration` seconds.
  public init(_ curve: Curve, duration: Double? = nil) {
    self.curve = curve
    self.duration = duration
  }

  /// The usual animation.
  public static let `default` = Animation(.easeInOut)
  /// At the same speed throughout.
  public static let linear = Animation(.linear)
  /// Slow at the beginning.
  public static let easeIn = Animation(.easeIn)
  /// Slow at the end.
  public static let easeOut = Animation(.easeOut)
  /// Slow at the beginning and at the end.
  public static let easeInOut = Animation(.easeInOut)
  /// As a spring moves.
  public static let spring = Animation(.spring)

  /// At the same speed throughout, for `duration` seconds.
  public static func linear(duration: Double) -> Animation { Animation(.linear, duration: duration) }
  /// Slow at the beginning, for `duration` seconds.
  public static func easeIn(duration: Double) -> Animation { Animation(.easeIn, duration: duration) }
  /// Slow at the end, for `duration` seconds.
  public static func easeOut(duration: Double) -> Animation { Animation(.easeOut, duration: duration) }
  /// Slow at the beginning and at the end, for `duration` seconds.
  public static func easeInOut(duration: Double) -> Animation { Animation(.easeInOut, duration: duration) }
  /// As a spring moves, for `duration` seconds.
  public static func spring(duration: Double) -> Animation { Animation(.spring, duration: duration) }
}

private enum AnimationKey: TransactionKey {
  static let defaultValue: Animation? = nil
}

private enum DisablesAnimationsKey: TransactionKey {
  static let defaultValue = false
}

extension Transaction {
  /// Creates a transaction with an animation.
  public init(animation: Animation?) {
    self.init()
    self.animation = animation
  }

  /// The animation of the change, nil for none.
  public var animation: Animation? {
    get { self[AnimationKey.self] }
    set { self[AnimationKey.self] = newValue }
  }

  /// Whether whoever draws should ignore its own animations.
  public var disablesAnimations: Bool {
    get { self[DisablesAnimationsKey.self] }
    set { self[DisablesAnimationsKey.self] = newValue }
  }
}

extension Binding {
  /// The same binding, with `animation` in the transaction of its changes.
  public func animation(_ animation: Animation? = .default) -> Binding<Value> {
    var binding = self
    binding.transaction.animation = animation
    return binding
  }
}

/// Runs `body` with `animation` in the transaction of its changes.
/// - Throws: The error that `body` throws.
/// - Returns: The result of `body`.
public func withAnimation<Result>(_ animation: Animation? = .default, _ body: () throws -> Result) rethrows -> Result {
  try withTransaction(Transaction(animation: animation), body)
}
