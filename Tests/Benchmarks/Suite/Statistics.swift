internal import Glibc

/// How long the calls of one target took, in microseconds.
struct Samples {
  private var values: [Double] = []

  mutating func add(_ microseconds: Double) { values.append(microseconds) }

  func quantile(_ fraction: Double) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return .nan }
    return sorted[min(sorted.count - 1, Int(Double(sorted.count) * fraction))]
  }

  var median: Double { quantile(0.5) }
}

/// Microseconds on the monotonic clock.
func now() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
}

/// What `/proc` says of a process.
enum ProcessFacts {
  private static func read(_ path: String) -> String {
    guard let file = fopen(path, "r") else { return "" }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 16384)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  /// The processor time that the process has used, in microseconds.
  static func processorTime(_ process: Int32) -> Double {
    (Double(read("/proc/\(process)/schedstat").split(separator: " ").first ?? "") ?? .nan) / 1e3
  }

  /// A line of the process's memory, such as `Private_Dirty`, in KiB, summed over its mappings.
  static func memory(_ process: Int32, _ name: String) -> Double {
    for line in read("/proc/\(process)/smaps_rollup").split(separator: "\n") where line.hasPrefix(name + ":") {
      return Double(line.split(separator: " ").dropFirst().first ?? "") ?? .nan
    }
    return .nan
  }
}
