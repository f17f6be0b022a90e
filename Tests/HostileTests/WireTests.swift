import BusSupport
import DBus
import DBusTypes
import TestSupport
import Testing

/// What the glutton writes by hand is what the bus's library reads, with the size and the elements that it claims.
@Suite struct WireTests {
  static let values: [WireValue] = [
    .byte(1), .int32(-7), .uint32(7), .uint64(1 << 40), .boolean(true), .string(""), .string("text"), .path("/a/b"),
    .text(5), .text(1000), .bytes(4), .bytes(1000), .variant(.uint64(1)), .variants(20),
    .structure([.byte(1), .uint64(2)]),
    .array(1000, of: .variant(.string(""))), .array(1001, of: .structure([.byte(1), .variant(.byte(2))])),
    .array(0, of: .uint64(1)), .array(999, of: .bytes(6)), .array(7, of: .array(0, of: .string(""))),
    .array(100, of: .variants(13, around: .structure([.byte(1)]))), .array(of: "s", [.string("a"), .string("bcd")]),
    .dictionary("u", "y", (0..<100).map { (.uint32(UInt32($0)), .byte(0)) }), .properties(),
    .properties([("a", .byte(1)), ("bc", .array(33, of: .string("de")))]),
    .dictionary(100, of: .string("a"), .boolean(true)),
  ]

  @Test(arguments: values.indices) func aValue(_ index: Int) throws {
    let value = Self.values[index]
    // Each from another start.
    let arguments = [WireValue.text(5 + index % 8), value, .byte(9), value]
    let draft = WireDraft.call(to: Focus1.name, Focus1.manager, "demo.Form", "Call", arguments)
    let message = try draft.bytes(8).withUnsafeBufferPointer { try Message(demarshalling: $0) }
    #expect(message.signatureText == arguments.signature)
    let read = try message.arguments()
    #expect(read[1] == read[3])
    #expect(MarshalledValue(read[1]).size == value.size)
    #expect(Self.elements(read[1]) == value.elements)
  }

  /// The contract's count of elements, by its words.
  private static func elements(_ value: DBusValue) -> Int {
    switch value {
    case .array(let array):
      array.bytes != nil || array.isEmpty ? 1 : array.reduce(0) { $0 + elements($1) }
    case .dictionary(let dictionary):
      dictionary.entries.isEmpty ? 1 : dictionary.entries.reduce(0) { $0 + elements($1.key) + elements($1.value) }
    case .structure(let members): members.reduce(1) { $0 + elements($1) }
    case .variant(let content): elements(content)
    default: 1
    }
  }
}
