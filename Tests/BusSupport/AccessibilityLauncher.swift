internal import DBusTypes
internal import Glibc
package import TestSupport

/// What gives a session its accessibility bus.
package struct AccessibilityLauncher: Sendable {
  package static let path = "/usr/libexec/at-spi-bus-launcher"
  /// The environment of accessible programs on an X server.
  package static let environment = [
    "GDK_BACKEND": "x11", "GSETTINGS_BACKEND": "memory", "GSK_RENDERER": "cairo", "GTK_USE_PORTAL": "0",
    "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "NO_AT_BRIDGE": "0", "QT_QPA_PLATFORM": "xcb",
  ]

  /// The address of the accessibility bus.
  package let address: String
  private let desktop: TestDesktop
  private let process: ManagedProcess

  /// Starts it, and waits until the bus is there.
  package init(_ desktop: TestDesktop, _ environment: [String: String] = environment) async throws {
    self.desktop = desktop
    process = try await desktop.start(
      // What it starts outlives it, and would keep its output open.
      ["/bin/sh", "-c", "exec \(Self.path) >/dev/null 2>&1"], extra: environment)
    let session = try await desktop.peer()
    try await session.waitForOwner(of: "org.a11y.Bus")
    let reply = try await session.call(DaemonCall(to: "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress"))
    address = reply.first?.basicText ?? ""
    try await session.leave()
  }

  /// Tells Qt 5, which looks for the bus where a display manager would have written its address.
  package func tellQt() async throws -> CommandResult {
    try await desktop.run(["/usr/bin/xprop", "-root", "-f", "AT_SPI_BUS", "8s", "-set", "AT_SPI_BUS", address])
  }

  /// The names of whatever the programs of this name show now, such as the texts of labels.
  package func texts(of program: String) async throws -> [String] {
    let bus = try await Peer(to: address)
    var (found, texts) = ([Element](), [String]())
    for element in try await children(of: ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root"), bus) {
      if try await name(of: element, bus) == program { found += try await children(of: element, bus) }
    }
    while let element = found.popLast() {
      guard try await isShowing(element, bus) else { continue }
      found += try await children(of: element, bus)
      texts.append(try await name(of: element, bus))
    }
    try await bus.leave()
    return texts
  }

  /// Whether a program of this name shows the accessibility of a window.
  package func hasWindow(of program: String) async throws -> Bool {
    let bus = try await Peer(to: address)
    var isThere = false
    for element in try await children(of: ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root"), bus) {
      if try await name(of: element, bus) == program, try await !children(of: element, bus).isEmpty { isThere = true }
    }
    try await bus.leave()
    return isThere
  }

  private typealias Element = (owner: String, path: String)

  private static let accessible = "org.a11y.atspi.Accessible"

  private func children(of element: Element, _ bus: Peer) async throws -> [Element] {
    guard case .array(let children)? = try await ask(element, bus, "GetChildren") else { return [] }
    return children.compactMap { child in
      guard case .structure(let parts) = child, let owner = parts.first?.basicText else { return nil }
      return parts.last?.basicText.map { (owner, $0) }
    }
  }

  private func isShowing(_ element: Element, _ bus: Peer) async throws -> Bool {
    guard case .array(let states)? = try await ask(element, bus, "GetState"), case .uint32(let first)? = states.first
    else { return false }
    // ATSPI_STATE_SHOWING
    return first & (1 << 25) != 0
  }

  private func name(of element: Element, _ bus: Peer) async throws -> String {
    let name: [DBusValue] = [.string(Self.accessible), .string("Name")]
    return try await ask(element, bus, of: Focus1.properties, "Get", name)?.variantContent?.basicText ?? ""
  }

  /// What an element answers; nil if it refuses, as one does that has gone meanwhile, or whose program has just started.
  private func ask(
    _ element: Element, _ bus: Peer, of interface: String = accessible, _ member: String, _ arguments: [DBusValue] = []
  ) async throws -> DBusValue? {
    let call = DaemonCall(to: element.owner, element.path, interface, member, arguments)
    do { return try await bus.call(call).first } catch let error as RemoteError where error.isRemote { return nil }
  }

  /// Ends it, and what it has started, which outlives it otherwise.
  package func end() async throws {
    let bus = try await Peer(to: address)
    let process = try await bus.askBus("GetConnectionUnixProcessID", [.string("org.freedesktop.DBus")]).first
    try await bus.leave()
    if case .uint32(let number)? = process { kill(Int32(number), SIGTERM) }
    try await self.process.stop()
  }
}
