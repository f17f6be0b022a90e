import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// A browser whose extension is connected is left alone, and served like others otherwise.
@Suite(.serialized) struct BrowserHostTests {
  private static let canRun =
    RealDesktop.canRun(Products.browser)
    && RealDesktop.hasPython("/usr/lib/python3/dist-packages/gi/__init__.py")

  @Test(.enabled(if: canRun, "needs GTK 3 for Python, and focusd-browser: .ci/setup test"))
  func aBrowserWithTheExtensionIsLeftAlone() async throws {
    try await RealDesktop.with { desktop in
      let browser = try await desktop.script(
        "browser", Products.browser, desktop.desktop.bus.address, title: "Browser")
      for _ in 0..<2 {
        try await desktop.waits(for: "Text.Content", .string("over accessibility"))
        browser.send(line: "start")
        try await desktop.waits(for: "Document.Title", .string("of the extension"))
        // Its field goes after focus has left it.
        try await eventually("the entry alone is gone") {
          let count = try await desktop.session.fields().count
          return try await desktop.get("Text.Content") == nil && count == 1
        }
        browser.send(line: "kill")
        try await desktop.waits(for: "Document.Title", nil)
      }
      try await desktop.waits(for: "Text.Content", .string("over accessibility"))
      try await browser.stop()
    }
  }

  private static let canRunFirefox = RealDesktop.canRun(Products.browser) && FirefoxDriver.canRun

  /// Firefox changes hands whenever its extension comes or goes, and always has one field for its entry.
  @Test(.enabled(if: canRunFirefox, "needs Firefox, and focusd-browser: .ci/setup test"))
  func firefoxIsServedByOneOfBoth() async throws {
    try await RealDesktop.with { desktop in
      let firefox = try await FirefoxDriver(
        on: desktop.desktop, ["--width", "800", "--height", "600"], environment: AccessibilityLauncher.environment)
      do {
        try await servedByOne(desktop, firefox)
      } catch {
        try await report(desktop)
        try await firefox.end()
        throw error
      }
      try await firefox.end()
      try await eventually("no field of the browser") { try await desktop.session.fields().isEmpty }
    }
  }

  private func report(_ desktop: RealDesktop) async throws {
    Issue.record("the bridge said \(desktop.bridge.progress.now.errors), and focus is at \(try await desktop.values())")
  }

  /// Opens a page whose entry has focus.
  private func open(in desktop: RealDesktop, _ firefox: FirefoxDriver) async throws {
    try await firefox.run(
      "page", ["/page.html", "<!doctype html><title>Page</title><input aria-label=entry value=held autofocus>"])
    try await firefox.run("open", ["/page.html"])
    try await desktop.xdotool("search", "--sync", "--onlyvisible", "--name", "^Page", "windowfocus")
  }

  /// Waits until the extension serves the entry, or accessibility; never both, and never with the other's keys.
  private func isServed(_ desktop: RealDesktop, byExtension: Bool) async throws {
    try await desktop.waits(for: "Document.Title", byExtension ? .string("Page") : nil)
    try await desktop.waits(for: "Element.Name", .string("entry"))
    try await desktop.waits(for: "Text.Content", .string("held"))
    try await eventually("one bridge alone") { Set(try await desktop.session.owners().values).count == 1 }
    #expect(try await desktop.get("Document.Title") == (byExtension ? .string("Page") : nil))
  }

  private func servedByOne(_ desktop: RealDesktop, _ firefox: FirefoxDriver) async throws {
    func isServed(byExtension: Bool) async throws { try await self.isServed(desktop, byExtension: byExtension) }
    // It does not tell of focus that has come to rest before it turns accessibility on, which takes its time.
    try await eventually("Firefox's window") { try await desktop.launcher.hasWindow(of: "Firefox") }
    try await open(in: desktop, firefox)
    try await isServed(byExtension: false)
    try await firefox.run("install")
    try await firefox.run("share", ["all"])
    try await firefox.run("open", ["/page.html"])
    try await isServed(byExtension: true)
    // A host that is killed is started again.
    let host = try #require(try await self.host(desktop))
    kill(host, SIGKILL)
    try await eventually("another host") { try await self.host(desktop).map { $0 != host } == true }
    try await isServed(byExtension: true)
    try await firefox.enable(false)
    try await isServed(byExtension: false)
    try await firefox.enable(true)
    try await isServed(byExtension: true)
  }

  /// The process of the host that has fields.
  private func host(_ desktop: RealDesktop) async throws -> Int32? {
    for owner in Set(try await desktop.session.owners().values) {
      let reply = try? await desktop.session.askBus("GetConnectionUnixProcessID", [.string(owner)])
      if case .uint32(let process)? = reply?.first, Int32(process) != desktop.bridge.processID { return Int32(process) }
    }
    return nil
  }
}
