import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing
import WindowBridge

/// What a compositor must not send, and what nobody expects it to.
@Suite struct WaylandLiesTests {
  /// The first window that the compositor names, and what the bridge has bound.
  private static let window: UInt32 = 0xff00_0001
  private static let manager: UInt32 = 5
  private static let desktops: UInt32 = 4

  private static func event(_ object: UInt32, _ opcode: Int, _ arguments: WaylandArgument...) -> [UInt8] {
    WaylandMessage.bytes(object, opcode, arguments)
  }

  /// A message whose header says what it is not.
  private static func header(_ object: UInt32, size: UInt32, opcode: UInt32 = 0) -> [UInt8] {
    withUnsafeBytes(of: (object, size << 16 | opcode)) { Array($0) }
  }

  private static func number(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }

  /// What is told, and whether the connection ends with it.
  static let lies: [(name: String, bytes: [UInt8], ends: Bool)] = [
    ("a size below a header's", header(1, size: 4), true), ("a size of nothing", header(1, size: 0), true),
    ("a size that is no multiple of four", header(1, size: 13) + [1, 2, 3, 4, 5], true),
    ("an error", event(1, 0, .number(1), .number(2), .string("invalid object")), true),
    ("an error that is too short", header(1, size: 12) + number(7), true),
    ("a string past its message", header(window, size: 12) + number(10 << 20), true),
    ("a string of all numbers", header(window, size: 12) + number(.max), true),
    ("a string without an end", header(window, size: 16) + number(4) + Array("abcd".utf8), true),
    ("a title that is too short", header(window, size: 8), true),
    ("an array past its message", header(window, size: 12, opcode: 4) + number(4 << 20), true),
    ("a window with a client's number", event(manager, 0, .number(3)), true),
    ("a window twice", event(manager, 0, .number(window)), true),
    ("an empty string", header(window, size: 12) + number(0), false),
    ("an array that is no multiple of four", header(window, size: 16, opcode: 4) + number(3) + number(2), false),
    ("an unknown opcode", event(window, 999, .string("what")), false),
    ("an unknown object", event(0xdead_beef, 0, .string("what")), false), ("object 0", event(0, 0), false),
    ("an object that nobody destroyed", event(1, 1, .number(77)) + event(1, 1, .number(1)), false),
    ("a callback's end again", event(3, 0, .number(1)), false),
    ("events of a destroyed object", event(window, 6) + event(window, 0, .string("gone")), false),
    ("a hundred thousand unknown objects", (0..<100_000).flatMap { event(0x1000 + $0, 3, .number($0)) }, false),
    (
      "a hundred thousand globals", (0..<20_000).flatMap { event(2, 0, .number($0), .string("wl_x\($0)"), .number(1)) },
      false
    ),
    ("titles of 60 kB", (0..<200).flatMap { _ in longTitle + event(window, 5) }, false),
    ("a message that never ends", header(window, size: 0xfffc), false),
  ]

  private static let longTitle = event(window, 0, .string(String(repeating: "é", count: 30_000)))

  @Test(.serialized, arguments: lies.indices) func theNextConnectionIsRight(_ index: Int) async throws {
    let (name, bytes, ends) = Self.lies[index]
    try await TestDesktop.with { desktop in
      let (fake, peer) = (FakeCompositor(in: desktop.bus.directory, .wlr), try await desktop.peer())
      fake.state.update { ($0.views, $0.front) = ([5: .init(title: "one"), 6: .init(title: "two")], 5) }
      let bridge = try await desktop.windowBridge(fake)
      try await peer.reached([try await peer.window("one")])
      // Two if the first took too long.
      let before = fake.state.now.connections
      fake.send(bytes)
      if !ends {
        #expect(fake.state.now.connections == before, "\(name)")
        // In mid-message, or not: what is right comes with another connection.
        fake.breakOff()
      }
      _ = try await fake.state.wait(for: name) { $0.connections > before ? true : nil }
      try await eventually("its windows, after \(name)") { try await peer.windows().keys.sorted() == ["one", "two"] }
      fake.focus(6)
      try await eventually("two in front, after \(name)") { try await peer.read(Peer.title).value == .string("two") }
      #expect(bridge.progress.now.exit == nil, "\(name)")
    }
  }

  /// All that is sent from the beginning of each connection, until the bridge gives up or is asked to end.
  @Test(arguments: ["windows", "closed windows", "desktops", "places", "no done", "no title"])
  func oneThatOnlyLiesIsWaitedForLongerAndLonger(_ kind: String) async throws {
    try await TestDesktop.with { desktop in
      let isPlasma = ["desktops", "closed windows", "places"].contains(kind)
      let fake = FakeCompositor(in: desktop.bus.directory, isPlasma ? .plasma : .wlr)
      let peer = try await desktop.peer()
      fake.state.update { ($0.views, $0.front) = ([5: .init(title: "one")], 5) }
      let bridge = try await desktop.windowBridge(fake)
      try await peer.reached([try await peer.window("one")])
      let base = bridge.residentMemory
      // It is long in the making, and whoever serves the bridge would wait for the state meanwhile.
      let lie = Self.lie(kind)
      fake.state.update { $0.lie = lie }
      fake.breakOff()
      _ = try await fake.state.wait(for: "connections") {
        $0.connections > (kind.hasPrefix("no") ? 1 : 3) ? true : nil
      }
      #expect(isSanitized || bridge.peakMemory - base < 48 << 10, "\(bridge.peakMemory - base) KiB")
      fake.state.update { $0.lie = nil }
      fake.breakOff()
      try await eventually("its windows") { try await peer.windows().keys.sorted() == ["one"] }
      #expect(bridge.progress.now.exit == nil)
    }
  }

  private static func lie(_ kind: String) -> [UInt8] {
    switch kind {
    case "windows":
      let text = WaylandArgument.string(String(repeating: "x", count: 4000))
      return (0..<4000).flatMap { number -> [UInt8] in
        let next = window + UInt32(number)
        return event(manager, 0, .number(next)) + event(next, 0, text) + event(next, 5)
      }
    case "closed windows":
      // Each is asked for, and let go of: the compositor reads neither.
      return (0..<40_000).flatMap { number -> [UInt8] in
        let next: UInt32 = number == 0 ? 3 : 6 + UInt32(number)
        return event(manager, 4, .number(1), .string("\(number)")) + event(next, 5)
      }
    case "desktops":
      return (0..<50_000).flatMap { event(desktops, 0, .string("desktop \($0)"), .number(0)) }
        + event(1, 0, .number(1), .number(1), .string("at the end"))
    case "places":
      return (0..<1500).flatMap { number -> [UInt8] in
        let next: UInt32 = number == 0 ? 3 : 6 + UInt32(number)
        let places = (0..<30).flatMap { event(next, 11, .string("\($0)" + String(repeating: "x", count: 250))) }
        return event(manager, 4, .number(1), .string("\(number)")) + places
      } + event(1, 0, .number(1), .number(1), .string("at the end"))
    case "no done": return event(manager, 0, .number(window))
    default: return event(manager, 0, .number(window)) + event(window, 5)
    }
  }
}
