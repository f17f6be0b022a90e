public import DBusTypes

/// What a scene of the window bridge is beside a field.
public struct Window: Hashable, Sendable {
  /// The connections whose scenes are in the window, and when it adopted them.
  public internal(set) var adopted: [BusName: UInt64]
  /// When the window came to the front last; 0: never.
  public internal(set) var lastInFront: UInt64

  /// Creates a window.
  public init(adopted: [BusName: UInt64] = [:], lastInFront: UInt64 = 0) {
    self.adopted = adopted
    self.lastInFront = lastInFront
  }
}
