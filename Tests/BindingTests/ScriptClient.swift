import BusSupport
import Foundation
import TestSupport

/// A process of the script beside this file: a client on GDBus that does one thing and tells of it in one line.
struct ScriptClient: Sendable {
  private struct NoScript: Error {}
  private struct Failed: Error {
    let said: [String]
  }

  private let process: ManagedProcess

  /// Starts a client that is connected, and that `go` sets off.
  init(_ desktop: TestDesktop, _ arguments: String...) async throws {
    guard let script = Bundle.module.path(forResource: "clients", ofType: "py", inDirectory: "Resources") else {
      throw NoScript()
    }
    process = try await desktop.bus.start(["/usr/bin/python3", "-u", script] + arguments)
  }

  func ready() async throws { try await process.line("ready") { $0 == "ready" } }

  func go() { process.send(line: "go") }

  /// Waits until the client is done, and reads what it tells.
  func result<Result: Decodable & Sendable>(as type: Result.Type = Result.self) async throws -> Result {
    let exit = try await process.finish()
    let progress = process.progress.now
    guard exit == .status(0), let line = progress.output.last else { throw Failed(said: progress.errors) }
    return try JSONDecoder().decode(type, from: Data(line.utf8))
  }

  func done() async throws { _ = try await result(as: [String: Int].self) }
}
