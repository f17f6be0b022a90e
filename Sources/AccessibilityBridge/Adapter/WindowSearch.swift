internal import BridgeSupport
internal import DBus
internal import DBusTypes

/// Finds the windows that a program's elements are in; siblings share what was found.
final class WindowSearch {
  private static let mostLevels = 128
  private static let mostKnown = 4096

  /// The window of each object that is known to be in one, or to be one.
  private var known: [ElementReference: ElementReference] = [:]

  /// Forgets what is in `window`, which is gone.
  func forget(_ window: ElementReference) { known = known.filter { $0.value != window } }

  /// Hands over the outermost of the objects that contain `element` below `root`, itself included; nil if the program does
  /// not tell.
  func find(
    from element: ElementReference, below root: ElementReference, on bus: ProgramBus,
    _ handler: @escaping (ElementReference?) -> Void
  ) {
    climb(from: element, [], below: root, on: bus, handler)
  }

  private func climb(
    from element: ElementReference, _ passed: [ElementReference], below root: ElementReference,
    on bus: ProgramBus, _ handler: @escaping (ElementReference?) -> Void
  ) {
    guard passed.count < Self.mostLevels else { return handler(nil) }
    let passed = passed + [element]
    bus.get(element, AccessibilityNames.accessible, "Parent") { [weak self] result in
      guard let self, case .success(let value) = result else { return handler(nil) }
      guard let parent = ElementReference(value), parent.application == element.application, parent != element else {
        return passed.count == 1 ? handler(nil) : found(element, passed, handler)
      }
      if parent == root { return found(element, passed, handler) }
      if let window = known[parent] { return found(window, passed, handler) }
      climb(from: parent, passed, below: root, on: bus, handler)
    }
  }

  private func found(
    _ window: ElementReference, _ passed: [ElementReference], _ handler: (ElementReference?) -> Void
  ) {
    if known.count > Self.mostKnown { known = [:] }
    // An element may move to another parent, which what contains it seldom does.
    for container in passed.dropFirst() { known[container] = window }
    handler(window)
  }
}
