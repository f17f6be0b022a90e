import BusSupport
import TestSupport
import Testing

/// The libraries that owners are written with.
enum Toolkit: String, CaseIterable, CustomTestStringConvertible {
  case gdbus, dbusPython, sdbus

  var testDescription: String { rawValue }

  /// Starts an owner of the field `size`, which has focus then.
  func owner(_ desktop: TestDesktop) async throws -> ManagedProcess {
    let process: ManagedProcess
    switch self {
    case .gdbus: return try await desktop.script(resource("size_gdbus.py"))
    case .dbusPython: return try await desktop.script(resource("size_dbus_python.py"))
    case .sdbus:
      let program = desktop.bus.directory + "/size_sdbus"
      try await compile(desktop, to: program)
      process = try await desktop.start([program, desktop.bus.address])
    }
    try await process.line("ready")
    return process
  }

  private func compile(_ desktop: TestDesktop, to program: String) async throws {
    let libraries = try await desktop.run(["/usr/bin/pkg-config", "--cflags", "--libs", "libsystemd"])
    try #require(libraries.succeeded, "libsystemd-dev is missing, which .ci/setup installs: \(libraries)")
    let compiled = try await desktop.run(
      ["/usr/bin/cc", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-o", program, resource("size_sdbus.c")]
        + libraries.text.split(separator: " ").map(String.init))
    try #require(compiled.succeeded, "\(compiled)")
  }
}
