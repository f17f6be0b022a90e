import BusSupport
import DBus
import EventLoop
import Foundation
import ProgramSupport
import TestSupport
import Testing
import WindowBridge

/// Programs of a Flatpak, whose connections to the buses are those of a proxy.
@Suite struct FlatpakTests {
  /// A desktop with one window.
  private final class OneWindow: WindowSource {
    private let desktop: Desktop
    var onChange: ((Desktop) -> Void)?
    var onEnd: ((String) -> Void)?

    init(_ window: Window) { desktop = Desktop(windows: [WindowID(1): window], front: WindowID(1)) }

    func start() { onChange?(desktop) }
    func raise(_ window: WindowID, _ completion: @escaping (String?) -> Void) { completion(nil) }
    func perform(_ action: WindowAction, on window: WindowID, _ completion: @escaping (String?) -> Void) {
      completion(nil)
    }
  }

  private static let proxy = 100
  private static let program: UInt32 = 200
  private static let scope = "app-flatpak-org.example.Editor-13.scope"
  /// The files in /proc of this process, of those in the Flatpak, and of a kernel thread.
  private static let files = [
    "\(getpid())/cgroup": "0::/user.slice\n", "\(getpid())/status": "NSpid:\t7\n", "\(proxy)/cgroup": "0::/\(scope)\n",
    "\(proxy)/comm": "xdg-dbus-proxy\n", "\(proxy)/cmdline": "xdg-dbus-proxy\0",
    "groups/\(scope)/cgroup.procs": "\(proxy)\n\(program)\n", "2/comm": "kthreadd\n", "2/cmdline": "",
  ]

  /// The accessibility bridge shows them with connections of its own, and says that they are the proxy's.
  ///
  /// Of a window of X11, KWin tells the number that its process has within the Flatpak.
  @Test(arguments: [program, 2]) func whatABridgeShowsIsInTheProgramsWindow(_ told: UInt32) async throws {
    try await TestDesktop.with { desktop in
      let (address, root) = (desktop.bus.address, desktop.bus.directory + "/proc")
      try ProcessTests.write(Self.files, to: URL(filePath: root))
      let isOver = Observed(false)
      async let served: Void = onThread {
        let loop = EventLoop()
        let bridge = WindowBridge(
          OneWindow(Window(title: "one", application: "org.example.Editor", process: told)),
          processes: Processes(root: root, groups: root + "/groups"), on: loop,
          log: Log(program: "test", isVerbose: false, showsPriorities: false))
        try bridge.start(on: .address(address))
        while !isOver.now { loop.turn(waitingAtMost: .milliseconds(1)) }
        withExtendedLifetime(bridge) {}
      }
      let peer = try await desktop.peer()
      try await peer.register("text", process: Self.proxy)
      try await peer.focus("text")
      let result: Result<Void, any Error>
      do { result = .success(try await peer.reached(["text", "w1"])) } catch { result = .failure(error) }
      isOver.update { $0 = true }
      try await served
      try result.get()
    }
  }
}
