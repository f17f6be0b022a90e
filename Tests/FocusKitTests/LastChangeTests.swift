import BusSupport
import EventLoop
import FocusKit
import Glibc
import Observation
import Synchronization
import TestSupport
import Testing

/// A model that other threads change: Observation tells of a change before it is made.
private final class Volume: Observable, Sendable {
  private let registrar = ObservationRegistrar()
  private let content = Locked(0)
  private let readings = Observed(0)

  var value: Int {
    registrar.access(self, keyPath: \.value)
    let value = content.copy
    readings.update { $0 += 1 }
    return value
  }

  /// Changes the value once the former one has been read again.
  func change(to value: Int) async throws {
    try await onThread {
      let known = self.readings.now
      self.registrar.withMutation(of: self, keyPath: \.value) {
        while self.readings.now == known { sched_yield() }
        self.content.withLock { $0 = value }
      }
    }
  }
}

@Suite struct LastChangeTests {
  @MainActor private static func ofMain(_ volume: Volume) -> Binding<Int> {
    Binding(get: { @MainActor in volume.value }, set: { @MainActor _ in })
  }

  private static func binding(_ volume: Volume, isOfMain: Bool) async -> Binding<Int> {
    isOfMain ? await ofMain(volume) : Binding(get: { volume.value }, set: { _ in })
  }

  @Test(arguments: [false, true]) func aChangeThatIsToldBeforehandIsSeen(isOfMain: Bool) async throws {
    let volume = Volume()
    let binding = await Self.binding(volume, isOfMain: isOfMain)
    let seen = Observed(-1)
    let task = Task { for await value in binding.changes() { seen.update { $0 = value } } }
    _ = try await seen.wait(for: "the first") { $0 == 0 ? true : nil }
    for number in 1...3 {
      try await volume.change(to: number)
      _ = try await seen.wait(for: "\(number)") { $0 == number ? true : nil }
    }
    task.cancel()
  }

  @Test(arguments: [false, true]) func aChangeThatIsToldBeforehandIsPublished(isOfMain: Bool) async throws {
    try await TestDesktop.with { desktop in
      let (owner, reader) = (desktop.client(), desktop.client())
      let volume = Volume()
      let field = FocusField("text1", client: owner)
        .focusedValue(\.number, await Self.binding(volume, isOfMain: isOfMain)).register()
      try await field.focus()
      for number in 1...3 {
        try await volume.change(to: number)
        try await eventually("\(number)") { try await reader.read(\.number) == number }
      }
      withExtendedLifetime(field) {}
    }
  }

  @Test func aChangeDuringTheFirstReadingIsPublished() async throws {
    try await TestDesktop.with { desktop in
      let (owner, reader) = (desktop.client(), desktop.client())
      let state = State(wrappedValue: 1)
      let binding = Binding<Int>(
        get: {
          let value = state.wrappedValue
          if value == 1 { state.wrappedValue = 2 }
          return value
        }, set: { _ in })
      let field = FocusField("text1", client: owner).focusedValue(\.number, binding).register()
      try await field.focus()
      try await eventually("the change") { try await reader.read(\.number) == 2 }
      withExtendedLifetime(field) {}
    }
  }
}
