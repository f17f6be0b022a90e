/// The windows that a compositor tells of, by the objects of its protocol.
package struct WaylandWindows {
  /// More windows than anybody has; with the longest titles they take 8 MiB.
  package static let most = 2048

  /// One window, as far as it is told.
  package struct Entry {
    package let id: WindowID
    package var window = Window()
    package var isActive = false
    package var isMinimized = false
    package var isFullscreen = false
    /// Whether it was active when all about it was told last.
    fileprivate var wasActive = false
  }

  package private(set) var desktop = Desktop()
  private var entries: [UInt32: Entry] = [:]
  private var ids: [WindowID: UInt32] = [:]
  private var hasChanged = false
  /// The last number that was given to a window whose compositor has none for it.
  package private(set) var lastNumber: UInt64

  /// No windows yet; numbers go on after `number`.
  package init(after number: UInt64 = 0) { lastNumber = number }

  package subscript(_ object: UInt32) -> Entry? { entries[object] }

  /// The object of a window that is there.
  package func object(_ id: WindowID) -> UInt32? { desktop.windows[id] == nil ? nil : ids[id] }

  package var objects: [UInt32] { Array(entries.keys) }

  /// Adds a window that is told when it is complete, with a number of its own unless it has one.
  /// - Throws: `FramingError` if it is there already, or there are too many.
  package mutating func add(_ object: UInt32, number: UInt64? = nil) throws(FramingError) {
    if number == nil { lastNumber += 1 }
    let id = WindowID(number ?? lastNumber)
    guard entries.count < Self.most else { throw FramingError(description: "more than \(Self.most) windows") }
    guard ids.updateValue(object, forKey: id) == nil else { throw FramingError(description: "a window twice") }
    entries[object] = Entry(id: id)
  }

  /// Changes a window, which is told so when it is complete.
  package mutating func change(_ object: UInt32, _ body: (inout Entry) -> Void) {
    if entries[object] != nil { body(&entries[object, default: Entry(id: WindowID(0))]) }
  }

  /// All about a window is told.
  package mutating func complete(_ object: UInt32) {
    guard let entry = entries[object] else { return }
    if desktop.windows[entry.id] != entry.window {
      desktop.windows[entry.id] = entry.window
      hasChanged = true
    }
    guard entry.isActive != entry.wasActive else { return }
    entries[object]?.wasActive = entry.isActive
    // The one before may be told to be inactive after the next is active.
    if entry.isActive { bringToFront(entry.id) } else if desktop.front == entry.id { bringToFront(otherActive) }
  }

  /// Whether all about a window was told before.
  package func isComplete(_ object: UInt32) -> Bool { entries[object].map { desktop.windows[$0.id] != nil } ?? false }

  package mutating func remove(_ object: UInt32) {
    guard let entry = entries.removeValue(forKey: object) else { return }
    ids[entry.id] = nil
    if desktop.windows.removeValue(forKey: entry.id) != nil { hasChanged = true }
    if desktop.front == entry.id { bringToFront(otherActive) }
  }

  /// A window that is active for another seat.
  private var otherActive: WindowID? { entries.values.first { $0.isActive && $0.wasActive }?.id }

  private mutating func bringToFront(_ id: WindowID?) {
    desktop.front = id
    hasChanged = true
  }

  /// Whether the desktop has changed since this was called last.
  package mutating func takeChange() -> Bool {
    defer { hasChanged = false }
    return hasChanged
  }
}
