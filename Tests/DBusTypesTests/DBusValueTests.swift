import DBusTypes
import TestSupport
import Testing

@Suite struct DBusValueTests {
  private static func dictionary(_ entries: [(Int32, DBusValue)]) throws -> DBusValue {
    .dictionary(
      try DBusDictionary(
        key: .int32, value: entries.first?.1.type ?? .string,
        entries.map { .init(key: .int32($0.0), value: $0.1) }))
  }

  /// Pairs of values and whether they are equal.
  private static func pairs() throws -> [(DBusValue, DBusValue, Bool)] {
    let quietNaN = DBusValue.double(.nan)
    let otherNaN = DBusValue.double(Double(nan: 1, signaling: false))
    let emptyStrings = DBusValue.array(try DBusArray(of: .string))
    let emptyBytes = DBusValue.array(try DBusArray(of: .byte))
    return [
      (.int32(1), .int32(1), true), (.int32(1), .int32(2), false), (.int32(1), .uint32(1), false),
      (.byte(1), .boolean(true), false), (quietNaN, quietNaN, true), (quietNaN, otherNaN, false),
      (.double(0), .double(-0.0), false), (.string("é"), .string("é"), true),
      // One letter and a letter with an accent are the same text to Swift, and another one to D-Bus.
      (.string("\u{E9}"), .string("e\u{301}"), false), (.string("/a"), .objectPath(try ObjectPath("/a")), false),
      (.string("s"), .signature(try Signature("s")), false), (emptyStrings, emptyStrings, true),
      (emptyStrings, emptyBytes, false), (emptyBytes, .array(DBusArray(bytes: [])), true),
      (.array(try DBusArray(of: .byte, [.byte(7)])), .array(DBusArray(bytes: [7])), true),
      (.variant(.int32(1)), .variant(.int32(1)), true), (.variant(.int32(1)), .int32(1), false),
      (.variant(.int32(1)), .variant(.variant(.int32(1))), false),
      (.structure([.int32(1), .int32(2)]), .structure([.int32(2), .int32(1)]), false),
      (
        try dictionary([(1, .string("a")), (2, .string("b"))]), try dictionary([(2, .string("b")), (1, .string("a"))]),
        true
      ),
      (
        try dictionary([(1, .string("a")), (2, .string("b"))]), try dictionary([(1, .string("b")), (2, .string("a"))]),
        false
      ),
      (try dictionary([(1, .string("a"))]), try dictionary([(1, .string("a")), (2, .string("b"))]), false),
      (
        try dictionary([(1, .string("a")), (1, .string("b"))]), try dictionary([(1, .string("a")), (1, .string("a"))]),
        false
      ),
      (
        try dictionary([(1, try dictionary([(3, quietNaN), (4, quietNaN)]))]),
        try dictionary([(1, try dictionary([(4, quietNaN), (3, quietNaN)]))]), true
      ),
      (
        .dictionary(try DBusDictionary(key: .string, value: .string)),
        .dictionary(try DBusDictionary(key: .string, value: .variant)), false
      ),
    ]
  }

  @Test func equality() throws {
    for (left, right, equal) in try Self.pairs() {
      #expect((left == right) == equal, "\(left) and \(right)")
      #expect((right == left) == equal, "\(right) and \(left)")
      if equal { #expect(Set([left, right]).count == 1) }
      #expect(Set([left, right]).count == (equal ? 1 : 2))
    }
  }

  @Test func dictionariesOfManyLikeEntriesAreComparedQuickly() throws {
    // One key for all, and values that are dictionaries themselves: a hash that ignored contents would take hours.
    let entries = try (0..<40_000).map { index in
      DBusDictionary.Entry(
        key: .byte(0),
        value: .dictionary(try DBusDictionary(key: .int32, value: .byte, [.init(key: .int32(index), value: .byte(0))])))
    }
    let type = DBusType.dictionary(key: .int32, value: .byte)
    let left = try DBusDictionary(key: .byte, value: type, entries)
    let right = try DBusDictionary(key: .byte, value: type, entries.reversed())
    #expect(left == right)
  }

  @Test func mixedContainersCannotBeMade() throws {
    let array = try #require(throws: TypeMismatch.self) { try DBusArray(of: .int32, [.int32(1), .string("x")]) }
    #expect(array == TypeMismatch(expected: .int32, actual: .string))
    #expect(array.description.contains("'s'") && array.description.contains("'i'"))
    #expect(throws: TypeMismatch.self) { try DBusArray(of: .byte, [.int32(1)]) }
    #expect(throws: TypeMismatch.self) { try DBusArray(of: .array(.string), [.array(DBusArray(of: .int32))]) }
    let entry = DBusDictionary.Entry(key: .string("a"), value: .int32(1))
    #expect(throws: TypeMismatch.self) { try DBusDictionary(key: .int32, value: .int32, [entry]) }
    #expect(throws: TypeMismatch.self) { try DBusDictionary(key: .string, value: .variant, [entry]) }
  }

  @Test func anArrayIsACollectionOfItsElements() throws {
    let bytes = try DBusArray(of: .byte, [.byte(1), .byte(255)])
    #expect(bytes.bytes == [1, 255])
    #expect(Array(bytes) == [.byte(1), .byte(255)])
    let strings = try DBusArray(of: .string, [.string("a")])
    #expect(strings.bytes == nil)
    #expect(strings.first == .string("a"))
    #expect(try DBusArray(of: .string).elementType == .string)
  }

  @Test func aDictionaryGivesTheFirstOfAKeyThatCameTwice() throws {
    let twice = try DBusDictionary(
      key: .string, value: .int32,
      [.init(key: .string("a"), value: .int32(1)), .init(key: .string("a"), value: .int32(2))])
    #expect(twice[.string("a")] == .int32(1))
    #expect(twice[.string("b")] == nil)
  }

  @Test func depthCountsContainersAndVariants() throws {
    let emptyDictionary = DBusValue.dictionary(try DBusDictionary(key: .string, value: .variant))
    for (value, depth): (DBusValue, Int) in [
      (.int32(1), 0), (.variant(.int32(1)), 1), (.variant(.variant(.int32(1))), 2), (.array(DBusArray(bytes: [1])), 1),
      (.strings([]), 1), (.structure([.int32(1)]), 1), (.structure([.int32(1), .variant(.strings(["a"]))]), 3),
      (emptyDictionary, 2), (.properties([("a", .int32(1))]), 3), (.variants([.int32(1), .variants([.byte(1)])]), 4),
    ] {
      #expect(MarshalledValue(value).measure.depth == depth, "\(value)")
    }
  }

  /// What a state file holds may be damaged.
  @Test func whatWasStoredIsCheckedToItsLastByte() throws {
    let cases: [(value: DBusValue, fromEnd: Int, byte: UInt8)] = [
      (.string("ab"), 2, 0xff), (.string("ab"), 2, 0), (.string("ab"), 1, 1), (.boolean(true), 4, 2),
      (.structure([.byte(1), .int32(1)]), 5, 1), (.signature(try Signature("i")), 2, UInt8(ascii: "z")),
      (.objectPath(try ObjectPath("/ab")), 2, UInt8(ascii: "/")),
    ]
    for (value, fromEnd, byte) in cases {
      var storage = MarshalledValue(value).storage
      #expect(try MarshalledValue(checking: storage) == MarshalledValue(value))
      storage[storage.count - fromEnd] = byte
      #expect((try? MarshalledValue(checking: storage)) == nil, "\(value)")
    }
  }

  @Test func aLongTextIsQuotedInPart() {
    let text = String(repeating: "x", count: 300)
    #expect(text.excerpt == text)
    #expect((text + "x").excerpt == text.prefix(60) + "…")
    #expect("a\u{1b}[31mb\nc\u{2028}ü".excerpt == #"a\u{1B}[31mb\nc\u{2028}ü"#)
  }

  @Test func fileDescriptorsAreFoundWhereverTheyAre() throws {
    let descriptor = DBusValue.unixFD(UnixFD(owning: -1))
    let dictionary = try DBusDictionary(key: .unixFD, value: .byte, [.init(key: descriptor, value: .byte(1))])
    for value in [
      descriptor, .variant(descriptor), .structure([.byte(1), .variant(.variants([descriptor]))]),
      .properties([("a", descriptor)]), .dictionary(dictionary),
    ] {
      #expect(value.holdsUnixFD, "\(value)")
    }
    for value: DBusValue in [
      .byte(1), .properties([("a", .byte(1))]), .variants([]), .array(try DBusArray(of: .unixFD)),
    ] {
      #expect(!value.holdsUnixFD, "\(value)")
    }
  }

  @Test func theTypeOfARandomValueIsTheOneAskedFor() {
    var generator = ValueGenerator(seed: 2)
    for _ in 0..<2000 {
      let type = generator.type(depth: 4)
      let value = generator.value(of: type)
      #expect(value.type == type)
      #expect(value == value)
      #expect(value.hashValue == value.hashValue)
    }
  }

  @Test(
    arguments: [
      (.byte(1), 1), (.boolean(true), 4), (.int16(1), 2), (.uint64(1), 8), (.double(1), 8), (.string(""), 5),
      (.string("abc"), 8), (.objectPath(.root), 6), (.signature(.empty), 2), (.variant(.byte(1)), 4),
      (.variant(.int32(1)), 8), (.variant(.int64(1)), 16), (.strings([]), 4), (.strings(["abc"]), 12),
      (.array(DBusArray(bytes: [1, 2, 3])), 7), (.structure([.byte(1), .int64(1)]), 16), (.properties([]), 8),
      (.properties([("a", .int32(1))]), 24),
    ] as [(DBusValue, Int)])
  func marshalledSize(value: DBusValue, size: Int) {
    #expect(MarshalledValue(value).size == size)
  }
}
