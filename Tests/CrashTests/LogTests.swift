import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// What the daemon says of itself: with priorities, a line for each event, and never a value.
@Suite struct LogTests {
  private static let secret = "Xk7secretQ"

  @Test func noValueIsEverLogged() async throws {
    try await TestDesktop.with(prefix: TestDesktop.journaled, isServed: false) { desktop in
      var lines: [String] = []
      let client = try await desktop.peer()
      let stranger = try await desktop.peer()
      for round in 0..<2 {
        try await desktop.start()
        try await Self.everything(client, stranger, round)
        try await desktop.end(round == 0 ? 9 : 15)
        lines += desktop.log
      }
      #expect(lines.count > 20, "a verbose log says what was refused")
      #expect(lines.filter { $0.contains(Self.secret) } == [])
      #expect(lines.allSatisfy { ["<3>", "<6>", "<7>"].contains($0.prefix(3)) && $0.count > 8 })
      #expect(!lines.contains { $0.hasPrefix("<3>") }, "\(lines)")
      for event in ["<6>serving as", "<6>terminating on request", "restored the saved state: "] {
        #expect(lines.contains { $0.contains(event) }, "nothing is said of '\(event)'")
      }
      #expect(lines.filter { $0.contains("serving as") }.count == 2)
    }
  }

  /// Calls of every kind that carry the secret, right and wrong ones.
  private static func everything(_ client: Peer, _ stranger: Peer, _ round: Int) async throws {
    let text = DBusValue.string(secret)
    let options: Named = [("linger", .boolean(true))]
    _ = try? await client.register("a\(round)", [("demo.Log.Text", text)], options)
    _ = try? await client.register("a\(round)", [("demo.Log.Text", text)])
    _ = try? await client.register("b\(round)", [("demo.Log.Text", .array(DBusArray(known: .string, [text])))])
    _ = try? await client.register(
      "c\(round)", [("demo.Log.Secret", text)], [("sensitive", .boolean(true))])
    _ = try? await client.register("d\(round)", [(secret, text)], [(secret, text)])
    _ = try? await client.register("e\(round)", [], [("label", text), ("parent", text)])
    for caller in [client, stranger] {
      for path in [Focus1.focused, Focus1.field("a\(round)"), Focus1.field("c\(round)"), Focus1.manager] {
        for key in ["demo.Log.Text", "demo.Log.Secret", "demo.Log.Text/\(secret)", "no key \(secret)"] {
          _ = try? await caller.read(key, at: path)
          _ = try? await caller.write(key, text, at: path)
          _ = try? await caller.write(key, .int32(1), at: path)
          _ = try? await caller.write(key, text, [("revision", .uint64(1))], at: path)
          _ = try? await caller.invoke(key, [text], at: path)
        }
        _ = try? await caller.call(.set("demo.Log.Text", text, at: path))
        _ = try? await caller.call(path, "demo.Log", "Call", [text])
        _ = try? await caller.call(path, Focus1.fieldInterface, "Publish", [text])
        _ = try? await caller.call(
          path, Focus1.fieldInterface, "Publish",
          [.properties([("demo.Log.Text", text)]), .properties([("read_only", text)])])
      }
      _ = try? await caller.field("a\(round)", "Focus")
      _ = try? await caller.field("c\(round)", "Focus")
    }
    #expect(try await client.read("demo.Log.Secret", at: Focus1.field("c\(round)")).value == text)
  }

  /// That it holds focus is told when it is gone already: nobody need hear of that, and nobody complain.
  @Test func aFieldThatTakesFocusAndGoesInOneTurnIsNothingToReport() async throws {
    try await TestDesktop.with(prefix: TestDesktop.journaled) { desktop in
      let client = try await desktop.peer()
      try await client.register("a", [("demo.A.B", .int32(1))])
      try await client.subscribe()
      desktop.daemon.terminate(SIGSTOP)
      for member in ["Focus", "Unregister"] {
        client.begin(.field("a", member))
      }
      // The first answer says that the bus has handled both, the second that it has gone on to write them.
      for _ in 0..<2 { try await client.askBus("GetId") }
      desktop.daemon.terminate(SIGCONT)
      #expect(try await client.owners() == [:])
      #expect(client.signals.filter { $0.path == Focus1.field("a") && !$0.tellsProcess } == [])
      #expect(desktop.log.filter { $0.hasPrefix("<3>") } == [])
    }
  }

  @Test func theServiceManagerIsToldOfFieldsAndFocusNotOfValues() async throws {
    try await TestDesktop.with(isServed: false) { desktop in
      let manager = try NotifySocket(path: desktop.bus.directory + "/notify")
      try await desktop.start(
        environment: ["NOTIFY_SOCKET": desktop.bus.directory + "/notify", "WATCHDOG_USEC": "200000"])
      let client = try await desktop.peer()
      try await client.register("a", [("demo.Log.Text", .string(Self.secret))])
      try await client.field("a", "Focus")
      try await manager.wait(for: "STATUS=1 field, focus on a")
      try await manager.wait(for: "WATCHDOG=1")
      try await desktop.end()
      try await manager.wait(for: "STOPPING=1")
      let told = manager.told.now
      #expect(told.first == "READY=1\nSTATUS=0 fields, nothing focused")
      #expect(told.last == "STOPPING=1")
      #expect(!told.contains { $0.contains(Self.secret) })
      manager.close()
    }
  }

  /// A start that may take longer than usual has the manager wait, before it is ready.
  @Test func theServiceManagerIsToldOfALongStart() async throws {
    try await TestDesktop.with { desktop in
      let clients = [try await desktop.peer(), try await desktop.peer(), try await desktop.peer()]
      for (number, client) in clients.enumerated() {
        for field in 0..<15 {
          let text = DBusValue.string(String(repeating: "x", count: 900_000))
          try await client.register("f\(number)_\(field)", [("demo.Log.Text", text)])
        }
      }
      try await desktop.end()
      let manager = try NotifySocket(path: desktop.bus.directory + "/notify")
      try await desktop.start(environment: ["NOTIFY_SOCKET": desktop.bus.directory + "/notify"])
      try await manager.wait(for: "READY=1\nSTATUS=45 fields, nothing focused")
      let first = manager.told.now.first?.split(separator: "\n") ?? []
      #expect(first.last?.hasPrefix("STATUS=reading ") == true && first.last?.hasSuffix("MiB of saved state") == true)
      let time = first.first?.split(separator: "=").last.flatMap { Int($0) } ?? 0
      #expect(first.first?.hasPrefix("EXTEND_TIMEOUT_USEC=") == true && time > 10_000_000)
      manager.close()
      withExtendedLifetime(clients) {}
    }
  }
}
