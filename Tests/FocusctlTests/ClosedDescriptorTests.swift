import BusSupport
import Foundation
import TestSupport
import Testing

/// Programs whose standard input, output or error is closed.
@Suite struct ClosedDescriptorTests {
  private static let programs = ["focusctl", "focusd", "focusd-accessibility", "focusd-menus", "focusd-windows"]
    .filter { FileManager.default.isExecutableFile(atPath: Products.directory + "/" + $0) }

  /// What cannot be written is an error, whether the disk is full or the descriptor is closed.
  @Test(arguments: programs, ["--help >&-", "--version >&-", "--help >/dev/full", "--version >/dev/full <&-"])
  func outputThatIsLostIsAnError(program: String, call: String) async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let result = try await desktop.shell("\(program) \(call)")
      #expect(result.status == (program == "focusctl" ? 4 : 1), "\(result)")
      #expect(result.errors.count == 1 && result.errors[0].contains("cannot write to standard output"), "\(result)")
    }
  }

  @Test(arguments: [
    ("focusctl get Number >&-", 4), ("focusctl get Number >/dev/full", 4), ("focusctl get Number 2>&-", 0),
    ("focusctl get Number <&- 2>&-", 0), ("focusctl get Number <&- >&- 2>&-", 4), ("focusctl list >&-", 4),
    ("focusctl watch Number >&- <&-", 4), ("focusctl set Number - <&-", 2), ("focusctl set Number 2 <&- >&- 2>&-", 0),
    ("focusctl update Number +1 <&- >&- 2>&-", 0), ("focusctl >&-", 4), ("focusctl commands --json <&- >&-", 0),
    ("focusctl nonsense 2>&- >&-", 2), ("focusctl wait Number <&- >&- 2>&-", 0),
  ])
  func aCallEndsAsItWould(call: String, status: Int) async throws {
    try await TestDesktop.with { desktop in
      _ = try await desktop.shell("focusctl register a demo.Form.Number=1 --focus")
      let result = try await desktop.shell(call)
      #expect(Int(result.status) == status, "\(result)")
    }
  }

  /// The first three descriptors of a program that serves are never its bus.
  @Test(arguments: programs.filter { $0 != "focusctl" }) func nothingElseGetsTheirNumbers(program: String) async throws
  {
    try await TestDesktop.with(isServed: program != "focusd") { desktop in
      let source = program == "focusd-windows" ? "--source x11" : ""
      let server = try await desktop.background(
        "exec \(program) --verbose \(source) --address \(desktop.bus.address) <&- >&- 2>&-")
      let directory = "/proc/\(server.processID)/fd"
      func target(_ number: Int) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "\(directory)/\(number)")
      }
      if program == "focusd-windows" {
        // Without a display it ends.
        _ = try await server.finish()
        return
      }
      // Until it runs, its shell has others.
      try await eventually("it has a bus") {
        target(2) == "/dev/null" && (3..<20).contains { target($0)?.hasPrefix("socket:") == true }
      }
      #expect((0...2).map(target) == ["/dev/null", "/dev/null", "/dev/null"])
      try await server.stop()
    }
  }
}
