import BusSupport
import DBusTypes
import TestSupport
import Testing

/// The bridge and a KWin that the test plays: one that takes the script, and what the script tells.
@Suite struct KWinTests {
  /// A connection with KWin's name.
  private struct KWin: Sendable {
    private static let bridge = "org.focusd.Bridge1.Windows.KWin"
    static let leave = DaemonCall.bus("ReleaseName", [.string("org.kde.KWin")])

    let peer: Peer
    let calls = Observed<[String]>([])
    /// Whether the script is loaded.
    private let isLoaded = Observed(false)

    init(_ desktop: TestDesktop) async throws {
      peer = try await desktop.peer()
      peer.answer { [calls, isLoaded] call, _ in
        calls.update { $0.append(call.member) }
        switch call.member {
        case "loadScript": isLoaded.update { $0 = true }
        case "unloadScript": isLoaded.update { $0 = false }
        case "isScriptLoaded": return .values([.boolean(isLoaded.now)])
        default: break
        }
        return .values([])
      }
      try await peer.own("org.kde.KWin")
    }

    static func tell(_ member: String, _ text: String...) -> DaemonCall {
      DaemonCall(to: bridge, "/org/focusd/windows/KWin", bridge, member, text.map { .string($0) })
    }

    /// Loses the script, as if somebody had unloaded it.
    func unload() {
      isLoaded.update { $0 = false }
      calls.update { $0 = [] }
    }

    /// Tells of a window in front, once the script is to run.
    func show(_ title: String) async throws {
      _ = try await calls.wait(for: "script") { $0.contains("start") ? true : nil }
      let window = #"{"id":"\#(title)","title":"\#(title)","minimize":true}"#
      peer.send(Self.tell("Begin"), Self.tell("Window", window), Self.tell("Front", title), Self.tell("Ready"))
    }
  }

  private static func with(_ body: @Sendable (TestDesktop, KWin, Peer) async throws -> Void) async throws {
    try await withBridge { desktop, kwin, peer, bridge in
      try await body(desktop, kwin, peer)
      #expect(bridge.progress.now.exit == nil)
    }
  }

  private static func withBridge(
    _ body: @Sendable (TestDesktop, KWin, Peer, ManagedProcess) async throws -> Void
  ) async throws {
    try await TestDesktop.with { desktop in
      let (kwin, peer) = (try await KWin(desktop), try await desktop.peer())
      let bridge = try await desktop.installedWindowBridge(
        in: desktop.bus.directory, ["--source", "kwin"], ["WAYLAND_DISPLAY": desktop.bus.directory + "/nobody"])
      try await kwin.show("one")
      try await peer.reached([try await peer.window("one")])
      try await body(desktop, kwin, peer, bridge)
    }
  }

  /// Else KWin would go on calling, and tell whoever takes the name.
  @Test func theScriptEndsWithTheBridge() async throws {
    try await Self.withBridge { _, kwin, _, bridge in
      kwin.calls.update { $0 = [] }
      bridge.terminate()
      try await bridge.finish()
      try await kwin.calls.wait(for: "the script is unloaded") { $0 == ["unloadScript"] ? () : nil }
    }
  }

  /// Whatever makes the bridge ask for the script, which tells nothing when it ends.
  @Test func aScriptThatIsUnloadedIsLoadedAgain() async throws {
    typealias Occasion = (name: String, occur: @Sendable () async throws -> Void)
    try await Self.withBridge { desktop, kwin, peer, bridge in
      let occasions: [Occasion] = [
        (
          "focus",
          {
            let front = try await peer.path().last ?? ""
            #expect(try await desktop.focusctl("focus", front).succeeded)
          }
        ),
        ("command", { _ = try await peer.invoke("org.focusd.Window.Minimize") }),
        ("signal", { kwin.peer.perform { $0.emit("/VirtualDesktopManager", "test.Desktops", "currentChanged", []) } }),
      ]
      for (name, occur) in occasions {
        // While it is there, it stays.
        kwin.calls.update { $0 = [] }
        for count in 1...2 {
          try await occur()
          try await kwin.calls.wait(for: name) { calls in
            calls.count { $0 == "isScriptLoaded" } == count ? () : nil
          }
        }
        #expect(!kwin.calls.now.contains("unloadScript"), "\(name)")
        kwin.unload()
        try await occur()
        try await kwin.show(name)
        try await peer.reached([try await peer.window(name)])
      }
      try await bridge.says("KWin runs its script no longer")
    }
  }

  /// Also if it had just told that no window is in front, which counts a moment later.
  @Test func theWindowsOfOneThatEndsAreForgotten() async throws {
    try await Self.with { _, kwin, peer in
      kwin.peer.send(KWin.tell("Front", ""), KWin.leave)
      try await eventually("its windows are gone") { try await peer.fields() == [] }
    }
  }

  /// Also while the windows of the one before would not be forgotten yet.
  @Test func oneThatComesBackTellsThatNoWindowIsInFront() async throws {
    try await Self.with { desktop, kwin, peer in
      try await kwin.peer.call(KWin.leave)
      let next = try await KWin(desktop)
      try await next.show("two")
      try await peer.reached([try await peer.window("two")])
      next.peer.send(KWin.tell("Front", ""))
      try await peer.reached([])
      #expect(try await peer.windows().keys.sorted() == ["two"])
    }
  }
}
