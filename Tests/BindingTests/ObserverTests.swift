import BusSupport
import DBusTypes
import TestSupport
import Testing

/// What an observer of one element tells: how many signals told of its key, and which values its element took.
private struct Seen<Element: Decodable & Equatable & Sendable>: Decodable, Equatable, Sendable {
  let signals: Int
  let values: [Element]
}

@Suite("Observers in processes of their own see each change once and in order")
struct ObserverTests {
  private static func observers(_ desktop: TestDesktop, of key: String, _ count: Int) async throws -> [ScriptClient] {
    var observers: [ScriptClient] = []
    for index in 0..<count { observers.append(try await ScriptClient(desktop, "observe", key, "\(index)")) }
    for observer in observers {
      try await observer.ready()
      observer.go()
    }
    return observers
  }

  @Test("OnChange: a passcode of eight lamps; each press lights the next, all go out when full")
  func onChange() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.witness()
      let lamps = "demo.Passcode.Lamps"
      try await owner.register(
        "passcode", "{'\(lamps)': <[\(Array(repeating: "false", count: 8).joined(separator: ", "))]>}")
      try await owner.field("passcode", "Focus")
      let observers = try await Self.observers(desktop, of: lamps, 8)
      let rounds = 25
      let client = try await desktop.peer()
      let dark = DBusValue.array(try DBusArray(of: .boolean, Array(repeating: .boolean(false), count: 8)))
      for _ in 0..<rounds {
        for lamp in 0..<8 {
          try await client.write("\(lamps)/\(lamp)", .boolean(true))
          // Nobody is told of a write of what is there.
          try await client.write("\(lamps)/\(lamp)", .boolean(true))
        }
        try await client.write(lamps, dark)
        try await client.write(lamps, dark)
      }
      try await owner.field("passcode", "Publish", "({'demo.Passcode.Done': <true>}, @a{sv} {})")
      let expected = Seen(signals: rounds * 9, values: [false] + (0..<rounds).flatMap { _ in [true, false] })
      for observer in observers { #expect(try await observer.result(as: Seen<Bool>.self) == expected) }
    }
  }

  @Test("StateOfArray: elements deep in a value, changed by three clients, 8 x 100 times")
  func stateOfArray() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.witness()
      let items = "demo.Array.Items"
      try await owner.register("array", "{'\(items)': <[0, 0, 0, 0, 0, 0, 0, 0]>}")
      try await owner.field("array", "Focus")
      let observers = try await Self.observers(desktop, of: items, 8)
      let scripts = [
        try await ScriptClient(desktop, "number", "100", items + "/0", items + "/1", items + "/2"),
        try await ScriptClient(desktop, "number", "100", items + "/3", items + "/4"),
      ]
      for script in scripts { try await script.ready() }
      for script in scripts { script.go() }
      let client = try await desktop.peer()
      for value in 1...100 {
        for index in 5..<8 {
          try await client.write("\(items)/\(index)", .int32(Int32(value)), at: Focus1.field("array"))
        }
      }
      for script in scripts { try await script.done() }
      try await owner.field("array", "Publish", "({'demo.Array.Done': <true>}, @a{sv} {})")
      for observer in observers {
        #expect(try await observer.result(as: Seen<Int>.self) == Seen(signals: 800, values: Array(0...100)))
      }
    }
  }
}
