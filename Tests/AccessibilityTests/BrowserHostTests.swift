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
        try await eventually("the entry alone is gone") { try await desktop.get("Text.Content") == nil }
        #expect(try await desktop.session.fields().count == 1)
        browser.send(line: "kill")
        try await desktop.waits(for: "Document.Title", nil)
      }
      try await desktop.waits(for: "Text.Content", .string("over accessibility"))
      try await browser.stop()
    }
  }
}
