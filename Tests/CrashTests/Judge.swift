import BusSupport
import DBusTypes
import TestSupport
import Testing

/// Looks at what a daemon has after its start, and compares it with what its writers remember.
final class Judge: @unchecked Sendable {
  let caller: Peer
  private var count: Int32 = 0
  private var highestRevision: UInt64 = 0

  init(on desktop: TestDesktop) async throws { caller = try await desktop.peer() }

  func prepare() async throws {
    for (id, key) in [(Writer.counter, Writer.counterKey), ("probe", "demo.Crash.Probe")] {
      try await caller.register(id, [(key, .int32(0))], [("linger", .boolean(true))])
    }
  }

  /// Checks everything, and settles what was open.
  func look(at writers: [Writer]) async throws {
    let owners = try await caller.owners()
    for writer in writers { try lookAtFields(of: writer, owners) }
    for writer in writers { try await lookAtLists(of: writer, all: false) }
    try await lookAtCounter(writers)
    try await lookAtFocus(writers)
    try await lookAtRevision(writers)
  }

  private func lookAtFields(of writer: Writer, _ owners: [String: String]) throws {
    for id in writer.memory.fields.keys { try #require(owners[id] == writer.caller.name, "\(id) was acknowledged") }
    for id in writer.memory.gone { try #require(owners[id] == nil, "\(id) was unregistered") }
    if let open = writer.memory.openField {
      writer.memory.openField = nil
      if owners[open] == nil { writer.memory.gone.insert(open) } else { writer.memory.fields[open] = true }
    }
  }

  /// Checks the lists that were written last, or all of them.
  func lookAtLists(of writer: Writer, all: Bool) async throws {
    for (list, tokens) in writer.memory.lists where all || tokens.count < 60 {
      let found = try await tokensOf(list)
      if let open = writer.memory.openAppend, open.list == list {
        writer.memory.openAppend = nil
        try #require(found == tokens || found == tokens + [open.token], "\(list)")
        writer.memory.lists[list] = found
      } else {
        try #require(found == tokens, "\(list)")
      }
    }
    writer.memory.openAppend = nil
  }

  private func tokensOf(_ list: String) async throws -> [String] {
    guard case .array(let found)? = try await caller.read(Writer.listKey, at: Focus1.field(list)).value else {
      return []
    }
    return found.compactMap(\.basicText)
  }

  private func lookAtCounter(_ writers: [Writer]) async throws {
    guard case .int32(let now)? = try await caller.read(Writer.counterKey, at: Focus1.field(Writer.counter)).value
    else {
      throw RemoteError(name: "nil", message: "the counter is not there")
    }
    let written = writers.flatMap(\.memory.increments)
    let open = writers.filter(\.memory.hasOpenIncrement).count
    try #require(Set(written).count == written.count, "two increments made the same of it")
    try #require((Int(count) + written.count...Int(count) + written.count + open).contains(Int(now)))
    try #require(written.allSatisfy { $0 <= now && $0 > count })
    count = now
    for writer in writers {
      writer.memory.increments = []
      writer.memory.hasOpenIncrement = false
    }
  }

  private func lookAtFocus(_ writers: [Writer]) async throws {
    guard let writer = writers.first(where: \.focuses) else { return }
    let path = try await caller.fields("FocusPath")
    let possible = [writer.memory.focus, writer.memory.openFocus].compactMap { $0 }
    try #require(possible.contains(path.first ?? "") || (writer.memory.focus == nil && path.isEmpty))
    try #require(path.isEmpty || path == Writer.paths[path[0]])
    try #require(await caller.manager("FocusedField")?.basicText == path.first.map { Focus1.field($0) } ?? "/")
    let shown = try await caller.read("demo.Crash.Where").value
    #expect(shown == path.first.map { .string($0) })
    writer.memory.focus = path.first
    writer.memory.openFocus = nil
  }

  private func lookAtRevision(_ writers: [Writer]) async throws {
    let highest = writers.map(\.memory.highestRevision).max() ?? 0
    let now = try await caller.write("demo.Crash.Probe", .int32(count), at: Focus1.field("probe")).revision
    let unchanged = try await caller.read("demo.Crash.Probe", at: Focus1.field("probe")).revision
    #expect(unchanged == now)
    // A write of the value that is already there keeps the revision.
    try #require(now > highest || now == highestRevision, "the revision went back from \(highest) to \(now)")
    let next = try await caller.write("demo.Crash.Probe", .int32(-count - 1), at: Focus1.field("probe")).revision
    try #require(next > highest && next > highestRevision, "the revision went back from \(highest) to \(next)")
    highestRevision = next
  }
}
