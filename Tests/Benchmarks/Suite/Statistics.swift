internal import Glibc

/// Values of one kind that were measured.
struct Samples {
  private(set) var values: [Double] = []

  var isEmpty: Bool { values.isEmpty }

  mutating func add(_ value: Double) { values.append(value) }
  mutating func add(_ more: some Sequence<Double>) { values += more }

  func quantile(_ fraction: Double) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return .nan }
    return sorted[min(sorted.count - 1, Int(Double(sorted.count) * fraction))]
  }

  var median: Double { quantile(0.5) }
}

/// A command or a process that could not be measured.
struct NotMeasured: Error, CustomStringConvertible {
  let description: String
}

/// What `/proc` says of a process's memory.
struct Memory {
  private let lines: [Substring]

  init(of process: Int32) {
    guard let file = fopen("/proc/\(process)/smaps_rollup", "r") else {
      lines = []
      return
    }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = fread(&bytes, 1, bytes.count, file)
    lines = String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n")
  }

  private func kibibytes(_ name: String) -> Double {
    let line = lines.first { $0.hasPrefix(name + ":") }
    return Double(line?.split(separator: " ").dropFirst().first ?? "") ?? .nan
  }

  /// What the process has written to, in KiB: nobody shares it, and it cannot be read back from a file.
  var written: Double { kibibytes("Private_Dirty") }
  /// All that is resident, in KiB; files that other processes have mapped too count in full.
  var resident: Double { kibibytes("Rss") }
  /// All that is resident, in KiB; what is shared counts in equal parts with those that share it.
  var proportional: Double { kibibytes("Pss") }
}
