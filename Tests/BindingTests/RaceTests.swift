import BusSupport
import DBusTypes
import TestSupport
import Testing

@Suite("Clients that write at the same time lose nothing")
struct RaceTests {
  private static let number = "demo.Form.Number"
  private static let items = "demo.Todo.Items"

  /// Reads a number and writes the next under the revision that it read, `times` times; says how often by field.
  private static func count(_ client: Peer, times: Int) async throws -> [String: Int] {
    var done: [String: Int] = [:]
    for _ in 0..<times {
      while true {
        let reading = try await client.read(number)
        guard case .int32(let value)? = reading.value else { throw UnexpectedReply(reply: []) }
        do {
          let written = try await client.write(number, .int32(value + 1), [("revision", .uint64(reading.revision))])
          #expect(written.value == .int32(value + 1))
          #expect(written.revision > reading.revision)
          done[Focus1.field(written.field), default: 0] += 1
          break
        } catch let error as RemoteError where error.shortName == "Conflict" {
          continue
        }
      }
    }
    return done
  }

  @Test("2 x 1,000 read-change-writes under revision, while focus moves between two fields")
  func readChangeWrite() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.witness()
      for id in ["a", "b"] { try await owner.register(id, "{'\(Self.number)': <0>}") }
      try await owner.field("a", "Focus")
      let script = try await ScriptClient(desktop, "count", Self.number, "1000")
      try await script.ready()
      script.go()
      async let ours = Self.count(desktop.peer(), times: 1000)
      for turn in 0..<200 { try await owner.field(turn % 2 == 0 ? "b" : "a", "Focus") }

      let counts = try await ours.merging(script.result(as: [String: Int].self), uniquingKeysWith: +)
      #expect(counts.values.reduce(0, +) == 2000)
      let client = try await desktop.peer()
      for id in ["a", "b"] {
        let value = try await client.read(Self.number, at: Focus1.field(id)).value
        #expect(value == .int32(Int32(counts[Focus1.field(id), default: 0])))
      }
    }
  }

  @Test("TodoList: 2 x 1,000 appends and toggles of elements, from four clients")
  func todoList() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.witness()
      try await owner.register("todo", "{'\(Self.items)': <[('wash', false), ('cook', false), ('iron', false)]>}")
      try await owner.field("todo", "Focus")
      let before = try await desktop.peer().read(Self.items).revision
      let scripts = [
        try await ScriptClient(desktop, "append", Self.items, "500"),
        try await ScriptClient(desktop, "toggle", Self.items + "/2/1", "501"),
      ]
      for script in scripts { try await script.ready() }
      for script in scripts { script.go() }
      let (adder, toggler) = (try await desktop.peer(), try await desktop.peer())
      async let appended: Void = {
        for number in 500..<1000 {
          try await adder.write(Self.items + "/-", .structure([.string("\(number)"), .boolean(false)]))
        }
      }()
      async let toggled: Void = {
        for number in 0..<501 { try await toggler.write(Self.items + "/1/1", .boolean(number % 2 == 0)) }
      }()
      _ = try await (appended, toggled)
      for script in scripts { try await script.done() }

      let reading = try await desktop.peer().read(Self.items)
      // Each write took one number.
      #expect(reading.revision == before + 2002)
      guard case .array(let items)? = reading.value else { throw UnexpectedReply(reply: []) }
      let first: [DBusValue] = [("wash", false), ("cook", true), ("iron", true)].map {
        .structure([.string($0.0), .boolean($0.1)])
      }
      #expect(Array(items.prefix(3)) == first)
      let numbers = items.dropFirst(3).compactMap { item -> Int? in
        guard case .structure(let members) = item, members.last == .boolean(false) else { return nil }
        return members.first?.basicText.flatMap { Int($0) }
      }
      #expect(numbers.count == 1000)
      #expect(numbers.filter { $0 < 500 } == Array(0..<500))
      #expect(numbers.filter { $0 >= 500 } == Array(500..<1000))
    }
  }
}
