internal import Foundation
internal import TestSupport

/// Measures the daemon against the least that C on libdbus does for the same calls in the same rounds.
///
/// The programs that it measures are beside it, built for release. Its exit status tells whether everything could be
/// measured, and nothing of how fast it was.
private func run(_ options: Options) async throws -> Bool {
  let previous = try options.previousFile.map(Report.init(file:))
  Machine.raiseFileLimit()
  let programs = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path
  let version = try await ManagedProcess.start([programs + "/focusd", "--version"], environment: [:]).result().text
  var report = Report(version: version, isQuick: options.isQuick)
  let context = Group.Context(programs: programs, isQuick: options.isQuick)
  for group in Group.all where options.only.isEmpty ? !group.isByHand : options.only.contains(group.name) {
    do { try await group.measure(context, &report) } catch { report.failed(group.name, error) }
  }
  report.printFigures(previous: previous)
  if let file = options.jsonFile { try report.write(to: file, withDetails: true) }
  if let file = options.saveFile { try report.write(to: file, withDetails: false) }
  return report.isComplete
}

do {
  if try await !run(Options(CommandLine.arguments.dropFirst())) { exit(1) }
} catch {
  FileHandle.standardError.write(Data("Benchmarks: \(error)\n".utf8))
  if error is UsageError { FileHandle.standardError.write(Data((Options.usage + "\n").utf8)) }
  exit(error is UsageError ? 2 : 1)
}
