import Foundation
internal import TestSupport

/// A Firefox with a profile of its own, driven by a script beside the browser bridge's tests.
package struct FirefoxDriver: Sendable {
  private static let program = "/usr/bin/firefox-esr"
  private static let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../..").standardized.path

  /// Whether Firefox is here.
  package static let canRun = FileManager.default.isExecutableFile(atPath: program)

  private let process: ManagedProcess

  /// Tells Firefox of the extension's host, and starts it.
  /// - Throws: `SpawnError`, `DeadlinePassed`, `DriverError`.
  package init(on desktop: TestDesktop, _ options: [String], environment: [String: String]) async throws {
    let installed = try await desktop.run([Products.browser, "install-host", "firefox"])
    guard installed.succeeded else { throw DriverError(description: "\(installed)") }
    process = try await desktop.start(
      [
        "/usr/bin/python3", "-Bu", Self.project + "/Tests/BrowserBridgeTests/Resources/firefox.py",
        desktop.bus.directory + "/profile", Self.project + "/Sources/BrowserBridge/Extension",
      ] + options, extra: environment)
    try await process.line("Firefox")
  }

  /// Has the script do something.
  /// - Throws: `DriverError` if it cannot; `DeadlinePassed`.
  @discardableResult
  package func run(_ operation: String, _ arguments: [Any] = []) async throws -> Any? {
    let data = try JSONSerialization.data(withJSONObject: [operation] + arguments)
    let count = process.progress.now.output.count
    process.send(line: String(decoding: data, as: UTF8.self))
    let answer = try await process.line(from: count, operation)
    guard let object = try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any],
      object["error"] == nil
    else { throw DriverError(description: "\(operation): \(answer)") }
    return object["value"].flatMap { $0 is NSNull ? nil : $0 }
  }

  /// Turns the extension on or off, as about:addons does.
  package func enable(_ isEnabled: Bool) async throws {
    try await run(
      "chrome",
      [
        """
        const { AddonManager } = ChromeUtils.importESModule("resource://gre/modules/AddonManager.sys.mjs");
        return AddonManager.getAddonByID("browser@focusd.org").then((addon) => addon.\(isEnabled ? "enable" : "disable")())
          .then(() => true);
        """
      ])
  }

  /// Closes the browser.
  package func end() async throws {
    process.closeInput()
    try await process.finish()
  }
}

package struct DriverError: Error, CustomStringConvertible { package let description: String }
