internal import DBus
internal import DBusTypes
internal import EventLoop
internal import ProgramSupport

/// Connections to programs themselves, beside the accessibility bus, for calls in which a program may do anything.
///
/// ATK's bridge carries a call out while it receives from the connection that it came on. If that opens a dialog with a loop of
/// its own, as GTK 3's do, the program freezes for good when something else is received there before the dialog is closed: of the
/// accessibility bus the answer about the first key that is pressed, of a program's own connection any message, or its end.
final class PeerConnections {
  /// A connection, when the program was called there last, and which windows it had then; nil: that call is over.
  private struct Entry {
    let connection: Connection
    var windows: Set<ElementReference>?
    /// Whether the call was not answered in time, and has not been since.
    var isUnanswered = false
    let last = SuspendingClock.now
  }

  /// How long a program may take to show the dialog that a call opens.
  private static let opening = Duration.seconds(1)

  /// How many connections to one program there are at most.
  ///
  /// None is closed while the program is there, which would not give all of its descriptors back.
  private static let limit = 16
  /// How many of them are for calls that open nothing.
  private static let spare = 8
  /// How many programs are known.
  private static let programLimit = 256

  private static let prefix = "unix:path="

  private let manager = ServiceManager()
  private var entries: [BusName: [Entry]] = [:]
  /// The programs that offer no connections, or none that can be reached from here.
  private var closed: Set<BusName> = []

  /// What was found.
  enum Outcome {
    case connection(Connection)
    /// The program offers none.
    case none
    /// It is in a call on each.
    case busy
  }

  /// Hands over a connection on which `program`, which is asked on `bus`, is in no call.
  func find(_ program: BusName, on bus: ProgramBus, _ handler: @escaping (Outcome) -> Void) {
    guard !closed.contains(program) else { return handler(.none) }
    let root = ElementReference(program, AccessibilityNames.root)
    bus.children(of: root, atMost: 1024, timeout: ProgramBus.changeTimeout) { [weak self, weak bus] answer in
      guard let self, let bus, let windows = (try? answer.get()).map(Set.init) else { return handler(.none) }
      if let connection = takeIdle(of: program, windows) { return handler(.connection(connection)) }
      guard self[program].count < Self.limit else { return handler(.busy) }
      askAddress(of: program, on: bus) { [weak self, weak bus] address in
        guard let self, let bus, let address else { return handler(.none) }
        open(address, to: program, bus) { [weak self] connection in
          guard let self, let connection else { return handler(.none) }
          entries[program, default: []].append(Entry(connection: connection, windows: windows))
          handler(.connection(connection))
        }
      }
    }
  }

  /// A connection to a program, which has these `windows` now, on which it is in no call.
  private func takeIdle(of program: BusName, _ windows: Set<ElementReference>) -> Connection? {
    guard var known = entries[program] else { return nil }
    // If it has no other windows than when it was called, a dialog that the call has opened is closed.
    func isOver(_ entry: Entry) -> Bool { !entry.isUnanswered && (entry.windows.map(windows.isSubset) ?? true) }
    let latest = SuspendingClock.now - Self.opening
    for index in known.indices where isOver(known[index]) && known[index].last < latest { known[index].windows = nil }
    entries[program] = known
    let idle = known.first { $0.windows == nil }
    // Of many calls within that time, most open nothing.
    let oldest = known.count < Self.spare ? nil : known.filter(isOver).min { $0.last < $1.last }
    guard let connection = (idle ?? oldest)?.connection else { return nil }
    leave(connection, to: program)
    entries[program, default: []].append(Entry(connection: connection, windows: windows))
    return connection
  }

  /// The connections to `program` that are open.
  subscript(program: BusName) -> [Connection] { entries[program]?.map(\.connection) ?? [] }

  /// A program has not answered on a connection in time, or has done so later: until then nothing else is called there.
  func note(_ connection: Connection, to program: BusName, isUnanswered: Bool) {
    guard let index = entries[program]?.firstIndex(where: { $0.connection === connection }) else { return }
    entries[program]?[index].isUnanswered = isUnanswered
  }

  private func leave(_ connection: Connection, to program: BusName) {
    entries[program]?.removeAll { $0.connection === connection }
    if entries[program]?.isEmpty == true { entries[program] = nil }
  }

  /// A program has left.
  func forget(_ program: BusName) {
    entries[program] = nil
    closed.remove(program)
  }

  private func askAddress(of program: BusName, on bus: ProgramBus, _ handler: @escaping (String?) -> Void) {
    bus.call(
      program, AccessibilityNames.root, AccessibilityNames.application, "GetApplicationBusAddress",
      timeout: ProgramBus.changeTimeout, isOptional: true
    ) { [weak self] answer in
      if case .success(let values) = answer, case .string(let address)? = values.first, Self.isPathOfSocket(address) {
        return handler(address)
      }
      if !answer.isLate { self?.close(program) }
      handler(nil)
    }
  }

  /// Opens a connection, unless another process listens there than that of `program`.
  private func open(
    _ address: String, to program: BusName, _ bus: ProgramBus, _ handler: @escaping (Connection?) -> Void
  ) {
    bus.connection.askProcess(of: program, timeout: ProgramBus.questionTimeout) { [weak self, weak bus] process in
      guard let self, let bus, let process = try? process.get() else { return handler(nil) }
      // First without waiting, as libdbus would if nobody took the connection: only the program itself can keep it waiting
      // then, until systemd's watchdog ends the bridge.
      let probe = try? UnixStream(path: String(address.dropFirst(Self.prefix.utf8.count)), on: bus.loop)
      let listener = probe?.process
      probe?.close()
      guard listener == Int32(bitPattern: process), let connection = try? Connection(toPeer: address, on: bus.loop)
      else {
        close(program)
        return handler(nil)
      }
      connection.limitMessages(to: 1 << 16)
      // The connection outlives the bridge.
      if let socket = connection.socket { manager.hold(socket) }
      // It keeps itself until the program ends it, whatever becomes of the bus.
      connection.onDisconnect = { [weak self, weak loop = bus.loop] in
        self?.leave(connection, to: program)
        // Not within its own dispatching: this is the last to hold it.
        loop?.schedule(after: .zero) { connection.onDisconnect = nil }
      }
      handler(connection)
    }
  }

  private func close(_ program: BusName) {
    if closed.count >= Self.programLimit { closed = [] }
    closed.insert(program)
  }

  /// Whether an address is that of one socket in the file system, and has ATK's name: others that programs may tell have libdbus
  /// run a program, or systemd start a service.
  private static func isPathOfSocket(_ address: String) -> Bool {
    // Escaped bytes are none that a runtime directory has.
    let isATK = address.split(separator: "/").suffix(2).contains { $0.hasPrefix("at-spi2-") }
    return isATK && address.hasPrefix(prefix + "/") && !address.utf8.contains { ";,%".utf8.contains($0) }
  }
}
