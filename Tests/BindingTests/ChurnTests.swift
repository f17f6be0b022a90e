import BusSupport
import DBusTypes
import TestSupport
import Testing

@Suite("Clients that come and go leave nothing behind")
struct ChurnTests {
  /// Connects, registers, takes focus, writes, and leaves without a word, `count` times.
  private static func comeAndGo(_ desktop: TestDesktop, _ count: Int) async throws {
    for number in 0..<count {
      let client = try await desktop.peer()
      let id = try await client.register(
        number % 2 == 0 ? "" : "f\(number)",
        [("demo.Form.Number", .int32(Int32(number))), ("demo.Form.Text", .string("text \(number)"))],
        [("focus", .boolean(true)), ("scope", .string(number % 3 == 0 ? "scene" : "field"))])
      if number % 4 == 0 {
        try await client.register("", [("demo.Form.Number", .int32(0))], [("parent", Focus1.fieldPath(id))])
        try await client.write("demo.Form.Number", .int32(-1))
      }
    }
  }

  /// It takes a minute: fewer clients would leave less than the pages that an allocator moves about.
  @Test("10,000 clients: no field, no focus, and no memory")
  func tenThousand() async throws {
    try await TestDesktop.with { desktop in
      let watcher = try await desktop.peer()
      var memory: [Int] = []
      for count in [2000, 4000, 4000] {
        try await Self.comeAndGo(desktop, count)
        try await eventually("nothing is left") { try await watcher.fields().isEmpty }
        #expect(
          try await watcher.manager("FocusedField") == .objectPath(.root))
        #expect(try await watcher.manager("History") == .objectPaths([]))
        #expect(try await watcher.readAll().isEmpty)
        memory.append(desktop.daemon.privateMemory)
      }
      // A hundred bytes for each client would be 400 kB.
      expectNoGrowth(memory, 400_000)
    }
  }
}
