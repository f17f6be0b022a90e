import BusSupport
import Observation
import TestSupport
import Testing

@testable import FocusKit

@Suite struct StatusTests {
  @Test func theFieldThatHasFocusIsKnownByItsID() async throws {
    try await TestDesktop.with { desktop in
      let (client, observer) = (desktop.client(), desktop.client())
      let seen = Statuses(observer.changes(of: \.focusedField))
      let named = FocusField("text1", client: client)
      let picked = FocusField(client: client)
      #expect(named.id == "text1")
      #expect(picked.id == nil)
      for field in [named, picked] { try await field.register().registered() }
      let id = try #require(picked.id)
      try await named.focus()
      try await seen.wait(for: "text1")
      #expect(observer.focusedField == named.id)
      try await picked.focus()
      try await seen.wait(for: id)
      try await picked.blur()
      try await seen.wait(for: nil)
      #expect(observer.focusedField == nil)
    }
  }

  @Test func aClientIsConnectedWhileTheDaemonIsThereAndKnowsItsValuesThen() async throws {
    try await TestDesktop.with { desktop in
      let field = FocusField("text1", client: desktop.client()).focusedValue(\.title, "First").register()
      try await field.focus()
      let client = desktop.client()
      let title = FocusedValue(\.title, client: client)
      let seen = Statuses(client.changes(of: \.isConnected))
      try await seen.wait(for: true)
      #expect(title.wrappedValue == "First")
      #expect(client.focusedField == "text1")
      try await desktop.end()
      try await seen.wait(for: false)
      #expect(client.focusedField == nil)
      try await desktop.start()
      try await seen.wait(for: true)
      // The first may be from before it was connected.
      #expect(Array(seen.all.drop { !$0 }) == [true, false, true], "\(seen.all)")
    }
  }

  @Test func withoutABusAClientIsNotConnected() {
    let client = FocusClient(address: "unix:path=/nonexistent")
    client.onError { _ in }
    client.connect()
    #expect(!client.isConnected)
    #expect(client.focusedField == nil)
  }

  @Test func whoReadsTheStatusConnectsNothing() throws {
    let client = FocusClient(address: "unix:path=/nonexistent")
    #expect(!client.isConnected && client.focusedField == nil)
    #expect(client.isConnected == client.isConnected)
    #expect(!client.hasStarted)
    client.connect()
    #expect(client.hasStarted)
  }

  /// What computes or compares a value may use the client, and so may who is told of a change.
  @Test func aClosureOfTheProgramIsCalledUnderNoLock() async throws {
    try await TestDesktop.with { desktop in
      let client = desktop.client()
      let seen = Statuses(client.changes(of: \.curious))
      try await seen.wait(for: Curious(client: client, isConnected: true))
      let told = Observed<[Bool]>([])
      withObservationTracking({ _ = client.isConnected }, onChange: { told.update { $0.append(client.isConnected) } })
      try await desktop.end()
      try await seen.wait(for: Curious(client: client, isConnected: false))
      #expect(try await told.wait(for: "the end") { $0.first } == false)
    }
  }

  /// What a client knows at the very moment at which it is connected.
  @Test func whoLearnsThatAClientIsConnectedFindsAllThatIsFocused() async throws {
    try await TestDesktop.with { desktop in
      let field = FocusField("text1", client: desktop.client()).focusedValue(\.title, "First").focusedValue(\.save) {}
        .register()
      try await field.focus()
      let client = desktop.client()
      let found = Observed<[String]>([])
      Self.whenConnected(client) {
        let title = FocusedValue(\.title, client: client).wrappedValue
        let canSave = FocusedValue(\.save, client: client).wrappedValue != nil
        found.update { $0.append("\(title ?? "nil") \(client.focusedField ?? "nil") \(canSave)") }
      }
      client.connect()
      #expect(try await found.wait(for: "the connection") { $0.first } == "First text1 true")
    }
  }

  private static func whenConnected(_ client: FocusClient, _ action: @escaping @Sendable () -> Void) {
    withObservationTracking {
      _ = client.isConnected
    } onChange: {
      if client.isConnected { action() } else { whenConnected(client, action) }
    }
  }

  @Test func observationSeesTheStatus() async throws {
    try await TestDesktop.with { desktop in
      let client = desktop.client()
      client.connect()
      try await until("the connection") { client.isConnected }
      _ = try await desktop.focusctl("register", "text1", "demo.Form.Number=1", "--focus")
      try await until("the focus") { client.focusedField == "text1" }
    }
  }

  @Test func aStreamThatIsCancelledEndsAndLetsGoOfItsClient() async throws {
    try await TestDesktop.with { desktop in
      var client: FocusClient? = desktop.client()
      weak let released = client
      let task = Task { [changes = client?.changes(of: \.isConnected)] in
        guard let changes else { return 0 }
        var count = 0
        for await _ in changes { count += 1 }
        return count
      }
      try await until("the connection") { [client] in client?.isConnected == true }
      client = nil
      task.cancel()
      #expect(await task.value <= 2)
      // Tasks that have ended let go of what they captured a moment later.
      let deadline = ContinuousClock.now + .seconds(60)
      while released != nil, ContinuousClock.now < deadline { await Task.yield() }
      #expect(released == nil)
    }
  }
}

private struct Curious: Equatable, Sendable {
  let client: FocusClient
  let isConnected: Bool

  static func == (left: Self, right: Self) -> Bool {
    left.client.useStatus()
    return left.isConnected == right.isConnected
  }
}

extension FocusClient {
  /// Would wait for ever for a lock that is held meanwhile.
  fileprivate func useStatus() {
    _ = changes(of: \.focusedField)
    _ = focusedField
  }

  fileprivate var curious: Curious {
    useStatus()
    return Curious(client: self, isConnected: isConnected)
  }
}

/// What a stream of values that are never missing brought so far, in order.
private final class Statuses<Value: Sendable & Equatable>: Sendable {
  private let seen = Observed<[Value]>([])
  private let task: Task<Void, Never>

  init(_ changes: AsyncStream<Value>) {
    let seen = seen
    task = Task { for await value in changes { seen.update { $0.append(value) } } }
  }

  deinit { task.cancel() }

  var all: [Value] { seen.now }

  /// Waits until `value` is the last.
  func wait(for value: Value) async throws {
    _ = try await seen.wait(for: "\(value)") { $0.last == value ? true : nil }
  }
}
