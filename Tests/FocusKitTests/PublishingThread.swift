import BusSupport
import DBus
import DBusTypes
import DaemonClient
import EventLoop
import TestSupport

/// A program that publishes fields on a loop of its own, below FocusKit.
enum PublishingThread {
  /// Publishes what `add` adds while `body` runs; `onTurnEnd` is called after each turn of the loop.
  static func run(
    on desktop: TestDesktop, add: sending @escaping (FieldPublisher) throws -> Void,
    onTurnEnd: sending @escaping (FieldPublisher) throws -> Void, while body: () async throws -> Void
  ) async throws {
    let (address, isOver) = (desktop.bus.address, Observed(false))
    nonisolated(unsafe) let (add, onTurnEnd) = (add, onTurnEnd)
    async let published: Void = onThread {
      let loop = EventLoop()
      let focused = ObjectPath(known: Focus1.focused)
      let link = Link(on: loop, rules: Mirror.rules(for: focused, followsFocus: true))
      let publisher = FieldPublisher(link)
      let mirror = Mirror(focused, on: link, followsFocus: true) { [weak publisher] event in
        if case .focusedField(let path) = event { publisher?.focusMoved(to: path) }
      }
      link.onEvent = { [weak publisher] event in
        switch event {
        case .arrived:
          mirror.begin()
          publisher?.registerAll()
        case .signal(let signal): mirror.received(signal)
        case .call(let message): publisher?.called(message)
        default: break
        }
      }
      try add(publisher)
      link.connect(to: .address(address))
      while !isOver.now {
        loop.turn(waitingAtMost: .milliseconds(1))
        try onTurnEnd(publisher)
      }
      link.stop()
      link.onEvent = nil
    }
    let result: Result<Void, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    isOver.update { $0 = true }
    try await published
    try result.get()
  }
}
