import CDBus
import DBusTypes
import TestSupport
import Testing

@testable import DBus

@Suite struct MarshallingTests {
  static func signal(_ arguments: [DBusValue]) throws -> OutgoingMessage {
    try .signal(path: testPath, interface: testInterface, member: MemberName(known: "Signal"), arguments)
  }

  /// The message of such bytes, or nil if libdbus refuses them.
  static func message(of bytes: [UInt8]) throws -> Message? {
    var error = CDBus.DBusError()
    dbus_error_init(&error)
    defer { dbus_error_free(&error) }
    let raw = bytes.withUnsafeBytes {
      dbus_message_demarshal($0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count), &error)
    }
    return raw.map { Message(adopting: $0) }
  }

  /// The length of the body, as the header of a little-endian message has it.
  private static func bodyLength(_ bytes: [UInt8]) -> Int {
    bytes[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  @Test func randomValuesSurviveAndTakeTheSizeThatTheySay() throws {
    var generator = ValueGenerator(seed: 4)
    for _ in 0..<3000 {
      let values = (0..<Int.random(in: 1...3, using: &generator.numbers)).map { _ in
        generator.value(of: generator.type(depth: 5), depth: 4)
      }
      let message = try Self.signal(values)
      let received = try message.received()
      #expect(try received.arguments() == values)
      #expect(received.signatureText == values.map(\.type.description).joined())
      let bytes = try message.marshalled()
      #expect(message.bodySize == Self.bodyLength(bytes), "\(values)")
      #expect(received.measuredBodySize == Self.bodyLength(bytes), "\(values)")
      if values.count == 1 { #expect(MarshalledValue(values[0]).size == Self.bodyLength(bytes), "\(values)") }
      #expect(try Self.message(of: bytes)?.arguments() == values)
    }
  }

  /// The header that is written here is the one that libdbus writes.
  @Test func headersAreReadAsTheyWereWritten() throws {
    for number in 0..<300 {
      let path = try ObjectPath("/" + String(repeating: "p", count: 1 + number % 11))
      let (interface, member) = (
        try InterfaceName("a." + String(repeating: "i", count: 1 + number % 7)), try MemberName("M\(number)")
      )
      let destination = try BusName(":1.\(number * number)")
      let values: [DBusValue] = number.isMultiple(of: 2) ? [] : [.byte(1), .int64(Int64(number))]
      var call = try OutgoingMessage.methodCall(
        to: destination, path: path, interface: number.isMultiple(of: 3) ? nil : interface, member: member, values)
      if number.isMultiple(of: 5) { call.disableReply() }
      let received = try call.received()
      #expect(received.kind == .methodCall)
      #expect(received.path == path)
      #expect(received.interface == (number.isMultiple(of: 3) ? nil : interface))
      #expect(received.member == member)
      #expect(received.wantsReply == !number.isMultiple(of: 5))
      #expect(try received.arguments() == values)
      let reply = try received.reply(values).received()
      #expect(reply.kind == .methodReturn)
      #expect(reply.replySerial == received.serial)
      #expect(try reply.arguments() == values)
      let error = DBus.DBusError(try ErrorName("a.E\(number)"), member.text)
      #expect(try received.reply(error).received().error == error)
    }
  }

  /// Messages of the other byte order are read as they are meant.
  @Test func theOtherByteOrderIsRead() throws {
    // `true`, -2, "é" and an array of 1 and 2, as a machine with the highest byte first marshals them.
    let body: [UInt8] = [
      0, 0, 0, 1, 0xff, 0xfe, 0, 0, 0, 0, 0, 2, 0xc3, 0xa9, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0,
      0, 0,
      0, 0, 0, 2,
    ]
    let fields: [UInt8] =
      [5, 1, 0x75, 0, 0, 0, 0, 9] + [8, 1, 0x67, 0, 5] + Array("bnsax".utf8) + [0]
    var bytes: [UInt8] = [
      UInt8(ascii: "B"), 2, 0, 1, 0, 0, 0, UInt8(body.count), 0, 0, 0, 7, 0, 0, 0, UInt8(fields.count),
    ]
    bytes += fields
    while !bytes.count.isMultiple(of: 8) { bytes.append(0) }
    let message = try #require(try Self.message(of: bytes + body))
    #expect(message.replySerial == 9)
    #expect(
      try message.arguments() == [
        .boolean(true), .int16(-2), .string("é"), .array(DBusArray(of: .int64, [.int64(1), .int64(2)])),
      ])
  }

  @Test(arguments: ["as", "ay", "a(ii)", "a{sv}", "aas", "a{i(sv)}", "av", "ah", "aaaaai", "a{sa{sv}}"])
  func emptyArraysKeepTheirSignature(text: String) throws {
    let value: DBusValue =
      switch try DBusType(text) {
      case .array(let element): .array(try DBusArray(of: element))
      case .dictionary(let key, let value): .dictionary(try DBusDictionary(key: key, value: value))
      default: .byte(0)
      }
    let message = try Self.signal([value, .variant(value)]).received()
    #expect(message.signatureText == text + "v")
    let read = try message.arguments()
    #expect(read == [value, .variant(value)])
    #expect(read[0].type.description == text)
    #expect(read[1].variantContent?.type.description == text)
  }

  /// Bytes that are almost a message are refused by libdbus or read as values, and nothing worse.
  @Test func damagedMessagesAreRefusedOrRead() throws {
    var generator = ValueGenerator(seed: 5)
    var read = 0
    for _ in 0..<20_000 {
      var bytes = try Self.signal([generator.value(of: generator.type(depth: 4), depth: 3)]).marshalled()
      for _ in 0..<Int.random(in: 1...4, using: &generator.numbers) {
        let index = Int.random(in: 0..<bytes.count, using: &generator.numbers)
        bytes[index] = Bool.random(using: &generator.numbers) ? generator.numbers.next() as UInt8 : bytes[index] ^ 1
      }
      guard let message = try Self.message(of: bytes) else { continue }
      if let values = try? message.arguments() {
        #expect(try Self.signal(values).received().arguments() == values)
        read += 1
      }
      _ = (message.path, message.interface, message.member, message.error, message.sender)
    }
    #expect(read > 1000)
  }

  /// A basic value, a structure and an empty array are elements; a string and a byte array are one each.
  @Test(
    arguments: [
      (.array(DBusArray(bytes: [1, 2, 3])), 1), (.strings(["a", "b"]), 2), (.strings([]), 1),
      (.variants([.byte(1)]), 1),
      (.structure([.byte(1), .structure([.byte(2)])]), 4), (.properties([("a", .strings([])), ("b", .byte(1))]), 4),
    ] as [(DBusValue, Int)])
  func readingStopsAtItsLimit(value: DBusValue, elements: Int) throws {
    let copies = 5000
    let message = try Self.signal([.array(DBusArray(known: value.type, [DBusValue](repeating: value, count: copies)))])
      .received()
    let expected = value.type == .byte ? 1 : elements * copies
    #expect(try message.arguments(elementLimit: expected).count == 1)
    let error = try #require(throws: DBus.DBusError.self) { try message.arguments(elementLimit: expected - 1) }
    #expect(error.name == .limitsExceeded)
  }
}
