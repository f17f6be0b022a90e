import BusSupport
import DBusTypes
import TestSupport
import Testing

/// A client that writes until the daemon is gone, and remembers what it was told.
///
/// A call that was under way when the daemon went may have been done or not: it is open until somebody has looked.
final class Writer: @unchecked Sendable {
  /// What must be found of the writer's doings.
  struct Memory {
    /// Increments of the shared counter that were acknowledged since it was last looked at, by the value written.
    var increments: [Int32] = []
    var hasOpenIncrement = false
    /// The tokens that were appended to each list of the writer.
    var lists: [String: [String]] = [:]
    var openAppend: (list: String, token: String)?
    /// The fields that are there, each with whether it lingers, and those that are gone.
    var fields: [String: Bool] = [:]
    var gone: Set<String> = []
    var openField: String?
    var focus: String?
    var openFocus: String?
    var highestRevision: UInt64 = 0
  }

  static let counter = "counter"
  static let counterKey = "demo.Crash.Count"
  static let listKey = "demo.Crash.Items"
  /// The fields that the focusing writer moves focus among, each with its focus path.
  static let paths = [
    "window": ["window"], "panel": ["panel", "window"], "entry1": ["entry1", "panel", "window"],
    "entry2": ["entry2", "panel", "window"],
  ]

  let number: Int
  let caller: Peer
  var memory = Memory()
  private var random: SeededGenerator
  private var serial = 0
  private var list = ""
  private let acknowledged: Observed<Int>

  init(_ number: Int, on desktop: TestDesktop, _ acknowledged: Observed<Int>) async throws {
    self.number = number
    self.acknowledged = acknowledged
    caller = try await desktop.peer()
    random = SeededGenerator(seed: UInt64(number))
  }

  var focuses: Bool { number == 0 }

  /// Registers what the writer begins with.
  func prepare() async throws {
    try await beginList()
    guard focuses else { return }
    for id in ["window", "panel", "entry1", "entry2"] {
      let parent = Self.paths[id]?.dropFirst().first.map { (name: "parent", value: Focus1.fieldPath($0)) }
      try await caller.register(id, [("demo.Crash.Where", .string(id))], parent.map { [$0] } ?? [])
      memory.fields[id] = false
    }
  }

  /// Writes until the daemon is gone.
  /// - Throws: `RemoteError` if it refuses what it should not.
  func run() async throws {
    do {
      while true {
        try await step()
        acknowledged.update { $0 += 1 }
      }
    } catch let error as RemoteError where error.isAbsence {}
  }

  private func step() async throws {
    switch Int.random(in: 0..<(focuses ? 12 : 8), using: &random) {
    case 0..<3: try await increment()
    case 3..<6: try await append()
    case 6: try await register()
    case 7: try await unregister()
    default: try await focus()
    }
  }

  private func increment() async throws {
    while true {
      let path = Focus1.field(Self.counter)
      let before = try await caller.read(Self.counterKey, at: path)
      guard case .int32(let count)? = before.value else {
        throw RemoteError(name: "nil", message: "the counter is nil")
      }
      memory.hasOpenIncrement = true
      do {
        note(
          try await caller.write(Self.counterKey, .int32(count + 1), [("revision", .uint64(before.revision))], at: path)
        )
        memory.increments.append(count + 1)
        memory.hasOpenIncrement = false
        return
      } catch let error as RemoteError where error.shortName == "Conflict" {
        memory.hasOpenIncrement = false
      }
    }
  }

  private func append() async throws {
    if memory.lists[list, default: []].count >= 60 { try await beginList() }
    serial += 1
    let token = "token\(number).\(serial)"
    memory.openAppend = (list, token)
    note(try await caller.write(Self.listKey + "/-", .string(token), at: Focus1.field(list)))
    memory.lists[list, default: []].append(token)
    memory.openAppend = nil
  }

  private func beginList() async throws {
    serial += 1
    let id = "list\(number)_\(serial)"
    memory.openField = id
    try await caller.register(
      id, [(Self.listKey, .array(DBusArray(known: .string, [])))],
      [("linger", .boolean(true))])
    memory.openField = nil
    memory.fields[id] = true
    memory.lists[id] = []
    list = id
  }

  private func register() async throws {
    serial += 1
    let id = "field\(number)_\(serial)"
    let lingers = Bool.random(using: &random)
    memory.openField = id
    try await caller.register(
      id, [("demo.Crash.Serial", .int32(Int32(serial)))], [("linger", .boolean(lingers))])
    memory.openField = nil
    memory.fields[id] = lingers
  }

  private func unregister() async throws {
    guard let id = memory.fields.keys.filter({ $0.hasPrefix("field") }).sorted().first else { return }
    memory.openField = id
    memory.fields[id] = nil
    try await caller.field(id, "Unregister")
    memory.openField = nil
    memory.gone.insert(id)
  }

  private func focus() async throws {
    guard let id = Self.paths.keys.sorted().randomElement(using: &random) else { return }
    memory.openFocus = id
    try await caller.field(id, "Focus")
    memory.openFocus = nil
    memory.focus = id
  }

  private func note(_ written: Reading) {
    #expect(written.revision > memory.highestRevision)
    memory.highestRevision = max(memory.highestRevision, written.revision)
  }
}
