import BusSupport
import DBusTypes
import TestSupport
import Testing

/// A window and an entry in it, of two independent owners on GDBus, with overlapping keys and commands.
@Suite("Focus moves 10,000 times between nested owners while clients read, write and invoke")
struct JudgedScene {
  /// What an answer is that cannot be one of a single moment.
  struct Torn: Error {
    let what: String
  }

  /// Which editor a value or a result is of: the part before the colon.
  private static func editor(_ value: DBusValue?) throws -> String {
    guard let text = value?.basicText, let first = text.split(separator: ":", omittingEmptySubsequences: false).first
    else { throw Torn(what: "no text: \(String(describing: value))") }
    return String(first)
  }

  /// Reads one key, and checks that the value is of the field that is said to have it.
  private static func read(_ client: Peer) async throws {
    let reading = try await client.read("demo.Edit.A")
    guard reading.value != nil else { return }
    guard try editor(reading.value) == reading.field else { throw Torn(what: "\(reading)") }
  }

  /// Reads all there is: both keys of one editor, and the window's own where there is anything.
  private static func readAll(_ client: Peer) async throws {
    let all = try await client.readAll()
    let (a, b) = (try editor(all["demo.Edit.A"] ?? .string("")), try editor(all["demo.Edit.B"] ?? .string("")))
    let names = Set(all.keys)
    let window: Set = ["demo.Edit.A", "demo.Edit.B", "demo.Window.Name"]
    switch a {
    case "": guard names.isEmpty else { throw Torn(what: "\(all)") }
    case "window": guard b == "window", names == window else { throw Torn(what: "\(all)") }
    default:
      guard a == "entry", b == "entry", names == window.union(["demo.Entry.Name"]) else { throw Torn(what: "\(all)") }
    }
  }

  /// Writes where focus is, and, after reading, only where it was.
  private static func write(_ client: Peer, _ number: Int) async throws {
    do {
      let written = try await client.write("demo.Edit.A", .string("\(number)"))
      guard written.value == .string("\(written.field):\(number)") else { throw Torn(what: "\(written)") }
      let reading = try await client.read("demo.Edit.B")
      guard reading.value != nil else { return }
      let field = DBusValue.objectPath(ObjectPath(known: Focus1.field(reading.field)))
      let conditional = try await client.write("demo.Edit.B", .string("\(number)"), [("field", field)])
      guard conditional.field == reading.field, conditional.value == .string("\(reading.field):\(number)") else {
        throw Torn(what: "\(conditional) after \(reading)")
      }
    } catch let error as RemoteError where ["NotFocused", "Conflict"].contains(error.shortName) {}
  }

  /// Calls the command that both have, and one of each alone.
  private static func invoke(_ client: Peer) async throws {
    do {
      let who = try await client.call(Focus1.focused, "demo.Edit", "Who")
      guard ["entry", "window"].contains(who.first?.basicText) else { throw Torn(what: "\(who)") }
      let inserted = try await client.invoke("demo.Edit.Insert", [.string(""), .int32(0)])
      guard inserted == [.string(""), .uint32(0)] else { throw Torn(what: "\(inserted)") }
      // The window is on the path whichever of the two has focus.
      _ = try await client.call(Focus1.focused, "demo.Window", "Close")
      _ = try await client.call(Focus1.focused, "demo.Entry", "Close")
    } catch let error as RemoteError where error.shortName == "NotFocused" {}
  }

  /// Has the clients go on until both owners have moved focus so often, each by half, and each has had its turns.
  private static func play(_ owners: [ManagedProcess], _ clients: [Peer], moves: Int) async throws {
    let starts = owners.map { $0.progress.now.output.count }
    let (isOver, late) = (Observed(false), Observed(0))
    for owner in owners { owner.send(line: "move \(moves / 2)") }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, client) in clients.enumerated() {
        group.addTask {
          var calls = 0
          repeat {
            do {
              switch index % 4 {
              case 0: try await read(client)
              case 1: try await readAll(client)
              case 2: try await write(client, calls)
              default: try await invoke(client)
              }
            } catch let error as RemoteError where error.shortName == "Timeout" {
              late.update { $0 += 1 }
            }
            calls += 1
          } while !isOver.now || calls < 20
        }
      }
      for (owner, start) in zip(owners, starts) {
        // It is work, which may take long, and no event.
        _ = try await owner.progress.wait(for: "moves", within: .seconds(900)) {
          $0.output.dropFirst(start).contains("moved \(moves / 2)") ? true : nil
        }
      }
      isOver.update { $0 = true }
      try await group.waitForAll()
    }
    // An owner that is held up once is late for all of them.
    #expect(late.now <= clients.count)
  }

  @Test("Each answer belongs to one focus, each call is answered, and memory ends where it began")
  func judged() async throws {
    try await TestDesktop.with { desktop in
      let owners = [
        try await desktop.script(resource("editor.py"), "window"),
        try await desktop.script(resource("editor.py"), "entry", "window"),
      ]
      var clients: [Peer] = []
      for _ in 0..<8 { clients.append(try await desktop.peer()) }
      _ = try await Self.play(owners, clients, moves: 2000)
      let before = desktop.daemon.privateMemory
      try await Self.play(owners, clients, moves: 10_000)
      #expect(desktop.daemon.privateMemory < before + (2 << 20))
      for owner in owners {
        let problems = owner.progress.now.output.filter { $0.hasPrefix("error") } + owner.progress.now.errors
        #expect(problems.isEmpty)
      }
      for client in clients {
        try await client.settle()
        #expect(client.replies.count == Set(client.replies).count)
      }

      // At rest, all is as it should be.
      owners[0].send(line: "focus")
      try await owners[0].line { $0 == "focus" }
      #expect(try await clients[0].call(Focus1.focused, "demo.Edit", "Who") == [.string("window")])
      for owner in owners { try await owner.stop() }
      try await eventually("no field is left") { try await clients[0].fields().isEmpty }
      #expect(try await clients[0].readAll().isEmpty)
    }
  }
}
