internal import DBus
internal import DBusTypes
internal import Foundation
internal import TestSupport

/// Measures the daemon against the least that C on libdbus does for the same calls in the same run.
///
/// `Benchmarks [--quick] [--json FILE]`, with the programs beside it built for release.
private let isQuick = CommandLine.arguments.contains("--quick")
private let jsonFile = CommandLine.arguments.firstIndex(of: "--json").flatMap { index in
  CommandLine.arguments.indices.contains(index + 1) ? CommandLine.arguments[index + 1] : nil
}
private let programs = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path

private func measure(isQuick: Bool, programs: String) async throws -> Report {
  let count = isQuick ? 2_000 : 20_000
  var report = try await PrivateBus.with { bus in
    var report = Report()
    let session = try await Session(bus, programs)
    try await measureStored(session, count: count, &report)
    try await measureForwarding(session, count: count / 2, &report)
    try await measureFocus(session, count: count / 10, fields: isQuick ? 10_000 : 100_000, &report)
    try await session.daemon.stop()
    return report
  }
  try await measureMemory(programs, calls: isQuick ? 50_000 : 1_000_000, &report)
  try await measureStart(programs, runs: isQuick ? 20 : 100, &report)
  return report
}

do {
  let report = try await measure(isQuick: isQuick, programs: programs)
  if let jsonFile { try report.json.write(toFile: jsonFile, atomically: true, encoding: .utf8) }
} catch {
  FileHandle.standardError.write(Data("Benchmarks: \(error)\n".utf8))
  exit(1)
}
