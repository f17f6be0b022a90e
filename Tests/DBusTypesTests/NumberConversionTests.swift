import DBusTypes
import TestSupport
import Testing

@Suite("A number as another type")
struct NumberConversionTests {
  private static let types: [DBusType] = [.byte, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double]

  /// A number, the type, and the number as that; nil: the type does not hold it.
  private static let cases: [(DBusValue, DBusType, DBusValue?)] = [
    (.int32(5), .double, .double(5)), (.double(7), .int32, .int32(7)), (.double(0.5), .int32, nil),
    (.double(-0.0), .int32, nil), (.double(-0.0), .uint64, nil), (.double(0), .byte, .byte(0)),
    (.int32(0), .double, .double(0.0)), (.double(.nan), .int64, nil), (.double(.infinity), .int64, nil),
    (.double(-.infinity), .uint64, nil), (.double(-0.0), .double, .double(-0.0)),
    (.int64(1 << 53), .double, .double(0x1p53)), (.int64(1 << 53 + 1), .double, nil),
    (.int64(-(1 << 53) - 1), .double, nil), (.uint64(1 << 53 + 1), .double, nil),
    (.uint64(1 << 53 + 2), .double, .double(0x1p53 + 2)), (.int64(.max), .double, nil),
    (.int64(.min), .double, .double(-0x1p63)), (.uint64(.max), .double, nil),
    (.double(0x1p63), .int64, nil), (.double(0x1p63), .uint64, .uint64(1 << 63)), (.double(0x1p64), .uint64, nil),
    (.double(-1), .uint32, nil), (.double(1e300), .uint64, nil), (.double(.leastNonzeroMagnitude), .byte, nil),
    (.byte(255), .int16, .int16(255)), (.int32(256), .byte, nil), (.int16(-1), .uint64, nil),
    (.uint32(.max), .int32, nil), (.uint64(7), .int16, .int16(7)), (.int64(-129), .int16, .int16(-129)),
    // Numbers alone.
    (.boolean(true), .int32, nil), (.int32(1), .boolean, nil), (.string("1"), .int32, nil), (.int32(1), .string, nil),
    (.int32(1), .variant, nil), (.variant(.int32(1)), .int64, nil), (.structure([.int32(1)]), .int64, nil),
    (.int32(1), .structure([.int32]), nil), (.int32(1), .array(.int32), nil), (.int32(1), .unixFD, nil),
    (.string("x"), .string, .string("x")),
  ]

  @Test("is exactly that number, or none")
  func table() {
    for (number, type, expected) in Self.cases {
      let converted = MarshalledValue(number).converted(to: type)
      #expect(converted == expected.map { MarshalledValue($0) }, "\(number) as \(type)")
    }
  }

  @Test("is as one that is found by way of wide integers")
  func random() throws {
    var generator = ValueGenerator(seed: 17)
    for _ in 0..<20_000 {
      let (from, to) = (
        try #require(Self.types.randomElement(using: &generator.numbers)),
        try #require(Self.types.randomElement(using: &generator.numbers))
      )
      let number = generator.value(of: from)
      let converted = MarshalledValue(number).converted(to: to)
      try #require(converted == number.sameNumber(as: to).map { MarshalledValue($0) }, "\(number) as \(to)")
      // Nothing is lost on the way.
      if let converted { try #require(converted.converted(to: from) == MarshalledValue(number)) }
    }
  }
}
