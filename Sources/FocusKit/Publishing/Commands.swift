internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import FocusContract

/// Closures as commands, both ways.
///
/// A closure that is `@Sendable` runs on any thread, every other one on the main actor, where it must be made.
enum Commands {
  /// A closure that is called only from the main actor, regardless of its type.
  private struct OnMain<Closure>: @unchecked Sendable { let closure: Closure }

  private static func command(_ run: @escaping @Sendable () async throws -> Void) -> PublishedCommand {
    PublishedCommand(input: [], output: []) { _ in
      try await run()
      return []
    }
  }

  private static func mainCommand(_ run: @escaping @MainActor @Sendable () async throws -> Void) -> PublishedCommand {
    PublishedCommand(
      input: [], output: [], isolation: .main,
      start: { _, completion in
        MainActor.assumeIsolated {
          _ = Task.immediate { @MainActor in
            do {
              try await run()
              completion(.success([]))
            } catch {
              completion(.failure(error))
            }
          }
        }
      })
  }

  /// `value` as a command, if it is a closure without arguments and results, or of a type that a shared key has.
  static func published(_ value: Any) -> PublishedCommand? {
    if let run = exactly(value, as: (@Sendable (String) async throws -> Void).self) {
      return PublishedCommand(run, []) { _ in [] }
    }
    if let run = exactly(value, as: (@Sendable (String, Bool) async throws -> Void).self) {
      return PublishedCommand(run, []) { _ in [] }
    }
    if let run = exactly(value, as: (@Sendable () async throws -> [MenuItem]).self) {
      return PublishedCommand(run, [[MenuItem].dbusType]) { [try $0.dbusValue()] }
    }
    switch value {
    case let run as @Sendable () -> Void: return command(run)
    case let run as @Sendable () throws -> Void: return command(run)
    case let run as @Sendable () async -> Void: return command(run)
    case let run as @Sendable () async throws -> Void: return command(run)
    case let run as nonisolated(nonsending) @Sendable () async -> Void: return command(run)
    case let run as nonisolated(nonsending) @Sendable () async throws -> Void: return command(run)
    case let run as @MainActor () -> Void: return mainCommand(run)
    case let run as @MainActor () throws -> Void: return mainCommand(run)
    case let run as @MainActor @Sendable () -> Void: return mainCommand(run)
    case let run as @MainActor @Sendable () throws -> Void: return mainCommand(run)
    case let run as @MainActor @Sendable () async -> Void: return mainCommand(run)
    case let run as @MainActor @Sendable () async throws -> Void: return mainCommand(run)
    case let run as () -> Void:
      let main = OnMain(closure: run)
      return mainCommand { main.closure() }
    case let run as () throws -> Void:
      let main = OnMain(closure: run)
      return mainCommand { try main.closure() }
    case let run as () async -> Void:
      let main = OnMain(closure: run)
      return mainCommand { await main.closure() }
    case let run as () async throws -> Void:
      let main = OnMain(closure: run)
      return mainCommand { try await main.closure() }
    case let run as nonisolated(nonsending) () async -> Void:
      let main = OnMain(closure: run)
      return mainCommand { await main.closure() }
    case let run as nonisolated(nonsending) () async throws -> Void:
      let main = OnMain(closure: run)
      return mainCommand { try await main.closure() }
    default: return nil
    }
  }

  /// `value`, if it is of just this type.
  ///
  /// A cast also takes a function that does not throw, and its caller then finds an error where nothing was thrown.
  private static func exactly<Closure>(_ value: Any, as _: Closure.Type) -> Closure? {
    type(of: value) == Closure.self ? value as? Closure : nil
  }

  /// A closure of type `type` that runs the focused field's command `name`, or nil if `type` is not a closure type.
  ///
  /// One that does not wait reports a refusal to the client's error handler.
  static func caller<Value>(_ type: Value.Type, _ name: String, _ client: FocusClient) -> Value? {
    let wait = { @Sendable () async throws -> Void in _ = try await client.run(name) }
    let report = { @Sendable () async -> Void in
      do { try await wait() } catch { client.report(FocusError(any: error)) }
    }
    let start = { @Sendable () -> Void in
      client.postAfterWrites { worker in
        worker.link.ask(.invoke(name)) {
          if case .failure(let error) = $0 { client.report(error) }
        }
      }
    }
    let closures: [Any] = [
      start, start as () -> Void, start as @Sendable () throws -> Void, start as () throws -> Void,
      start as @MainActor () -> Void, start as @MainActor () throws -> Void, report, report as () async -> Void, wait,
      wait as () async throws -> Void, report as @MainActor () async -> Void,
      wait as @MainActor () async throws -> Void,
      report as nonisolated(nonsending) () async -> Void, report as nonisolated(nonsending) @Sendable () async -> Void,
      wait as nonisolated(nonsending) () async throws -> Void,
      wait as nonisolated(nonsending) @Sendable () async throws -> Void,
      { @Sendable (text: String) async throws -> Void in _ = try await client.run(name, text) },
      { @Sendable (text: String, isOn: Bool) async throws -> Void in _ = try await client.run(name, text, isOn) },
      { @Sendable () async throws -> [MenuItem] in
        guard let items = try await client.run(name).first else { throw FocusError("'\(name)' returned nothing") }
        return try [MenuItem](dbusValue: items)
      },
    ]
    return closures.lazy.compactMap { exactly($0, as: type) }.first
  }
}

extension PublishedCommand {
  /// A closure that takes its arguments one by one from what came over the bus.
  init<each Argument: DBusRepresentable, Output>(
    _ body: @escaping @Sendable (repeat each Argument) async throws -> Output, _ output: [DBusType],
    _ results: @escaping @Sendable (Output) throws -> [DBusValue]
  ) {
    var input: [DBusType] = []
    repeat input.append((each Argument).dbusType)
    self.init(input: input, output: output) { values in
      var arguments = ArgumentReader(values)
      let output = try await body(repeat try arguments.next((each Argument).self))
      return try results(output)
    }
  }
}

/// The arguments of a call, one after another.
private struct ArgumentReader {
  private var values: [DBusValue].Iterator

  init(_ values: [DBusValue]) { self.values = values.makeIterator() }

  mutating func next<Argument: DBusRepresentable>(_ type: Argument.Type) throws -> Argument {
    guard let value = values.next() else {
      throw FocusError("the command takes more arguments", name: "org.freedesktop.DBus.Error.InvalidArgs")
    }
    return try Argument(dbusValue: value)
  }
}
