import BusSupport
import CDBus
import DBusTypes
import EventLoop
import FocusContract
import Foundation
import ProgramSupport
import TestSupport
import Testing

@testable import DBus
@testable import FocusService

/// Connections of the tables.
let (anna, bert, carl, dora) = (":1.1", ":1.2", ":1.3", ":1.4")
let everyone: Set<String> = [anna, bert, carl, dora]

/// The service in the test's own thread, on a bus that the test plays and a loop that the test turns.
final class Stage {
  let directory: String
  private(set) var bus: Loopback
  private var loop = EventLoop()
  private var connection: Connection?
  private var service: FocusService?
  private let logDescriptor: Int32
  private let stranger = ":1.9"
  /// How long owners may take in the recoveries of services that are started from now on: long enough for any machine.
  var ownersTime = Duration.seconds(60)
  /// What the service started last would have given them by itself.
  private(set) var usualOwnersTime = Duration.zero
  /// How many calls it was handed.
  private var handed: UInt32 = 0
  /// What the service's signals have told since it was started last.
  private var followed = View()

  private init(in directory: String) throws {
    self.directory = directory
    bus = try Loopback(socket: directory + "/bus", names: [])
    logDescriptor = open(directory + "/log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
  }

  deinit { close(logDescriptor) }

  /// So few at a time that none takes the seconds that the service gives owners.
  private static let gate = Gate(places: 4)

  /// Runs `body` with a stage in a directory of its own, on which the service has begun, on a thread that may wait.
  static func with<Result: Sendable>(_ body: @escaping @Sendable (Stage) throws -> Result) async throws -> Result {
    await gate.enter()
    defer { gate.leave() }
    return try await onThread {
      let name = "focusd-service.\(UUID().uuidString)"
      let directory = FileManager.default.temporaryDirectory.appending(path: name).path()
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(atPath: directory) }
      let stage = try Stage(in: directory)
      defer { stage.end() }
      try stage.start()
      return try body(stage)
    }
  }

  private func end() {
    service = nil
    connection = nil
    bus.end()
  }

  // MARK: The service

  /// Who has sent the object of the field `id` something for which its owner has not been asked yet.
  func queueing(at id: String) throws -> Set<String> {
    guard let object = service?.objects[try FieldID(id)] else { return [] }
    return everyone.filter { object.isQueueing(for: BusName(known: $0)) }
  }

  private var stateDirectory: String { directory + "/state" }
  var stateFile: String { stateDirectory + "/state.db" }

  /// Starts the service on a new bus with `names` on it; one that runs already ends as if it were killed.
  /// - Returns: what it has sent meanwhile.
  @discardableResult
  func start(names: Set<String> = everyone, _ prepare: (Loopback) -> Void = { _ in }) throws -> [Sent] {
    end()
    bus = try Loopback(socket: directory + "/bus", names: names)
    prepare(bus)
    loop = EventLoop()
    let connection = try Connection(to: .address(bus.address), timeout: .seconds(60))
    self.connection = connection
    let log = Log(program: "focusd", isVerbose: false, showsPriorities: false, descriptor: logDescriptor)
    let service = FocusService(connection, on: loop, log: log, stateFile: StateFile(path: stateFile))
    usualOwnersTime = service.ownersTime
    service.ownersTime = ownersTime
    self.service = service
    try service.start()
    let sent = bus.collect()
    followed = try View(turn(View.calls.map { .call(stranger, $0) }))
    return sent
  }

  /// Restarts the service, with what has been saved, on a bus with `names`; owners in `levels` answer at once, with these.
  func restart(names: Set<String> = everyone, answering levels: [String: Int32] = [:]) throws {
    try start(names: names) { bus in
      for (owner, level) in levels {
        bus.setLevel(level, of: owner)
        for member in ["Introspect", "GetAll"] { bus.script(owner, member, [.answer(owner, member)]) }
      }
    }
  }

  /// Restarts the service, which begins before anyone's object has answered.
  func restart(withoutWaitingFor owners: [String]) throws {
    ownersTime = .zero
    try start()
    ownersTime = .seconds(60)
    for owner in owners { try wait(for: "Introspect", of: owner) }
  }

  /// Puts a file where the state's directory was: from now on nothing can be saved.
  func breakState() throws {
    if FileManager.default.fileExists(atPath: stateDirectory) {
      try FileManager.default.moveItem(atPath: stateDirectory, toPath: stateDirectory + ".away")
    }
    try Data().write(to: URL(filePath: stateDirectory))
  }

  /// Undoes `breakState`.
  func mendState() throws {
    try FileManager.default.removeItem(atPath: stateDirectory)
    if FileManager.default.fileExists(atPath: stateDirectory + ".away") {
      try FileManager.default.moveItem(atPath: stateDirectory + ".away", toPath: stateDirectory)
    }
  }

  /// How many transactions the write-ahead log holds: SQLite's documentation, "The WAL File Format".
  func commits() throws -> Int {
    let log = try [UInt8](Data(contentsOf: URL(filePath: stateFile + "-wal")))
    func number(_ offset: Int) -> Int { log[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
    guard log.count >= 32 else { return 0 }
    let frame = 24 + number(8)
    let frames = stride(from: 32, through: log.count - frame, by: frame)
    return frames.count { log[$0 + 8..<$0 + 16] == log[16..<24] && number($0 + 4) != 0 }
  }

  // MARK: Turns

  /// Delivers `letters`, and turns the loop once when the service's connection has all of them.
  /// - Returns: what the service has sent since the turn before.
  @discardableResult
  func turn(_ letters: [Letter] = []) throws -> [Sent] {
    let before = bus.collect()
    try bus.deliver(letters, whenFull: receive)
    receive()
    loop.turn(waitingAtMost: .zero)
    let sent = before + bus.collect()
    for signal in sent where signal.isSignal { followed.see(signal) }
    return sent
  }

  /// Hands the service a call of `caller` with `count` descriptors, which no letter carries, as if it had been delivered.
  func call(from caller: String, _ call: BusSupport.DaemonCall, descriptors count: Int) throws {
    let raw = dbus_message_new_method_call(call.destination, call.path, call.interface, call.member)
    let message = Message(adopting: try #require(raw))
    var iterator = DBusMessageIter()
    dbus_message_iter_init_append(message.raw, &iterator)
    var descriptor = logDescriptor
    for _ in 0..<count { dbus_message_iter_append_basic(&iterator, Int32(UInt8(ascii: "h")), &descriptor) }
    dbus_message_set_sender(message.raw, caller)
    // Above those of letters.
    handed += 1
    dbus_message_set_serial(message.raw, 1 << 30 + handed)
    try #require(service).receive(message)
  }

  /// What waits for owners, for a service that has begun on its own.
  func ownerCalls() throws -> OwnerCalls { OwnerCalls(try #require(connection)) }

  /// Reads all that has been delivered into the connection, and handles none of it.
  private func receive() {
    guard let connection else { return }
    var socket: Int32 = -1
    dbus_connection_get_socket(connection.raw, &socket)
    var byte: UInt8 = 0
    while recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0 { dbus_connection_read_write(connection.raw, 0) }
    // libdbus has told nobody of what it has read.
    connection.attach(to: loop)
  }

  /// Turns until `letters` are handled, and owners have answered all that they were asked for because of them.
  /// - Returns: what the service has sent since the turn before.
  @discardableResult
  func settle(_ letters: [Letter] = []) throws -> [Sent] {
    var sent = try turn(letters)
    while true {
      let more = try turn(bus.questions.map { .answer($0.destination, $0.member) })
      guard !more.isEmpty || !bus.questions.isEmpty else { return sent }
      sent += more
    }
  }

  /// Turns until `owner` is asked for `member`.
  /// - Throws: `DeadlinePassed` if that does not happen in time.
  func wait(for member: String, of owner: String) throws {
    try loop.turn(until: "\(member) of \(owner)") {
      _ = bus.collect()
      return bus.questions.contains { $0.destination == owner && $0.member == member }
    }
  }

  /// Everything that a stranger is shown, of `fields` also what their objects declare; signals must have told the same.
  @discardableResult
  func shown(_ fields: [String] = []) throws -> [String] {
    let calls = View.calls + [.readAll()] + fields.map { .introspect(Focus1.field($0)) }
    let sent = try turn(calls.map { .call(stranger, $0) })
    #expect(followed.lines.symmetricDifference(View(sent).lines) == [])
    return sent.lines
  }
}
