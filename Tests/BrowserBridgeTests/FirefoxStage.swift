import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// A session with the daemon and a Firefox that has the extension, whose pages tell what they hold.
final class FirefoxStage: Sendable {
  private static let program = "/usr/bin/firefox-esr"
  private static let driver = Bundle.module.path(forResource: "firefox", ofType: "py", inDirectory: "Resources") ?? ""
  private static let pages = Bundle.module.path(forResource: "pages", ofType: nil, inDirectory: "Resources") ?? ""
  private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../Sources/BrowserBridge/Extension").standardized.path

  /// Whether Firefox is here.
  static let canRun = FileManager.default.isExecutableFile(atPath: program)

  let desktop: TestDesktop
  let client: Peer
  private let driver: ManagedProcess

  private init(_ desktop: TestDesktop, _ client: Peer, _ driver: ManagedProcess) {
    (self.desktop, self.client, self.driver) = (desktop, client, driver)
  }

  /// Runs `body` with all of it; the user shares all sites if `isShared`.
  static func with(
    isShared: Bool = true, isolation: isolated (any Actor)? = #isolation, _ body: (FirefoxStage) async throws -> Void
  ) async throws {
    try await TestDesktop.with { desktop in
      let client = try await desktop.peer()
      let installed = try await desktop.run([Products.browser, "install-host", "firefox"])
      #expect(installed.succeeded, "\(installed)")
      let driver = try await desktop.start(
        ["/usr/bin/python3", "-Bu", Self.driver, desktop.bus.directory + "/profile", sources],
        extra: ["MOZ_HEADLESS_WIDTH": "800", "MOZ_HEADLESS_HEIGHT": "600"])
      try await driver.line("Firefox")
      let stage = FirefoxStage(desktop, client, driver)
      try await stage.run("install")
      if isShared { try await stage.run("share", "all") }
      do {
        try await body(stage)
      } catch {
        try await stage.end()
        throw error
      }
      try await stage.end()
      try await eventually("no field of the browser") { try await client.fields().isEmpty }
    }
  }

  private func end() async throws {
    driver.closeInput()
    try await driver.finish()
  }

  // MARK: The browser

  /// Drives the browser.
  @discardableResult
  func run(_ operation: String, _ arguments: Any...) async throws -> Any? {
    let data = try JSONSerialization.data(withJSONObject: [operation] + arguments)
    let count = driver.progress.now.output.count
    driver.send(line: String(decoding: data, as: UTF8.self))
    let answer = try await driver.line(from: count, operation)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any])
    if let error = object["error"] { throw DriverError(description: "\(operation): \(error)") }
    return object["value"].flatMap { $0 is NSNull ? nil : $0 }
  }

  /// Serves a page of the test's resources, and opens it.
  func open(_ name: String) async throws {
    for file in try FileManager.default.contentsOfDirectory(atPath: Self.pages) {
      try await run("page", "/" + file, try String(contentsOfFile: Self.pages + "/" + file, encoding: .utf8))
    }
    try await run("open", "/" + name)
  }

  /// What the page's own script says that it holds.
  func held(_ what: String) async throws -> String {
    "\(try await run("script", "return String(held(arguments[0]))", what) ?? "nothing")"
  }

  /// Waits until the page's own script says so.
  func holds(_ what: String, _ value: String) async throws {
    try await eventually("\(what) holds \(value)") { try await self.held(what) == value }
  }

  /// Has the page's own script move focus.
  func focus(_ what: String) async throws { try await run("script", "focusOn(arguments[0])", what) }

  func script(_ text: String) async throws { try await run("script", text) }

  /// The process of the host; 0 if none has a field.
  func host() async throws -> Int32 {
    guard let owner = try await client.owners().values.first else { return 0 }
    let reply = try? await client.askBus("GetConnectionUnixProcessID", [.string(owner)])
    guard case .uint32(let process)? = reply?.first else { return 0 }
    return Int32(process)
  }

  /// Turns the extension on or off, as about:addons does.
  func enable(_ isEnabled: Bool) async throws {
    try await run(
      "chrome",
      """
      const { AddonManager } = ChromeUtils.importESModule("resource://gre/modules/AddonManager.sys.mjs");
      return AddonManager.getAddonByID("browser@focusd.org").then((addon) => addon.\(isEnabled ? "enable" : "disable")())
        .then(() => true);
      """)
  }

  // MARK: The daemon

  func get(_ key: String) async throws -> DBusValue? {
    do { return try await client.read("org.focusd." + key).value } catch let error as RemoteError {
      return .string(error.shortName)
    }
  }

  func shows(_ key: String, _ value: DBusValue?) async throws {
    do {
      try await eventually("\(key) is \(value.map { "\($0)" } ?? "nil")") { try await self.get(key) == value }
    } catch {
      Issue.record("\(key): \(String(describing: try await get(key))), not \(String(describing: value))")
      throw error
    }
  }

  /// Focuses an element, and waits until it is told by its name.
  func focusNamed(_ what: String) async throws {
    try await focus(what)
    try await shows("Element.Name", .string(what))
  }

  @discardableResult
  func write(
    _ key: String, _ value: DBusValue, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> DBusValue? {
    do {
      return try await client.write("org.focusd." + key, value).value
    } catch let error as RemoteError where error.shortName == "NotFocused" {
      // It says nothing of where.
      Issue.record("nothing has \(key): \(try await client.readAll())", sourceLocation: sourceLocation)
      throw error
    }
  }

  func runs(_ command: String, _ arguments: [DBusValue] = []) async throws {
    _ = try await client.invoke("org.focusd." + command, arguments)
  }

  func refusal(_ body: () async throws -> Void) async throws -> String? {
    do {
      try await body()
      return nil
    } catch let error as RemoteError {
      return error.shortName
    }
  }
}

struct DriverError: Error, CustomStringConvertible { let description: String }
