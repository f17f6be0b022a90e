internal import Foundation

/// The figures and details of a run, as tables for people and as JSON for programs.
struct Report: Codable {
  private struct Failure: Codable {
    let group: String
    let reason: String
  }

  let version: String
  let isQuick: Bool
  let processors: Int
  private(set) var figures: [Figure] = []
  private(set) var details: [Detail] = []
  private var failures: [Failure] = []

  init(version: String, isQuick: Bool) {
    self.version = version
    self.isQuick = isQuick
    processors = Machine.processors
  }

  /// Whether everything that was asked for could be measured.
  var isComplete: Bool { failures.isEmpty }

  mutating func add(
    _ measure: Measure, _ name: String, _ value: Double, _ unit: String = "", free: Double? = nil,
    _ limit: Limit? = nil
  ) {
    figures.append(
      Figure(
        measure: measure, name: name, unit: unit, value: value, free: free, limit: limit?.text,
        isMet: limit?.holds(value)))
  }

  mutating func failed(_ group: String, _ error: any Error) {
    failures.append(Failure(group: group, reason: "\(error)"))
    print("  not measured: \(error)")
  }

  /// Adds what was measured of `targets`, and prints it; the worst hundredth are the longest times, or the lowest rates.
  mutating func add(
    _ group: String, _ mode: Mode, _ targets: [Target], _ results: [Rounds.Result], worst: Double = 0.99
  ) {
    for (target, result) in zip(targets, results) {
      add(
        Detail(
          group: group, target: target.name, mode: mode, median: result.samples.median,
          p99: result.samples.quantile(worst), ratio: target.floor == nil ? nil : result.ratios.median,
          service: result.service, bus: result.bus))
    }
  }

  /// Adds the times of something that is no call.
  mutating func add(_ group: String, _ name: String, _ mode: Mode, _ samples: Samples, ratio: Double? = nil) {
    add(
      Detail(
        group: group, target: name, mode: mode, median: samples.median, p99: samples.quantile(0.99), ratio: ratio,
        service: nil, bus: nil))
  }

  private mutating func add(_ detail: Detail) {
    details.append(detail)
    let numbers = [detail.median, detail.p99, detail.ratio, detail.service, detail.bus].map { $0.map(short) ?? "" }
    print(Report.row([detail.target, detail.mode.rawValue] + numbers, Report.detailWidths))
    // Into a pipe too, whoever waits sees how far it is.
    fflush(nil)
  }

  private static let detailWidths = [44, 8, 10, 10, 8, 10, 10]

  /// The heads of the columns that `add` prints.
  static func printHead(_ group: String, _ unit: String) {
    print("\n" + row([group, "", unit, "p99", "ratio", "cpu call", "cpu bus"], detailWidths))
  }

  /// The first column begins at the left, the others end at the right.
  private static func row(_ texts: [String], _ widths: [Int]) -> String {
    zip(texts, widths).enumerated().map { index, column in
      let space = String(repeating: " ", count: max(0, column.1 - column.0.count))
      return index == 0 ? column.0 + space : space + column.0
    }.joined(separator: " ")
  }

  /// Every figure with its limit, and with the same figure of an earlier run.
  func printFigures(previous: Report?) {
    let widths = [58, 12, 9, 7, 10, 10, 8]
    let head = ["measured", "limit", "reached", "free", "previous", "change"]
    for measure in Measure.allCases {
      let figures = figures.filter { $0.measure == measure }
      guard !figures.isEmpty else { continue }
      if measure == self.figures.first?.measure { print("\n" + Report.row(["figure"] + head, widths)) }
      print(measure.rawValue)
      for figure in figures {
        let earlier = previous?.figures.first { $0.measure == measure && $0.name == figure.name }?.value
        let change = earlier.flatMap { $0 == 0 ? nil : (figure.value / $0 - 1) * 100 }
        let reached = figure.isMet.map { $0 ? "yes" : "NO" } ?? ""
        print(
          Report.row(
            [
              "  " + figure.name, short(figure.value) + (figure.unit.isEmpty ? "" : " " + figure.unit),
              figure.limit ?? "", reached, figure.free.map(short) ?? "", earlier.map(short) ?? "",
              change.map { "\($0 > 0 ? "+" : "")\(Int($0.rounded())) %" } ?? "",
            ], widths))
      }
    }
    for failure in failures { print("not measured: \(failure.group): \(failure.reason)") }
    if let previous { print("previous: \(previous.version)\(previous.isQuick ? ", a quick run" : "")") }
  }

  /// - Throws: what reading or decoding throws.
  init(file: String) throws {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    self = try decoder.decode(Report.self, from: Data(contentsOf: URL(fileURLWithPath: file)))
  }

  /// - Throws: what encoding or writing throws.
  func write(to file: String, withDetails: Bool) throws {
    var report = self
    if !withDetails { report.details = [] }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    try (encoder.encode(report) + Data("\n".utf8)).write(to: URL(fileURLWithPath: file))
  }
}
