import BusSupport
import Foundation
import TestSupport
import Testing

/// A fuzzer that knows the daemon by its introspection only, on GDBus: the script among the resources.
@Suite(.serialized) struct FuzzTests {
  private struct Report: Decodable {
    let answers: [String: Int]
    let problems: [String]
  }

  @Test func everyCallOfAFuzzerIsAnswered() async throws {
    try await TestDesktop.with(prefix: TestDesktop.journaled) { desktop in
      let calls = isSlow ? 20_000 : 1_500
      var answers: [String: Int] = [:]
      try await desktop.daemon.needsNoMore("\(calls * 5) random calls") {
        let report = try await Self.fuzz(desktop, calls, seed: 7)
        #expect(report.problems == [])
        #expect(report.answers.values.reduce(0, +) == calls)
        answers.merge(report.answers) { $0 + $1 }
        let judge = try await desktop.peer()
        #expect(try await judge.owners() == [:])
      }
      print("random calls by their answers: \(answers.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" })")
      // The calls are worth little where they do not come to each of these often.
      for answer in ["success", "InvalidArgs", "UnknownMethod", "UnknownObject", "FieldExists", "Refused"] {
        #expect(answers[answer, default: 0] > 10)
      }
      #expect(desktop.daemon.progress.now.exit == nil)
      #expect(desktop.log("<3>") == [])
    }
  }

  private static func fuzz(_ desktop: TestDesktop, _ calls: Int, seed: Int) async throws -> Report {
    let script = try #require(Bundle.module.path(forResource: "fuzzer", ofType: "py", inDirectory: "Resources"))
    let fuzzer = try await desktop.start(["/usr/bin/python3", script, desktop.bus.address, "\(calls)", "\(seed)"])
    _ = try await fuzzer.progress.wait(for: "end of the fuzzer", within: .seconds(300)) { $0.exit }
    let progress = fuzzer.progress.now
    let report = try #require(progress.output.last, "\(progress)")
    return try JSONDecoder().decode(Report.self, from: Data(report.utf8))
  }
}
