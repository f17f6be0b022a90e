import DBusTypes
import TestSupport
import Testing

@testable import DBus

/// Each of these would make libdbus abort the process, or the bus close the connection.
@Suite(.ownThreads) struct RefusalTests {
  private static func nested(_ depth: Int, in wrap: (DBusValue) throws -> DBusValue, around core: DBusValue) rethrows
    -> DBusValue
  {
    try (0..<depth).reduce(core) { value, _ in try wrap(value) }
  }

  private static func variants(_ depth: Int, around core: DBusValue = .int32(1)) -> DBusValue {
    nested(depth, in: { .variant($0) }, around: core)
  }

  private static func refusal(_ values: [DBusValue]) throws -> ErrorName {
    try #require(throws: DBus.DBusError.self) { try MarshallingTests.signal(values) }.name
  }

  @Test func valuesThatNoMessageCarries() throws {
    let structure = DBusValue.structure([])
    for value: DBusValue in [
      .string("a\0b"), .string("\0"), .strings(["a", "\0"]), .variant(.string("\0")), .structure([.string("\0")]),
      .properties([("a\0", .byte(1))]), .properties([("a", .string("\0"))]), structure, .variant(structure),
      .structure([.byte(1), structure]), .array(DBusArray(known: .structure([]), [])),
      .array(DBusArray(known: .string, [.string("a"), .int32(1)])),
      .array(DBusArray(known: .array(.string), [.strings(["a"]), .array(DBusArray(known: .int32, []))])),
      .variant(.array(DBusArray(known: .int32, [.string("a")]))),
      .dictionary(DBusDictionary(known: .string, .int32, [.init(key: .int32(1), value: .int32(1))])),
      .dictionary(DBusDictionary(known: .string, .int32, [.init(key: .string("a"), value: .string("a"))])),
      .dictionary(DBusDictionary(known: .variant, .int32, [])),
      .dictionary(DBusDictionary(known: .structure([.byte]), .int32, [])),
    ] {
      #expect(try Self.refusal([value]) == .invalidArgs, "\(value)")
      #expect(try Self.refusal([.byte(1), value]) == .invalidArgs, "\(value)")
    }
  }

  @Test func depthUpTo63() throws {
    for core: (DBusValue, depth: Int) in [
      (.int32(1), 0), (.array(DBusArray(bytes: [1])), 1), (.strings([]), 1), (.structure([.byte(1)]), 1),
      (.properties([]), 2), (.properties([("a", .byte(1))]), 3), (.strings(["a"]), 1),
    ] {
      let deepest = Self.variants(63 - core.depth, around: core.0)
      let message = try MarshallingTests.signal([deepest])
      #expect(try message.received().arguments() == [deepest])
      #expect(try Self.refusal([.variant(deepest)]) == .limitsExceeded, "\(core)")
    }
  }

  @Test func typesNestedTooDeepAreRefused() throws {
    func arrays(_ depth: Int) -> DBusValue {
      Self.nested(depth, in: { .array(DBusArray(known: $0.type, [$0])) }, around: .byte(1))
    }
    func structures(_ depth: Int) -> DBusValue { Self.nested(depth, in: { .structure([$0]) }, around: .byte(1)) }
    #expect(throws: Never.self) { try MarshallingTests.signal([arrays(32), structures(32)]) }
    for value in [arrays(33), structures(33), .variant(arrays(33)), .variant(structures(33))] {
      #expect(throws: DBus.DBusError.self) { try MarshallingTests.signal([value]) }
    }
    #expect(throws: DBus.DBusError.self) { try MarshallingTests.signal([Self.variants(10_000)]) }
  }

  @Test func signaturesUpTo255Bytes() throws {
    let bytes = [DBusValue](repeating: .byte(1), count: 255)
    #expect(try MarshallingTests.signal(bytes).received().arguments() == bytes)
    #expect(try Self.refusal(bytes + [.byte(1)]) == .limitsExceeded)
    let wide = DBusValue.structure([DBusValue](repeating: .byte(1), count: 253))
    #expect(try MarshallingTests.signal([wide]).received().arguments() == [wide])
    let wider = DBusValue.structure([DBusValue](repeating: .byte(1), count: 254))
    #expect(throws: DBus.DBusError.self) { try MarshallingTests.signal([wider]) }
    #expect(throws: DBus.DBusError.self) { try MarshallingTests.signal([.variant(wider)]) }
  }

  @Test func sizeUpToTheLimit() throws {
    func bytes(_ count: Int) -> DBusValue { .array(DBusArray(bytes: [UInt8](repeating: 0, count: count))) }
    let room = MessageBody.sizeLimit - 4
    let largest = bytes(room)
    #expect(try MarshallingTests.signal([largest]).bodySize == MessageBody.sizeLimit)
    #expect(try Self.refusal([bytes(room + 1)]) == .limitsExceeded)
    #expect(try Self.refusal([largest, .byte(1)]) == .limitsExceeded)
  }

  @Test func descriptorsThatAreNoneAreRefused() {
    #expect(throws: DBus.DBusError.self) { try MarshallingTests.signal([.unixFD(UnixFD(owning: -1))]) }
  }

  @Test func reservedNamesAreRefused() throws {
    let path = try ObjectPath("/org/freedesktop/DBus/Local")
    let interface = try InterfaceName("org.freedesktop.DBus.Local")
    let member = try MemberName("Disconnected")
    #expect(throws: DBus.DBusError.self) {
      try OutgoingMessage.methodCall(to: nil, path: path, interface: testInterface, member: member)
    }
    #expect(throws: DBus.DBusError.self) {
      try OutgoingMessage.methodCall(to: nil, path: testPath, interface: interface, member: member)
    }
    #expect(throws: DBus.DBusError.self) {
      try OutgoingMessage.signal(path: path, interface: testInterface, member: member, [])
    }
    #expect(throws: DBus.DBusError.self) {
      try OutgoingMessage.signal(path: testPath, interface: interface, member: member, [])
    }
  }

  /// Of an error only its text is read, whatever else it carries.
  @Test(
    arguments: [
      ([.string("why"), .variants([.byte(1)])], "why"), ([.int32(1), .string("no")], ""), ([], ""),
      ([.array(DBusArray(bytes: [1]))], ""),
    ] as [([DBusValue], String)])
  func onlyTheTextOfAnErrorIsRead(values: [DBusValue], text: String) throws {
    let body = try MessageBody(values)
    let message = OutgoingMessage(.error, destination: nil, body) { header in
      header.add(.errorName, "a.Error")
      header.add(.replySerial, 1)
    }
    #expect(try message.received().error == DBusError(ErrorName("a.Error"), text))
  }

  @Test func textsOfErrorsAreMadeToFit() throws {
    let call = try OutgoingMessage.methodCall(to: nil, path: testPath, interface: nil, member: MemberName("Call"))
    let reply = try call.received().reply(DBusError(.failed, "a\0b\u{301}\u{10FFFF}\n"))
    #expect(try reply.received().error == DBusError(.failed, "ab\u{301}\u{10FFFF}\n"))
  }
}
