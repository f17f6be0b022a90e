import BusSupport
import DBus
import DBusTypes
import TestSupport
import Testing

/// The counter of revisions never goes back, whoever has made it count and however the daemon ended.
@Suite struct RevisionTests {
  /// Nothing but what an owner tells of its object changes, which is itself not saved.
  @Test(arguments: [Int32(9), 15]) func whatAnOwnerTellsCountsForTheNextDaemonToo(signal: Int32) async throws {
    try await PrivateBus.with { bus in
      let daemon = try await Focus1.start(on: bus)
      let owner = try await TellingOwner(on: bus)
      let client = try Caller(on: bus)
      let before = try await onThread { () throws -> UInt64 in
        try client.register("stored", [(name: "demo.A.B", value: .int32(0))], [(name: "linger", value: .boolean(true))])
        try owner.tell(80)
        let told = try client.read(TellingOwner.key, at: Focus1.field(TellingOwner.id))
        #expect(told.value == .int32(80))
        return told.revision
      }
      #expect(before > 80 * UInt64(TellingOwner.keys))
      daemon.terminate(signal)
      try await daemon.finish()

      let again = try await Focus1.start(on: bus)
      try await onThread { () throws in
        try owner.answerExamination()
        let bound = try client.read(TellingOwner.key, at: Focus1.field(TellingOwner.id))
        #expect(bound.value == .int32(80))
        #expect(bound.revision > before)
        let now = try client.write("demo.A.B", .int32(1), at: Focus1.field("stored"))
        #expect(now > before)
      }
      try await again.stop()
    }
  }

  /// A daemon that can save nothing from its start on has no revision to tell of what is new.
  @Test func aRevisionThatCannotBeSavedIsNotTold() async throws {
    try await PrivateBus.with { bus in
      var daemon = try await Focus1.start(on: bus)
      let owner = try await TellingOwner(on: bus)
      let client = try Caller(on: bus)
      let path = Focus1.field(TellingOwner.id)
      let before = try await onThread { () throws -> UInt64 in
        try client.register("stored", [(name: "demo.A.B", value: .int32(0))], [(name: "linger", value: .boolean(true))])
        return try client.read(TellingOwner.key, at: path).revision
      }
      try await daemon.stop()
      daemon = try await Focus1.start(on: bus, prefix: ["/usr/bin/prlimit", "--fsize=0:unlimited"])
      try await onThread { () throws in
        try owner.answerExamination()
        Self.refused { _ = try client.read(TellingOwner.key, at: path) }
        Self.refused { try client.call(path, Focus1.bindings, "ReadAll") }
        // The value itself is there, what is stored too, and nothing is done that is refused.
        let got = try client.call(path, Focus1.properties, "Get", [.string("demo.Told"), .string("P0")])
        #expect(got.first?.variantContent == .int32(owner.count))
        #expect(try client.read("demo.A.B", at: Focus1.field("stored")).value == .int32(0))
        Self.refused { try client.write("demo.A.B", .int32(-1), at: Focus1.field("stored")) }
        Self.refused { try client.write(TellingOwner.key, .int32(-1), at: path) }
        #expect(owner.writes == 0)
      }
      try await daemon.limitFiles(to: "unlimited", on: bus)
      try await onThread { () throws in
        #expect(try client.write("demo.A.B", .int32(1), at: Focus1.field("stored")) > before)
        #expect(try client.read(TellingOwner.key, at: path).revision > before)
      }
      try await daemon.stop()
    }
  }

  private static func refused(_ body: () throws -> Void) {
    do {
      try body()
      Issue.record("it was not refused")
    } catch { #expect((error as? CallError)?.name == "org.freedesktop.DBus.Error.IOError") }
  }
}

/// A client with an object behind a field that tells of many changes, used by one thread.
private final class TellingOwner: @unchecked Sendable {
  static let id = "telling"
  static let key = "demo.Told.P0"
  /// How many properties it has, which all change at once.
  static let keys = 250

  private let caller: Caller
  private(set) var count: Int32 = 0
  private(set) var writes = 0
  private var examinations = 0

  init(on bus: PrivateBus) async throws {
    caller = try Caller(on: bus)
    caller.onCall = { [unowned self] in answer($0) }
    try await onThread { [self] in
      try caller.register(Self.id, [], [(name: "object", value: .objectPath(try ObjectPath("/telling")))])
    }
  }

  private var values: DBusValue {
    .properties((0..<Self.keys).map { (name: "P\($0)", value: .int32(count)) })
  }

  private func answer(_ message: Message) -> OutgoingMessage? {
    switch message.member?.text {
    case "Introspect":
      let properties = (0..<Self.keys).map { #"<property name="P\#($0)" type="i" access="readwrite"/>"# }
      return try? message.reply([
        .string(#"<node><interface name="demo.Told">\#(properties.joined())</interface></node>"#)
      ])
    case "GetAll":
      examinations += 1
      return try? message.reply([values])
    case "Get": return try? message.reply([.variant(.int32(count))])
    default:
      writes += 1
      return try? message.reply()
    }
  }

  /// Returns when a daemon that has started has had the object's values.
  func answerExamination() throws {
    caller.wait { examinations == 2 }
    try caller.call(Focus1.manager, "org.freedesktop.DBus.Peer", "Ping")
  }

  /// Tells of `times` changes of each property; returns when the daemon has taken them all in.
  func tell(_ times: Int) throws {
    for _ in 1...times {
      count += 1
      try caller.send(
        try OutgoingMessage.signal(
          path: ObjectPath("/telling"), interface: InterfaceName(Focus1.properties),
          member: MemberName("PropertiesChanged"),
          [.string("demo.Told"), values, .array(DBusArray(known: .string, []))]))
    }
    try caller.call(Focus1.manager, "org.freedesktop.DBus.Peer", "Ping")
  }
}
