import EventLoop
import Foundation
import ProgramSupport
import TestSupport
import Testing
import WindowBridge

/// The Wayland protocol, without a bridge.
@Suite struct WaylandWireTests {
  /// What libwayland writes on a machine with the low byte first.
  @Test(.enabled(if: 1.littleEndian == 1)) func messagesAreAsTheProtocolSays() throws {
    let bind: [UInt8] =
      [2, 0, 0, 0, 0, 0, 32, 0, 9, 0, 0, 0, 8, 0, 0, 0] + Array("wl_seat\0".utf8) + [7, 0, 0, 0, 4, 0, 0, 0]
    #expect(
      WaylandMessage.bytes(2, 0, [.number(9), .string("wl_seat"), .number(7), .number(4)]) == bind)
    #expect(
      WaylandMessage.bytes(5, 4, [.list([2]), .string("é")])
        == [5, 0, 0, 0, 4, 0, 24, 0, 4, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0xc3, 0xa9, 0, 0])
    for size in [1, 2, 7, 8, 9, 31, 32, 64] {
      var (queue, messages) = (ByteQueue(), [WaylandMessage]())
      let bytes = bind + bind + bind
      for start in stride(from: 0, to: bytes.count, by: size) {
        queue.append(Array(bytes[start..<min(start + size, bytes.count)]))
        while let message = try queue.nextMessage() { messages.append(message) }
      }
      #expect(messages.count == 3, "pieces of \(size)")
      let arguments = try WaylandArguments(try #require(messages.last).body, "usuu")
      #expect((0..<5).map { arguments.number($0) } == [9, 0, 7, 4, 0])
      #expect(arguments.text(1) == "wl_seat")
      #expect(arguments.text(0) == "" && arguments.text(9) == "" && arguments.list(1).isEmpty)
    }
    #expect(try WaylandArguments([3, 0, 0, 0, 1, 2, 0, 0], "s").text(0) == "\u{1}\u{2}")
    for short in [[], [1], [4, 0, 0, 0], [4, 0, 0, 0, 1, 2, 3], [255, 255, 255, 255, 0, 0, 0, 0]] as [[UInt8]] {
      for signature in ["s", "a"] {
        #expect(throws: FramingError.self) { try WaylandArguments(short, signature) }
      }
    }
  }

  @Test func whatIsInFrontIsWhatBecameActiveLast() throws {
    var windows = WaylandWindows()
    for object: UInt32 in [10, 11] { try windows.add(object) }
    // (the window, whether it is active, which is in front then)
    let steps: [(UInt32, Bool, UInt64?)] = [
      (10, true, 1), (11, true, 2), (10, true, 2), (10, false, 2), (11, false, nil), (10, true, 1), (11, false, 1),
    ]
    for (object, isActive, front) in steps {
      windows.change(object) { $0.isActive = isActive }
      windows.complete(object)
      #expect(windows.desktop.front == front.map { WindowID($0) }, "\(object) \(isActive)")
    }
    // Two seats: what is active for the other stays in front, also if this one's is closed.
    for (object, isActive, front) in [(11, true, 2), (11, false, 1), (11, true, 2)] as [(UInt32, Bool, UInt64)] {
      windows.change(object) { $0.isActive = isActive }
      windows.complete(object)
      #expect(windows.desktop.front == WindowID(front))
    }
    windows.remove(10)
    #expect(windows.desktop.front == WindowID(2))
    windows.change(11) { $0.isActive = false }
    windows.complete(11)
    try windows.add(10, number: 1)
    windows.change(10) { $0.isActive = true }
    windows.complete(10)
    #expect(throws: FramingError.self) { try windows.add(12, number: 2) }
    windows.remove(10)
    #expect(windows.desktop.front == nil)
    let changes = [windows.takeChange(), windows.takeChange()]
    #expect(changes == [true, false])
    windows.change(77) { $0.isActive = true }
    windows.complete(77)
    #expect(windows.desktop.windows.keys.map(\.number) == [2])
    for number in 100..<100 + WaylandWindows.most - 1 { try windows.add(UInt32(number)) }
    #expect(throws: FramingError.self) { try windows.add(99) }
  }

  @Test func plasmaTellsWhereMenusAre() throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "focusd-wayland-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let fake = FakeCompositor(in: directory.path, .plasma)
    fake.state.update { $0.views = [5: .init(title: "one")] }
    let loop = EventLoop()
    let source = WaylandSource(
      path: fake.path, on: loop, log: Log(program: "test", isVerbose: false, showsPriorities: false))
    var told = Desktop()
    source.onChange = { told = $0 }
    try source.start()
    try loop.turn(until: "a window") { !told.windows.isEmpty }
    let menus = told.windows.values.first?.menus.parts
    #expect(menus == [.kdeBusName: "org.test.Menus", .kdeMenubar: "/menu/5"])
  }
}
