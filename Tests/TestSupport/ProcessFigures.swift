internal import Foundation

/// What the kernel tells of a process.
extension ManagedProcess {
  /// The memory that is the process's own, in bytes.
  package var privateMemory: Int {
    lines(of: "smaps_rollup").filter { $0.hasPrefix("Private_Dirty:") || $0.hasPrefix("Private_Clean:") }
      .reduce(0) { $0 + Self.number(in: $1) * 1024 }
  }

  /// The memory that the process has in use, in KiB.
  package var residentMemory: Int { kibibytes("VmRSS:") }

  /// The most that it has had in use since it was started, or since `forgetPeak`, in KiB.
  package var peakMemory: Int { kibibytes("VmHWM:") }

  /// Has `peakMemory` begin with what is in use now.
  package func forgetPeak() {
    try? "5".write(toFile: "/proc/\(processID)/clear_refs", atomically: false, encoding: .utf8)
  }

  /// How many descriptors it has open.
  package var descriptors: Int {
    guard let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(processID)/fd") else {
      preconditionFailure("process \(processID) shows no descriptors")
    }
    return open.count
  }

  /// The processor time that the process has used.
  package var processorTime: Duration {
    let numbers = lines(of: "stat").first?.split(separator: ")").last?.split(separator: " ").map { Int($0) ?? 0 } ?? []
    guard numbers.count > 12 else { return .zero }
    return .milliseconds((numbers[11] + numbers[12]) * 1000 / sysconf(Int32(_SC_CLK_TCK)))
  }

  /// Whether it waits for events, and no timer will wake it up: it is in `poll(2)` without a timeout.
  ///
  /// For the numbers, see proc_pid_syscall(5): 7 is `poll`, and 73 is `ppoll(2)` on machines that have no `poll`.
  package var isWaitingWithoutEnd: Bool {
    let call = lines(of: "syscall").first?.split(separator: " ") ?? []
    guard call.count > 3 else { return false }
    return call[0] == "7" ? call[3].hasSuffix("ffffffff") : call[0] == "73" && call[3] == "0x0"
  }

  private func kibibytes(_ name: String) -> Int {
    lines(of: "status").first { $0.hasPrefix(name) }.map(Self.number) ?? 0
  }

  private func lines(of file: String) -> [Substring] {
    guard let text = try? String(contentsOfFile: "/proc/\(processID)/\(file)", encoding: .utf8), !text.isEmpty else {
      preconditionFailure("process \(processID) shows no \(file)")
    }
    return text.split(separator: "\n").map { $0 }
  }

  private static func number(in line: Substring) -> Int { Int(line.filter(\.isNumber)) ?? 0 }
}
