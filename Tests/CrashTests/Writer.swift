import BusSupport
import DBus
import DBusTypes
import Synchronization
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
  let caller: Caller
  var memory = Memory()
  private var random: SeededGenerator
  private var serial = 0
  private var list = ""
  private let acknowledged: Observed<Int>

  init(_ number: Int, on bus: PrivateBus, _ acknowledged: Observed<Int>) throws {
    self.number = number
    self.acknowledged = acknowledged
    caller = try Caller(on: bus)
    random = SeededGenerator(seed: UInt64(number))
  }

  var focuses: Bool { number == 0 }

  /// Registers what the writer begins with.
  func prepare() throws {
    try beginList()
    guard focuses else { return }
    for id in ["window", "panel", "entry1", "entry2"] {
      let parent = Self.paths[id]?.dropFirst().first.map { Focus1.field($0) }
      let options = try parent.map { [(name: "parent", value: DBusValue.objectPath(try ObjectPath($0)))] } ?? []
      try caller.register(id, [(name: "demo.Crash.Where", value: .string(id))], options)
      memory.fields[id] = false
    }
  }

  /// Writes until the daemon is gone.
  /// - Throws: `CallError` if it refuses what it should not.
  func run() throws {
    do {
      while true {
        try step()
        acknowledged.update { $0 += 1 }
      }
    } catch let error as CallError where error.isAbsence {}
  }

  private func step() throws {
    switch Int.random(in: 0..<(focuses ? 12 : 8), using: &random) {
    case 0..<3: try increment()
    case 3..<6: try append()
    case 6: try register()
    case 7: try unregister()
    default: try focus()
    }
  }

  private func increment() throws {
    while true {
      let path = Focus1.field(Self.counter)
      let before = try caller.read(Self.counterKey, at: path)
      guard case .int32(let count)? = before.value else { throw CallError(name: nil, message: "the counter is nil") }
      memory.hasOpenIncrement = true
      do {
        note(try caller.write(Self.counterKey, .int32(count + 1), at: path, revision: before.revision))
        memory.increments.append(count + 1)
        memory.hasOpenIncrement = false
        return
      } catch let error as CallError where error.name == "org.focusd.Focus1.Error.Conflict" {
        memory.hasOpenIncrement = false
      }
    }
  }

  private func append() throws {
    if memory.lists[list, default: []].count >= 60 { try beginList() }
    serial += 1
    let token = "token\(number).\(serial)"
    memory.openAppend = (list, token)
    note(try caller.write(Self.listKey + "/-", .string(token), at: Focus1.field(list)))
    memory.lists[list, default: []].append(token)
    memory.openAppend = nil
  }

  private func beginList() throws {
    serial += 1
    let id = "list\(number)_\(serial)"
    memory.openField = id
    try caller.register(
      id, [(name: Self.listKey, value: .array(DBusArray(known: .string, [])))],
      [(name: "linger", value: .boolean(true))])
    memory.openField = nil
    memory.fields[id] = true
    memory.lists[id] = []
    list = id
  }

  private func register() throws {
    serial += 1
    let id = "field\(number)_\(serial)"
    let lingers = Bool.random(using: &random)
    memory.openField = id
    try caller.register(
      id, [(name: "demo.Crash.Serial", value: .int32(Int32(serial)))], [(name: "linger", value: .boolean(lingers))])
    memory.openField = nil
    memory.fields[id] = lingers
  }

  private func unregister() throws {
    guard let id = memory.fields.keys.filter({ $0.hasPrefix("field") }).sorted().first else { return }
    memory.openField = id
    memory.fields[id] = nil
    try caller.field(id, "Unregister")
    memory.openField = nil
    memory.gone.insert(id)
  }

  private func focus() throws {
    guard let id = Self.paths.keys.sorted().randomElement(using: &random) else { return }
    memory.openFocus = id
    try caller.field(id, "Focus")
    memory.openFocus = nil
    memory.focus = id
  }

  private func note(_ revision: UInt64) {
    #expect(revision > memory.highestRevision)
    memory.highestRevision = max(memory.highestRevision, revision)
  }
}
