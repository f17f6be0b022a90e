import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// A session with the daemon and a Firefox that has the extension, whose pages tell what they hold.
final class FirefoxStage: Sendable {
  private static let pages = Bundle.module.path(forResource: "pages", ofType: nil, inDirectory: "Resources") ?? ""

  let desktop: TestDesktop
  let client: Peer
  let driver: FirefoxDriver

  private init(_ desktop: TestDesktop, _ client: Peer, _ driver: FirefoxDriver) {
    (self.desktop, self.client, self.driver) = (desktop, client, driver)
  }

  /// Runs `body` with all of it; the user shares all sites if `isShared`, and sees windows that the window bridge follows if
  /// `hasDisplay`.
  static func with(
    isShared: Bool = true, hasDisplay: Bool = false, isolation: isolated (any Actor)? = #isolation,
    _ body: (FirefoxStage) async throws -> Void
  ) async throws {
    try await TestDesktop.with { desktop in
      let client = try await desktop.peer()
      var others: [ManagedProcess] = []
      if hasDisplay {
        try await desktop.display()
        others.append(try await desktop.windowManager())
        others.append(try await desktop.start([Products.windowBridge, "--address", desktop.bus.address]))
      }
      let size = ["MOZ_HEADLESS_WIDTH": "800", "MOZ_HEADLESS_HEIGHT": "600"]
      let driver = try await FirefoxDriver(on: desktop, hasDisplay ? [] : ["--headless"], environment: size)
      let stage = FirefoxStage(desktop, client, driver)
      try await stage.run("install")
      if isShared { try await stage.run("share", "all") }
      do {
        try await body(stage)
      } catch {
        try await driver.end()
        throw error
      }
      try await driver.end()
      for process in others.reversed() { try await process.stop() }
      try await eventually("no field of the browser") { try await client.fields().isEmpty }
    }
  }

  // MARK: The browser

  /// Drives the browser.
  @discardableResult
  func run(_ operation: String, _ arguments: Any...) async throws -> Any? {
    try await driver.run(operation, arguments)
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

  /// The path of the field that has focus.
  func focusedField() async throws -> String {
    Focus1.field(try #require(try await client.fields("FocusPath").first))
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
}
