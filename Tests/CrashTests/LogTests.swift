import BusSupport
import DBus
import DBusTypes
import Foundation
import TestSupport
import Testing

/// What the daemon says of itself: with priorities, a line for each event, and never a value.
@Suite struct LogTests {
  private static let secret = "Xk7secretQ"

  @Test func noValueIsEverLogged() async throws {
    try await PrivateBus.with { bus in
      var lines: [String] = []
      let client = try Caller(on: bus)
      let stranger = try Caller(on: bus)
      for round in 0..<2 {
        let daemon = try await Focus1.start(on: bus, extra: ["JOURNAL_STREAM": "8:1"])
        try await onThread { try Self.everything(client, stranger, round) }
        daemon.terminate(round == 0 ? 9 : 15)
        try await daemon.finish()
        lines += daemon.progress.now.errors
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
  private static func everything(_ client: Caller, _ stranger: Caller, _ round: Int) throws {
    let text = DBusValue.string(secret)
    let options: [(name: String, value: DBusValue)] = [(name: "linger", value: .boolean(true))]
    _ = try? client.register("a\(round)", [(name: "demo.Log.Text", value: text)], options)
    _ = try? client.register("a\(round)", [(name: "demo.Log.Text", value: text)])
    _ = try? client.register("b\(round)", [(name: "demo.Log.Text", value: .array(DBusArray(known: .string, [text])))])
    _ = try? client.register(
      "c\(round)", [(name: "demo.Log.Secret", value: text)], [(name: "sensitive", value: .boolean(true))])
    _ = try? client.register("d\(round)", [(name: secret, value: text)], [(name: secret, value: text)])
    _ = try? client.register("e\(round)", [], [(name: "label", value: text), (name: "parent", value: text)])
    for caller in [client, stranger] {
      for path in [Focus1.focused, Focus1.field("a\(round)"), Focus1.field("c\(round)"), Focus1.manager] {
        for key in ["demo.Log.Text", "demo.Log.Secret", "demo.Log.Text/\(secret)", "no key \(secret)"] {
          _ = try? caller.read(key, at: path)
          _ = try? caller.write(key, text, at: path)
          _ = try? caller.write(key, .int32(1), at: path)
          _ = try? caller.write(key, text, at: path, revision: 1)
          _ = try? caller.call(
            path, Focus1.bindings, "Invoke",
            [.string(key), .array(DBusArray(known: .variant, [.variant(text)])), .properties([])])
        }
        _ = try? caller.call(path, Focus1.properties, "Set", [.string("demo.Log"), .string("Text"), .variant(text)])
        _ = try? caller.call(path, "demo.Log", "Call", [text])
        _ = try? caller.call(path, Focus1.fieldInterface, "Publish", [text])
        _ = try? caller.call(
          path, Focus1.fieldInterface, "Publish",
          [.properties([(name: "demo.Log.Text", value: text)]), .properties([(name: "read_only", value: text)])])
      }
      _ = try? caller.field("a\(round)", "Focus")
      _ = try? caller.field("c\(round)", "Focus")
    }
    #expect(try client.read("demo.Log.Secret", at: Focus1.field("c\(round)")).value == text)
  }

  /// That it holds focus is told when it is gone already: nobody need hear of that, and nobody complain.
  @Test func aFieldThatTakesFocusAndGoesInOneTurnIsNothingToReport() async throws {
    try await PrivateBus.with { bus in
      let daemon = try await Focus1.start(on: bus, extra: ["JOURNAL_STREAM": "8:1"])
      let client = try Caller(on: bus)
      let told = Observed<[String]>([])
      client.onSignal = { message in
        guard message.path?.text == Focus1.field("a"), let member = message.member?.text else { return }
        told.update { $0.append(member) }
      }
      try await onThread {
        try client.register("a", [(name: "demo.A.B", value: .int32(1))])
        try client.listen()
        daemon.terminate(SIGSTOP)
        for member in ["Focus", "Unregister"] {
          try client.send(try Caller.message(Focus1.field("a"), Focus1.fieldInterface, member))
        }
        client.flush()
        daemon.terminate(SIGCONT)
        #expect(try client.owners() == [:])
      }
      #expect(told.now == [])
      #expect(daemon.progress.now.errors.filter { $0.hasPrefix("<3>") } == [])
      try await daemon.stop()
    }
  }

  @Test func theServiceManagerIsToldOfFieldsAndFocusNotOfValues() async throws {
    try await PrivateBus.with { bus in
      let manager = try NotifySocket(path: bus.directory + "/notify")
      let daemon = try await Focus1.start(
        on: bus, extra: ["NOTIFY_SOCKET": bus.directory + "/notify", "WATCHDOG_USEC": "200000"])
      let client = try Caller(on: bus)
      try await onThread {
        try client.register("a", [(name: "demo.Log.Text", value: .string(Self.secret))])
        try client.field("a", "Focus")
      }
      try await manager.wait(for: "STATUS=1 field, focus on a")
      try await manager.wait(for: "WATCHDOG=1")
      daemon.terminate()
      #expect(try await daemon.finish() == .status(0))
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
    try await PrivateBus.with { bus in
      var daemon = try await Focus1.start(on: bus)
      let clients = try (0..<3).map { _ in try Caller(on: bus) }
      try await onThread {
        for (number, client) in clients.enumerated() {
          for field in 0..<15 {
            let text = DBusValue.string(String(repeating: "x", count: 900_000))
            try client.register("f\(number)_\(field)", [(name: "demo.Log.Text", value: text)])
          }
        }
      }
      daemon.terminate()
      try await daemon.finish()
      let manager = try NotifySocket(path: bus.directory + "/notify")
      daemon = try await Focus1.start(on: bus, extra: ["NOTIFY_SOCKET": bus.directory + "/notify"])
      try await manager.wait(for: "READY=1\nSTATUS=45 fields, nothing focused")
      let first = manager.told.now.first?.split(separator: "\n") ?? []
      #expect(first.last?.hasPrefix("STATUS=reading ") == true && first.last?.hasSuffix("MiB of saved state") == true)
      let time = first.first?.split(separator: "=").last.flatMap { Int($0) } ?? 0
      #expect(first.first?.hasPrefix("EXTEND_TIMEOUT_USEC=") == true && time > 10_000_000)
      try await daemon.stop()
      manager.close()
      withExtendedLifetime(clients) {}
    }
  }
}
