internal import BridgeSupport
internal import DBus
internal import DBusTypes

/// Finds the windows that a program's elements are in; siblings share what was found.
final class WindowSearch {
  private static let mostLevels = 128
  private static let mostKnown = 4096

  /// What is known of the window that an element is in.
  enum Outcome {
    case window(ElementReference)
    /// The program does not tell.
    case unknown
    /// What contains it is in no window yet, or the program did not answer in time.
    case notYet

    var window: ElementReference? { if case .window(let window) = self { window } else { nil } }
  }

  /// The window of each object that is known to be in one, or to be one.
  private var known: [ElementReference: ElementReference] = [:]

  /// Forgets what is in `window`, which is gone.
  func forget(_ window: ElementReference) { known = known.filter { $0.value != window } }

  /// Hands over the outermost of the objects that contain `element` below `root`, itself included.
  func find(
    from element: ElementReference, below root: ElementReference, on bus: ProgramBus,
    _ handler: @escaping (Outcome) -> Void
  ) {
    climb(from: element, [], below: root, on: bus, handler)
  }

  private func climb(
    from element: ElementReference, _ passed: [ElementReference], below root: ElementReference,
    on bus: ProgramBus, _ handler: @escaping (Outcome) -> Void
  ) {
    guard passed.count < Self.mostLevels else { return handler(.unknown) }
    let passed = passed + [element]
    bus.parent(of: element) { [weak self] result in
      guard let self else { return handler(.unknown) }
      switch result {
      case .failure(let error): return handler(error.isLate ? .notYet : .unknown)
      case .success(let parent):
        guard let parent else { return ended(at: element, passed, on: bus, handler) }
        guard parent.application == element.application, parent != element else {
          return passed.count == 1 ? handler(.unknown) : found(element, passed, handler)
        }
        climb(to: parent, passed, below: root, on: bus, handler)
      }
    }
  }

  private func climb(
    to parent: ElementReference, _ passed: [ElementReference], below root: ElementReference, on bus: ProgramBus,
    _ handler: @escaping (Outcome) -> Void
  ) {
    guard let element = passed.last else { return handler(.unknown) }
    if parent == root { return found(element, passed, handler) }
    if let window = known[parent] { return found(window, passed, handler) }
    climb(from: parent, passed, below: root, on: bus, handler)
  }

  /// Nothing contains the object: only a window may be so for long, and what is in something else will be.
  private func ended(
    at element: ElementReference, _ passed: [ElementReference], on bus: ProgramBus,
    _ handler: @escaping (Outcome) -> Void
  ) {
    bus.role(of: element) { [weak self] answer in
      guard let self, case .success(let number) = answer, ElementRole(rawValue: number).isWindow else {
        return handler(.notYet)
      }
      found(element, passed, handler)
    }
  }

  private func found(
    _ window: ElementReference, _ passed: [ElementReference], _ handler: (Outcome) -> Void
  ) {
    if known.count > Self.mostKnown { known = [:] }
    // An element may move to another parent, which what contains it seldom does.
    for container in passed.dropFirst() { known[container] = window }
    handler(.window(window))
  }
}
