/// A protocol by which a compositor tells of its windows, and does something to them.
protocol WaylandManager: AnyObject {
  var windows: WaylandWindows { get set }

  /// Takes over an event.
  /// - Throws: `FramingError` for one that cannot be.
  func received(_ event: WaylandEvent, _ object: UInt32, _ arguments: WaylandArguments) throws(FramingError)
  /// Asks for a window to be brought to the front.
  /// - Returns: why that is impossible, or nil.
  func raise(_ object: UInt32) -> String?
  /// Asks for something to be done to a window.
  func perform(_ action: WindowAction, _ object: UInt32, _ entry: WaylandWindows.Entry)
}
