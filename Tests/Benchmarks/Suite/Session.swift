internal import CBenchmarkClient
internal import DBus
import DBusTypes
internal import Foundation
internal import Glibc
internal import TestSupport

/// A bus of its own with the daemon, what it is measured against beside it, and a connection that calls.
final class Session {
  let bus: PrivateBus
  let caller: Caller
  let programs: String
  let daemon: Int32
  let busDaemon: Int32
  private var processes: [ManagedProcess] = []

  /// - Throws: `SpawnError`, `DeadlinePassed`, `NotMeasured`, `DBusError`.
  init(_ bus: PrivateBus, _ programs: String, _ environment: [String: String] = [:]) async throws {
    self.bus = bus
    self.programs = programs
    let process = try await bus.start([programs + "/focusd"], extra: environment)
    _ = try await process.progress.wait(for: "the daemon") { progress in
      (progress.output + progress.errors).first { $0.contains("serving") }
    }
    daemon = process.processID
    caller = try Caller(bus.address)
    busDaemon = Int32(try Connection(to: .address(bus.address)).processID(of: .bus))
    processes.append(process)
  }

  /// How many file descriptors the daemon has open.
  var descriptors: Int { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(daemon)/fd"))?.count ?? 0 }

  /// Starts one of the C services, and waits until it serves.
  /// - Throws: `SpawnError`, `DeadlinePassed`.
  func baseline(_ arguments: String...) async throws -> Int32 {
    let process = try await bus.start([programs + "/benchmark-baseline"] + arguments)
    _ = try await process.line("ready")
    processes.append(process)
    return process.processID
  }

  /// Starts another program that is there until the end.
  /// - Throws: `SpawnError`.
  func start(_ arguments: String...) async throws -> Int32 {
    let process = try await bus.start(arguments)
    processes.append(process)
    return process.processID
  }

  /// Puts the bus, all that was started on it, and this process where `mode` says.
  func place(_ mode: Mode) {
    for process in [getpid(), busDaemon] + processes.map(\.processID) { bench_pin(process, mode == .pinned) }
  }

  /// Ends all that was started.
  /// - Throws: `DeadlinePassed`.
  func end() async throws {
    for process in processes { try await process.stop() }
    bench_pin(getpid(), false)
  }

  /// Registers a field with one number.
  /// - Throws: `NotMeasured`.
  func register(_ id: String, _ key: String, lingers: Bool = false) throws {
    try caller.time([Call.register("s", id, key, lingers: lingers)], 1)
  }
}

extension Call {
  static let properties = "org.freedesktop.DBus.Properties"
  static let bindings = "org.focusd.Focus1.Bindings"

  /// A call of the object that mirrors what has focus.
  static func focused(
    to destination: String = "org.focusd.Focus1", _ interface: String, _ member: String, _ format: String = "",
    _ first: String = "", _ second: String = ""
  ) -> Call {
    Call(to: destination, "/org/focusd/Focus1/focused", interface, member, format, first, second)
  }

  static func focus(_ id: String) -> Call {
    Call("/org/focusd/Focus1/field/" + id, "org.focusd.Focus1.Field", "Focus")
  }

  /// With `f` for `id`, each field has the call's number at the end of its id.
  static func register(_ id: String, _ text: String, _ key: String, lingers: Bool = false) -> Call {
    Call(
      "/org/focusd/Focus1", "org.focusd.Focus1.Manager", "Register", id + "v" + (lingers ? "l" : "e"), text, key)
  }
}
