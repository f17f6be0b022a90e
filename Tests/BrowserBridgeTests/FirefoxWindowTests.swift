import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

extension FirefoxTests {
  static let canShow =
    TestDesktop.canDisplay
    && ["/usr/bin/openbox", "/usr/bin/xdotool", Products.windowBridge].allSatisfy(
      FileManager.default.isExecutableFile)

  /// Both have the same title, and Firefox does not tell which of them is in front while it hangs.
  @Test(.enabled(if: canShow)) func aWriteIsInTheWindowInFront() async throws {
    try await FirefoxStage.with(hasDisplay: true) { stage in
      var windows: [(handle: Any, field: String, path: [String])] = []
      for number in 0..<2 {
        let handle = number == 0 ? try await stage.run("handle") : try await stage.run("new", "window")
        try await stage.open("entries.html")
        try await stage.focusNamed("entry")
        try await eventually("a window") { try await stage.client.fields("FocusPath").count == 3 }
        let path = try await stage.client.fields("FocusPath")
        windows.append((try #require(handle), try #require(path.last), path))
      }
      let shown = windows.map(\.field)
      #expect(Set(shown).count == 2)
      for (index, window) in shown.enumerated() {
        try await stage.activate(window)
        try await eventually("a connection in \(window) alone") {
          try await !stage.client.adopted(by: window).isSubset(of: stage.client.adopted(by: shown[1 - index]))
        }
      }
      try await stage.shows("Element.Name", .string("entry"))

      let process = try await stage.browser()
      kill(process, SIGSTOP)
      try await stage.activate(shown[0])
      #expect(try await stage.client.fields("FocusPath") == windows[0].path)
      let write = stage.client.begin(.set("org.focusd.Text.Content", .string("first")))
      // The daemon has passed it on when it answers what comes after it.
      #expect(try await stage.client.fields("FocusPath") == windows[0].path)
      kill(process, SIGCONT)
      try await write.values()
      try await stage.run("switch", windows[0].handle)
      try await stage.holds("entry", "first")
      try await stage.run("switch", windows[1].handle)
      #expect(try await stage.held("entry") != "first")
    }
  }
}

extension FirefoxStage {
  /// The process of the browser.
  fileprivate func browser() async throws -> Int32 {
    let field = try #require(try await client.fields("FocusPath").first)
    guard case .uint32(let process)? = try await client.get("org.focusd.Focus1.Field.Process", at: Focus1.field(field))
    else { throw UnexpectedReply(reply: []) }
    return Int32(process)
  }

  /// Brings a window to the front, and waits until focus is in it.
  fileprivate func activate(_ window: String) async throws {
    let result = try await desktop.run(["/usr/bin/xdotool", "windowactivate", String(window.dropFirst())])
    #expect(result.succeeded, "\(result)")
    try await eventually("\(window) in front") { try await client.fields("FocusPath").last == window }
  }
}
