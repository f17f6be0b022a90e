import DBusTypes
import TestSupport
import Testing

@Suite("Clients that come and go leave nothing behind")
struct ChurnTests {
  /// Connects, registers, takes focus, writes, and leaves without a word, `count` times.
  private static func comeAndGo(_ bus: PrivateBus, _ count: Int) throws {
    for number in 0..<count {
      let client = try Client(on: bus)
      let path = try client.register(
        number % 2 == 0 ? "" : "f\(number)",
        [("demo.Form.Number", .int32(Int32(number))), ("demo.Form.Text", .string("text \(number)"))],
        [("focus", .boolean(true)), ("scope", .string(number % 3 == 0 ? "scene" : "field"))])
      if number % 4 == 0 {
        try client.register("", [("demo.Form.Number", .int32(0))], [("parent", .objectPath(try ObjectPath(path)))])
        try client.write("demo.Form.Number", .int32(-1))
      }
    }
  }

  @Test("10,000 clients: no field, no focus, and no memory")
  func tenThousand() async throws {
    try await Daemon.with { daemon in
      let bus = daemon.bus
      try await onThread {
        let watcher = try Client(on: bus)
        var memory: [Int] = []
        for count in [2000, 4000, 4000] {
          try Self.comeAndGo(bus, count)
          try wait { try watcher.fields().isEmpty }
          #expect(
            try watcher.get("org.focusd.Focus1.Manager", "FocusedField", at: Client.manager) == .objectPath(.root))
          #expect(try watcher.get("org.focusd.Focus1.Manager", "History", at: Client.manager) == .objectPaths([]))
          #expect(try watcher.call(Client.focused, "org.focusd.Focus1.Bindings", "ReadAll").first?.depth == 2)
          memory.append(try daemon.memory())
        }
        // A hundred bytes for each client would be 400 kB.
        expectNoGrowth(memory, 400_000)
      }
    }
  }
}
