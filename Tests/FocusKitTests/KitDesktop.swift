import BusSupport
import DBusTypes
import FocusKit
import Observation
import TestSupport
import Testing

struct NumberKey: FocusedValueKey {
  typealias Value = Binding<Int>
  static let name = "demo.Form.Number"
}

struct TitleKey: FocusedValueKey {
  typealias Value = String
  static let name = "demo.Form.Title"
}

struct SizeKey: FocusedValueKey {
  typealias Value = Binding<Double>
  static let name = "demo.Slider.Position"
}

struct LampsKey: FocusedValueKey {
  typealias Value = Binding<[Bool]>
  static let name = "demo.Lamps.Lit"
}

struct SaveKey: FocusedValueKey {
  typealias Value = @Sendable () async throws -> Void
  static let name = "demo.Form.Save"
}

struct Todo: Codable, DBusRepresentable, Equatable {
  var description: String
  var done = false
}

struct TodosKey: FocusedValueKey {
  typealias Value = Binding<[Todo]>
  static let name = "demo.Todo.Items"
}

extension FocusedValues {
  var number: NumberKey.Value? {
    get { self[NumberKey.self] }
    set { self[NumberKey.self] = newValue }
  }
  var title: TitleKey.Value? {
    get { self[TitleKey.self] }
    set { self[TitleKey.self] = newValue }
  }
  var position: SizeKey.Value? {
    get { self[SizeKey.self] }
    set { self[SizeKey.self] = newValue }
  }
  var lamps: LampsKey.Value? {
    get { self[LampsKey.self] }
    set { self[LampsKey.self] = newValue }
  }
  var save: SaveKey.Value? {
    get { self[SaveKey.self] }
    set { self[SaveKey.self] = newValue }
  }
  var store: FocusedCommand? {
    get { self["demo.Form.Store"] }
    set { self["demo.Form.Store"] = newValue }
  }
  var todos: TodosKey.Value? {
    get { self[TodosKey.self] }
    set { self[TodosKey.self] = newValue }
  }
  /// No key of its own, but something that is computed from one.
  var half: Int? { self[NumberKey.self].map { $0.wrappedValue / 2 } }
}

extension TestDesktop {
  func client() -> FocusClient { FocusClient(address: bus.address) }

  /// What busctl says of the focused property, or its error.
  func busctl(get key: String) async throws -> String {
    let (interface, member) = Focus1.split(key)
    let result = try await busctl("get-property", interface, member)
    return result.succeeded ? result.text : result.errorText
  }

  /// Writes with busctl; returns its error, empty for none.
  @discardableResult
  func busctl(set key: String, _ type: String, _ value: String...) async throws -> String {
    let (interface, member) = Focus1.split(key)
    return try await busctl("set-property", [interface, member, type] + value).errorText
  }

  /// Ends the bus, and the daemon with it.
  func endBus() async throws {
    try await bus.stop()
    #expect(try await ended() == .status(1))
  }
}

extension Peer {
  /// The object of the only field that FocusKit exports on the connection `owner`.
  func path(ofTheFieldOf owner: String) async throws -> String {
    let root = "/org/focusd/FocusKit"
    let tree = try await call(DaemonCall(to: owner, root, "org.freedesktop.DBus.Introspectable", "Introspect"))
    return root + "/" + (try #require((tree.first?.basicText ?? "").firstMatch(of: /node name="(\w+)"/)).1)
  }
}

/// What a sequence of changes brought so far, in order.
final class Changes<Value: Sendable & Equatable>: Sendable {
  private let seen = Observed<[Value?]>([])
  private let task: Task<Void, Never>

  init(_ changes: AsyncStream<Value?>) {
    let seen = seen
    task = Task { for await value in changes { seen.update { $0.append(value) } } }
  }

  deinit { task.cancel() }

  var all: [Value?] { seen.now }

  /// Waits until `value` is the last.
  func wait(for value: Value?) async throws {
    _ = try await seen.wait(for: "\(String(describing: value))") { $0.last == .some(value) ? true : nil }
  }
}

/// Waits until `holds`, which reads what Observation knows of.
func until(_ what: String, _ holds: @escaping @Sendable () -> Bool) async throws {
  let isSo = Observed(false)
  // Observation misses what another thread changes between a read and the watch for it, so watching begins anew.
  let task = Task {
    while !Task.isCancelled, !isSo.now {
      let watch = Task {
        for await value in Observations(holds) where value {
          isSo.update { $0 = true }
          break
        }
      }
      try? await Task.sleep(for: .seconds(2))
      watch.cancel()
    }
  }
  defer { task.cancel() }
  _ = try await isSo.wait(for: what) { $0 ? true : nil }
}

/// What a client's error handler was told.
final class Errors: Sendable {
  private let seen = Observed<[FocusError]>([])

  init(of client: FocusClient) {
    let seen = seen
    client.onError { error in seen.update { $0.append(error) } }
  }

  var all: [FocusError] { seen.now }

  func wait(for name: String) async throws {
    _ = try await seen.wait(for: name) { $0.contains { $0.name == name } ? true : nil }
  }

  func wait(forMessageWith part: String) async throws {
    _ = try await seen.wait(for: part) { $0.contains { $0.message.contains(part) } ? true : nil }
  }

  /// Waits until there were `count`, and no more.
  func wait(count: Int) async throws {
    _ = try await seen.wait(for: "\(count) errors") { $0.count >= count ? true : nil }
    #expect(all.count == count)
  }
}
