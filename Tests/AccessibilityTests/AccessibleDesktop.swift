import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// A session with a daemon, the bridge, and an accessibility bus whose programs the test makes up.
final class AccessibleDesktop: DaemonSession {
  struct Status: Sendable {
    var isEnabled = false
    /// How often it was asked that.
    var enabledQuestions = 0
    /// Whether there is one that says so, and one that only listens.
    var hasScreenReader = false
    var hasListener = false
    /// How often it will not say whether it is enabled.
    var refusals = 0
    /// The properties that it does not tell.
    var silent: Set<String> = []
    var events: Set<String> = []
    /// As in at-spi2-core 2.62: accessibility is on while somebody listens, and nothing is told of screen readers.
    var tellsNoScreenReader = false
    /// The programs that the registry knows.
    var programs: [String] = []
    /// How often it was asked for them, and whether it does not say.
    var questions = 0
    var isSilent = false
  }

  private struct State {
    var bus: ManagedProcess?
    var registry: Peer?
    var bridge: ManagedProcess?
    /// The programs live as long as the desktop.
    var programs: [StubProgram] = []
  }

  let desktop: TestDesktop
  let status = Observed(Status())
  let address = Observed("")
  private let state = Observed(State())
  let session: Peer

  private init(_ desktop: TestDesktop) async throws {
    self.desktop = desktop
    session = try await desktop.peer()
    session.answer(at: "/org/a11y/bus") { [status, address] call, thread in
      switch call.member {
      case "GetAddress": return .values([.string(address.now)])
      case "Get":
        let isRefused = status.update { status in
          defer { status.refusals -= 1 }
          return status.refusals > 0
        }
        if isRefused { return .error("org.freedesktop.DBus.Error.Failed", "not yet") }
        let isReader = call.arguments.last == .string("ScreenReaderEnabled")
        if isReader, status.now.tellsNoScreenReader {
          return .error("org.freedesktop.DBus.Error.InvalidArgs", "no such property")
        }
        if !isReader { status.update { $0.enabledQuestions += 1 } }
        if status.now.silent.contains(isReader ? "ScreenReaderEnabled" : "IsEnabled") { return .hold }
        return .values([.variant(.boolean(isReader ? status.now.hasScreenReader : status.now.isEnabled))])
      case "Set":
        guard case .boolean(let isOn)? = call.arguments.last?.variantContent else { return .values([]) }
        status.update { $0.isEnabled = isOn }
        thread.emitChanged(call.path, "org.a11y.Status", [("IsEnabled", .boolean(isOn))])
        return .values([])
      default: return .error("org.freedesktop.DBus.Error.UnknownMethod", call.member)
      }
    }
  }

  /// Runs `body` with all of it, the bridge started with `arguments`.
  static func with(
    _ arguments: String..., isolation: isolated (any Actor)? = #isolation,
    _ body: (AccessibleDesktop) async throws -> Void
  ) async throws {
    try await TestDesktop.with { desktop in
      let accessible = try await AccessibleDesktop(desktop)
      try await accessible.startBus()
      try await accessible.session.own("org.a11y.Bus")
      try await accessible.startBridge(arguments)
      do {
        try await body(accessible)
      } catch {
        let values = (try? await accessible.values()).map { "\($0)" } ?? "unknown"
        Issue.record("the bridge said \(accessible.bridge.progress.now.errors), focus is at \(values)")
        throw error
      }
      try await accessible.endBridge()
      try await accessible.endBus()
    }
  }

  var bridge: ManagedProcess {
    guard let bridge = state.now.bridge else { preconditionFailure("no bridge has been started") }
    return bridge
  }

  // MARK: The accessibility bus

  private static let configuration = """
    <busconfig><type>session</type><listen>unix:dir=%1</listen><policy context="default">
    <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
    <policy context="mandatory">%2</policy>
    <limit name="max_incoming_bytes">1000000000</limit><limit name="max_outgoing_bytes">1000000000</limit>
    <limit name="max_message_size">1000000000</limit></busconfig>
    """

  private var configurationFile: String { desktop.bus.directory + "/accessibility.conf" }

  private func configure(_ file: String, policy: String) throws {
    try Self.configuration.replacing("%1", with: desktop.bus.directory).replacing("%2", with: policy).write(
      toFile: file, atomically: true, encoding: .utf8)
  }

  /// Has the bus refuse to tell the processes of its connections, or tell them again.
  func reconfigureBus(tellsProcesses: Bool) async throws {
    let bus = "org.freedesktop.DBus"
    let denied =
      "<deny send_destination='\(bus)' send_interface='\(bus)' send_member='GetConnectionUnixProcessID'/>"
    try configure(configurationFile, policy: tellsProcesses ? "" : denied)
    try await registry?.askBus("ReloadConfig")
  }

  func startBus() async throws {
    let file = configurationFile
    try configure(file, policy: "")
    let bus = try await desktop.start(
      ["/usr/bin/dbus-daemon", "--nofork", "--nopidfile", "--print-address=1", "--config-file=" + file])
    let found = try await bus.line("address")
    address.update { $0 = found }
    let registry = try await Peer(to: found)
    registry.answer { [status] call, _ in
      switch call.member {
      case "RegisterEvent": status.update { _ = $0.events.insert(call.arguments[0].basicText ?? "") }
      case "DeregisterEvent": status.update { _ = $0.events.remove(call.arguments[0].basicText ?? "") }
      case "GetRegisteredEvents":
        if status.now.silent.contains("listeners") { return .hold }
        let listeners = [call.sender] + (status.now.hasListener ? [":1.4711"] : [])
        let events = listeners.map { DBusValue.structure([.string($0), .string("Object:StateChanged:Focused")]) }
        return .values([.array(DBusArray(known: .structure([.string, .string]), events))])
      case "GetChildren":
        status.update { $0.questions += 1 }
        if status.now.isSilent { return .hold }
        let programs = status.now.programs.map { program in
          DBusValue.structure([.string(program), .objectPath(ObjectPath(known: StubProgram.root))])
        }
        return .values([.array(DBusArray(known: .structure([.string, .objectPath]), programs))])
      default: break
      }
      return .values([])
    }
    try await registry.own("org.a11y.atspi.Registry")
    state.update { ($0.bus, $0.registry) = (bus, registry) }
  }

  /// Has accessibility offered anew, with another bus; the one before, which is returned, goes on.
  func replaceBus() async throws -> ManagedProcess? {
    let old = state.now.bus
    status.update { ($0.events, $0.programs) = ([], []) }
    try await startBus()
    try await session.askBus("ReleaseName", [.string("org.a11y.Bus")])
    try await session.own("org.a11y.Bus")
    return old
  }

  /// Ends the accessibility bus, as a crash does.
  func endBus() async throws {
    try await state.now.bus?.stop()
    status.update { ($0.events, $0.programs) = ([], []) }
  }

  var bus: ManagedProcess? { state.now.bus }
  var registry: Peer? { state.now.registry }

  /// Waits until the bridge listens.
  func isListening() async throws {
    _ = try await status.wait(for: "registered events") { $0.events.contains("Window:Destroy") ? true : nil }
    try await registry?.settleAtBus()
  }

  /// A program with a window and nothing in it.
  func program(
    _ name: String = "stub", toolkit: String = "Qt", version: String = "3.24.38", isRegistered: Bool = true
  ) async throws -> StubProgram {
    let program = StubProgram(try await Peer(to: address.now), name: name, toolkit: toolkit, version: version)
    if isRegistered { status.update { $0.programs.append(program.peer.name) } }
    state.update { $0.programs.append(program) }
    program.set("/window", StubElement(role: 23, states: 1 << 1, name: "The window", parent: StubProgram.root))
    return program
  }

  /// Has the registry know a program that was not registered, or tell that one is gone; unless it `isListed`, it is not among
  /// its children yet.
  func tell(_ change: String, of program: StubProgram, isListed: Bool = true) {
    if change == "add", isListed { status.update { $0.programs.append(program.peer.name) } }
    let child = DBusValue.structure([.string(program.peer.name), .objectPath(ObjectPath(known: StubProgram.root))])
    registry?.perform {
      $0.emit(
        StubProgram.root, StubProgram.interface + "Event.Object", "ChildrenChanged",
        [.string(change), .int32(0), .int32(0), .variant(child), .properties([])])
    }
  }

  /// A program in front, with the text `text` in an entry that has focus; the daemon knows it unless that is not told.
  @discardableResult
  func program(
    _ name: String = "stub", toolkit: String = "Qt", version: String = "3.24.38", entry text: String,
    isTold: Bool = true
  ) async throws -> StubProgram {
    let program = try await program(name, toolkit: toolkit, version: version)
    program.set("/entry", .entry(text))
    program.focusSilently("/entry")
    guard isTold else { return program }
    program.activate()
    program.focus("/entry")
    try await waits(for: "Text.Content", .string(text))
    return program
  }

  // MARK: The bridge

  func startBridge(_ arguments: [String] = [], waits: Bool = true) async throws {
    let bridge = try await desktop.start(
      [Products.accessibility, "--verbose", "--address", desktop.bus.address] + arguments)
    state.update { $0.bridge = bridge }
    if waits { try await isListening() }
  }

  /// Ends the bridge, which must live until then and end in order.
  func endBridge() async throws {
    let bridge = bridge
    guard bridge.progress.now.exit == nil else { throw BridgeDied(said: bridge.progress.now.errors.suffix(5)) }
    bridge.terminate()
    guard try await bridge.finish() == .status(0) else { throw BridgeDied(said: bridge.progress.now.errors.suffix(5)) }
  }
}

/// A session whose daemon a test asks.
protocol DaemonSession: Sendable {
  var desktop: TestDesktop { get }
  var session: Peer { get }
  var bridge: ManagedProcess { get }
}

extension DaemonSession {
  /// The focused values by key; none if nothing has focus.
  func values() async throws -> [String: DBusValue] { try await session.readAll() }

  func get(_ key: String) async throws -> DBusValue? { try await values()["org.focusd." + key] }

  func set(_ key: String, _ value: DBusValue) async throws { try await session.set("org.focusd." + key, value) }

  /// Why a write is refused, or nil.
  func refusal(_ key: String, _ value: DBusValue) async throws -> RemoteError? {
    do {
      try await set(key, value)
      return nil
    } catch let error as RemoteError {
      return error
    }
  }

  func run(_ command: String, _ arguments: [DBusValue] = []) async throws {
    try await session.call(.invoke("org.focusd." + command, arguments))
  }

  /// Waits until `key` has a value.
  func waits(for key: String, _ value: DBusValue?) async throws {
    try await eventually("\(key) is \(value.map { "\($0)" } ?? "nil")") {
      // That it has crashed is told at once, and not as what does not come.
      let progress = bridge.progress.now
      if case .signal(let signal)? = progress.exit, [SIGABRT, SIGILL].contains(signal) {
        throw BridgeDied(said: progress.errors.suffix(5))
      }
      return try await get(key) == value
    }
  }

  /// Waits until nothing has focus.
  func waitsForNothing() async throws { try await eventually("no focus") { try await self.values().isEmpty } }

  /// The path of the field that has focus, or nil.
  func focusedField() async throws -> String? {
    let reply = try await session.call(
      Focus1.manager, Focus1.properties, "Get", [.string(Focus1.managerInterface), .string("FocusedField")])
    guard case .objectPath(let path)? = reply.first?.variantContent, path != .root else { return nil }
    return path.text
  }

  /// The lines of all fields.
  func fields() async throws -> [String] { try await desktop.focusctl("list").output }

  /// The keys that resolve, those that may only be written too.
  func keys() async throws -> Set<String> {
    let reply = try await session.call(
      Focus1.focused, Focus1.properties, "Get", [.string(Focus1.bindings), .string("Keys")])
    guard case .array(let keys)? = reply.first?.variantContent else { return [] }
    return Set(keys.compactMap(\.basicText))
  }
}

struct BridgeDied: Error {
  let said: [String]
}

extension Peer {
  /// Waits until the bus has handled what the peer has sent.
  func settleAtBus() async throws { try await askBus("GetId") }
}
