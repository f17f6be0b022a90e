internal import Glibc

/// The words of the command line as bytes, the program's name first.
package enum ProgramArguments {
  /// The words as the runtime tells them, else as the kernel does: `proc(5)`, `/proc/self/cmdline`.
  ///
  /// In a static executable the runtime looks for them behind the environment, and finds none once a preloaded library has moved
  /// that by setting a variable.
  package static let words: [[UInt8]] = CommandLine.argc > 0 ? fromRuntime : fromKernel

  /// Why there are none, not even the program's name.
  package static let unknown = "the arguments are unknown: /proc is not mounted"

  private static var fromRuntime: [[UInt8]] {
    (0..<Int(CommandLine.argc)).compactMap { index in
      CommandLine.unsafeArgv[index].map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }
  }

  private static var fromKernel: [[UInt8]] {
    let descriptor = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = read(descriptor, &chunk, chunk.count), count > 0 { bytes += chunk[..<count] }
    return bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast().map(Array.init)
  }

  /// The words as texts, in which U+FFFD stands for what is not UTF-8.
  package static var texts: [String] { words.map { String(decoding: $0, as: UTF8.self) } }
}
