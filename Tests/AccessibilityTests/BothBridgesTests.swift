import BusSupport
import DBusTypes
import TestSupport
import Testing

/// The window bridge beside this one: whichever of them starts, stops or dies first, focus ends right.
@Suite struct BothBridgesTests {
  private static let programs = ["/usr/bin/yad", "/usr/bin/openbox", "/usr/bin/xterm"]

  @Test(.enabled(if: programs.allSatisfy { RealDesktop.canRun($0, Products.windowBridge) }))
  func focusEndsRightWhicheverEndsFirst() async throws {
    try await RealDesktop.with(mayEnd: true) { desktop in
      let session = desktop.desktop
      let manager = try await session.windowManager()
      let yad = try await session.start(
        ["/usr/bin/yad", "--title=Form", "--form", "--field=Name", "abc"], extra: AccessibilityLauncher.environment)
      let terminal = try await session.start(["/usr/bin/xterm", "-T", "terminal", "-e", "/bin/sleep", "1000"])

      // It takes focus as it appears.
      try await desktop.xdotool("search", "--sync", "--onlyvisible", "--name", "^terminal$")

      // Only the elements are known: a terminal has none that is shown.
      try await desktop.activate("Form")
      try await desktop.settles("Form", isElement: true, inWindow: false)

      var windows = try await session.startBridge([Products.windowBridge])
      try await desktop.settles("Form", isElement: true, inWindow: true)
      try await desktop.switches()

      // The terminal is in front when the window bridge dies, then the form.
      windows.terminate(9)
      _ = try await windows.finish()
      try await desktop.settles(nil, isElement: false, inWindow: false)
      try await desktop.activate("Form")
      try await desktop.settles("Form", isElement: true, inWindow: false)
      windows = try await session.startBridge([Products.windowBridge])
      try await desktop.switches()

      // The form is in front when this bridge dies.
      try await desktop.activate("Form")
      try await desktop.settles("Form", isElement: true, inWindow: true)
      desktop.bridge.terminate(9)
      _ = try await desktop.bridge.finish()
      try await desktop.settles("Form", isElement: false, inWindow: true)
      let elements = try await session.startBridge([Products.accessibility])
      try await desktop.settles("Form", isElement: true, inWindow: true)
      try await desktop.switches()

      // In order, and at once with the daemon.
      elements.terminate()
      #expect(try await elements.finish() == .status(0))
      try await desktop.settles("terminal", isElement: false, inWindow: true)
      let last = try await session.startBridge([Products.accessibility])
      try await session.crash()
      try await desktop.switches()

      for process in [last, windows, terminal, yad, manager] { try await process.stop() }
      try await eventually("no fields") { try await desktop.fields().isEmpty }
    }
  }
}

extension RealDesktop {
  fileprivate func activate(_ title: String) async throws {
    try await xdotool("search", "--sync", "--onlyvisible", "--name", "^\(title)$", "windowactivate")
  }

  /// Goes to the form, to the terminal and back and forth, which ends with the terminal.
  fileprivate func switches() async throws {
    for _ in 0..<2 {
      try await activate("Form")
      try await settles("Form", isElement: true, inWindow: true)
      try await activate("terminal")
      try await settles("terminal", isElement: false, inWindow: true)
    }
  }

  /// Waits until focus is in that window, as the bridges that are there show it.
  fileprivate func settles(_ title: String?, isElement: Bool, inWindow: Bool) async throws {
    try await eventually("focus in \(title ?? "no window"), element: \(isElement), window: \(inWindow)") {
      let path = try await self.session.fields("FocusPath")
      let values = try await self.values()
      return values["org.focusd.Window.Title"] == title.map { .string($0) }
        && (values["org.focusd.Element.Role"] == .string("textbox")) == isElement
        && path.count == (isElement ? 1 : 0) + (inWindow ? 1 : 0) && (path.last?.hasPrefix("w") == true) == inWindow
    }
  }
}
