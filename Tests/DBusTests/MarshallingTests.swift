import CDBus
import DBusTypes
import TestSupport
import Testing

@testable import DBus

@Suite struct MarshallingTests {
  static func signal(_ arguments: [DBusValue]) throws -> Message {
    try .signal(path: testPath, interface: testInterface, member: MemberName(known: "Signal"), arguments)
  }

  /// The message as bytes, with a serial number as if it had been sent.
  static func bytes(of message: Message) throws -> [UInt8] {
    dbus_message_set_serial(message.raw, 1)
    var start: UnsafeMutablePointer<CChar>?
    var count: Int32 = 0
    try #require(dbus_message_marshal(message.raw, &start, &count) != 0)
    defer { dbus_free(start) }
    return UnsafeRawBufferPointer(start: start, count: Int(count)).map { $0 }
  }

  /// The message of such bytes, or nil where libdbus refuses them.
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
      #expect(try message.arguments() == values)
      #expect(message.signatureText == values.map(\.type.description).joined())
      let bytes = try Self.bytes(of: message)
      #expect(message.bodySize == Self.bodyLength(bytes), "\(values)")
      #expect(message.measuredBodySize == Self.bodyLength(bytes), "\(values)")
      if values.count == 1 { #expect(values[0].marshalledSize == Self.bodyLength(bytes), "\(values)") }
      #expect(try Self.message(of: bytes)?.arguments() == values)
    }
  }

  @Test func valuesAddedOneByOneAreAsIfAddedTogether() throws {
    let values: [DBusValue] = [.byte(1), .int64(2), .strings(["a"]), .byte(3), .properties([("a", .double(0.1))])]
    let message = try Self.signal([])
    for value in values { try message.append([value]) }
    #expect(try message.arguments() == values)
    #expect(try Self.bytes(of: message) == Self.bytes(of: Self.signal(values)))
  }

  @Test(arguments: ["as", "ay", "a(ii)", "a{sv}", "aas", "a{i(sv)}", "av", "ah", "aaaaai", "a{sa{sv}}"])
  func emptyArraysKeepTheirSignature(text: String) throws {
    let value: DBusValue =
      switch try DBusType(text) {
      case .array(let element): .array(try DBusArray(of: element))
      case .dictionary(let key, let value): .dictionary(try DBusDictionary(key: key, value: value))
      default: .byte(0)
      }
    let message = try Self.signal([value, .variant(value)])
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
      var bytes = try Self.bytes(of: Self.signal([generator.value(of: generator.type(depth: 4), depth: 3)]))
      for _ in 0..<Int.random(in: 1...4, using: &generator.numbers) {
        let index = Int.random(in: 0..<bytes.count, using: &generator.numbers)
        bytes[index] = Bool.random(using: &generator.numbers) ? generator.numbers.next() as UInt8 : bytes[index] ^ 1
      }
      guard let message = try Self.message(of: bytes) else { continue }
      if let values = try? message.arguments() {
        #expect(try Self.signal(values).arguments() == values)
        read += 1
      }
      _ = (message.path, message.interface, message.member, message.error, message.sender)
    }
    #expect(read > 1000)
  }

  @Test func readingStopsAtItsLimit() throws {
    let message = try Self.signal([.array(DBusArray(bytes: [UInt8](repeating: 0, count: 1000))), .strings(["a", "b"])])
    #expect(try message.arguments(limit: 2000).count == 2)
    let error = try #require(throws: DBus.DBusError.self) { try message.arguments(limit: 500) }
    #expect(error.name == .limitsExceeded)
  }
}
