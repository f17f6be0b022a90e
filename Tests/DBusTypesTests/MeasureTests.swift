import DBusTypes
import Testing

/// What a value takes up, as the contract counts it.
@Suite struct MeasureTests {
  private static let pair = DBusValue.structure([.int32(1), .int32(2)])

  private static func cases() throws -> [(value: DBusValue, elements: Int, depth: Int)] {
    [
      (.int32(1), 1, 0), (.string("long"), 1, 0), (.variant(.int32(1)), 1, 1), (pair, 3, 1),
      (try list(.byte(1), .byte(2), .byte(3)), 1, 1), (try list(of: .byte), 1, 1), (try list(of: .int32), 1, 1),
      (try list(of: .string), 1, 1), (try list(.int32(1), .int32(2), .int32(3)), 3, 1), (try list(pair, pair), 6, 2),
      (try list(.boolean(true), .boolean(false)), 2, 1), (try list(list(of: .int32), list(.int32(1))), 2, 2),
      (try table((.string("a"), .int32(1)), (.string("b"), .int32(2))), 4, 2),
      (try table((.string("a"), .variant(pair))), 4, 4),
    ]
  }

  @Test func elementsAndDepth() throws {
    for (value, elements, depth) in try Self.cases() {
      let measure = MarshalledValue(value).measure
      #expect(measure.elements == elements, "\(value)")
      #expect(measure.depth == depth, "\(value)")
    }
  }
}
