import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// What the tests of the bridge share.
extension TestDesktop {
  static let bridge = "org.focusd.Bridge1.Windows"
  static let project = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized.path()

  /// Starts the window bridge, and waits until it serves.
  func windowBridge(
    _ arguments: [String] = [], _ environment: [String: String] = [:], program: String = Products.windowBridge
  ) async throws -> ManagedProcess {
    let bridge = try await start([program, "--verbose", "--address", bus.address] + arguments, extra: environment)
    _ = try await bridge.progress.wait(for: "bridge") { progress in
      progress.errors.contains { $0.hasSuffix("serving as \(Self.bridge)") } || progress.exit != nil ? true : nil
    }
    return bridge
  }

  /// Starts the window bridge as it is installed, with the script for KWin beside it.
  func installedWindowBridge(
    in directory: String, _ arguments: [String] = [], _ environment: [String: String] = [:]
  ) async throws -> ManagedProcess {
    let script = Self.project + "/Systemd/kwin-windows.js"
    for (name, from) in [("bin", Products.windowBridge), ("share/focusd", script)] {
      try FileManager.default.createDirectory(atPath: "\(directory)/\(name)", withIntermediateDirectories: true)
      #expect(try await run(["/usr/bin/cp", from, "\(directory)/\(name)"]).succeeded)
    }
    let session = ["DBUS_SESSION_BUS_ADDRESS": bus.address].merging(environment) { $1 }
    return try await windowBridge(arguments, session, program: directory + "/bin/focusd-windows")
  }

  /// Starts the window bridge with a window manager that the test plays.
  func windowBridge(
    _ stub: StubManager, _ arguments: [String] = [], _ environment: [String: String] = [:]
  ) async throws -> ManagedProcess {
    try await windowBridge(arguments, environment.merging(["SWAYSOCK": stub.path]) { $1 })
  }

  /// Starts the window bridge with a Wayland compositor that the test plays.
  func windowBridge(_ fake: FakeCompositor) async throws -> ManagedProcess {
    try await windowBridge([], ["WAYLAND_DISPLAY": fake.path])
  }
}

extension Peer {
  static let title = "org.focusd.Window.Title"

  /// The window fields, by title.
  func windows() async throws -> [String: String] {
    var windows: [String: String] = [:]
    for id in try await fields() {
      if let title = try? await get(Self.title, at: Focus1.field(id))?.basicText { windows[title] = id }
    }
    return windows
  }

  /// Where the menus of a window are, as the bridge's own object says.
  func menus(_ window: String) async throws -> [String: DBusValue] {
    let field = DBusValue.objectPath(ObjectPath(known: Focus1.field(window)))
    let call = DaemonCall(
      to: TestDesktop.bridge, "/org/focusd/Bridge1/Windows", TestDesktop.bridge, "Menus", [field])
    guard case .dictionary(let menus)? = try await self.call(call).first else { return [:] }
    return Dictionary(
      menus.entries.map { ($0.key.basicText ?? "", $0.value.variantContent ?? $0.value) }
    ) { first, _ in first }
  }

  /// Expects that the addresses of a window of `actions.py` lead to its own actions.
  func hasActions(_ window: String) async throws {
    try await eventually("menus") { try await self.menus(window)["gtk-window-object-path"] != nil }
    let menus = try await menus(window)
    let (name, path) = (menus["gtk-unique-bus-name"]?.basicText ?? "", menus["gtk-window-object-path"]?.basicText ?? "")
    let actions = try await call(DaemonCall(to: name, path, "org.gtk.Actions", "List"))
    #expect(actions == [.strings(["mark"])])
    #expect(menus["gtk-application-id"] == .string("org.focusd.test.Actions"))
  }

  func path() async throws -> [String] { try await fields("FocusPath") }

  /// Waits until focus is where it is to stay, and says what is there if it is not.
  func reached(_ path: [String]) async throws {
    do {
      try await eventually("focus path \(path)") { try await self.path() == path }
    } catch let error as DeadlinePassed {
      Issue.record("the focus path is \(try await self.path())")
      throw error
    }
  }

  func parent(of id: String) async throws -> String? {
    try await get("org.focusd.Focus1.Field.Parent", at: Focus1.field(id))?.basicText.flatMap(Focus1.id)
  }

  /// Registers a field that belongs to the process `process`.
  func register(_ id: String, process: Int) async throws {
    try await register(id, [("demo.Form.Name", .string(id))], [("process", .uint32(UInt32(process)))])
  }
}
