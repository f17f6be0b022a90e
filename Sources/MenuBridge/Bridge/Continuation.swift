/// What goes on once, whichever of several ways leads there.
final class Continuation {
  private var handler: (() -> Void)?

  init(_ handler: @escaping () -> Void) { self.handler = handler }

  func run() {
    let handler = handler
    self.handler = nil
    handler?()
  }
}
