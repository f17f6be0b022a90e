import DBusTypes
import Foundation
import Testing

@testable import FocusKit

private enum Size: String, Codable, DBusRepresentable {
  case small
  case large
}

private enum Level: Int32, DBusRepresentable {
  case low = 1
  case high = 2
}

private enum Flavor: CaseIterable, DBusRepresentable, CustomStringConvertible {
  case chocolate
  case vanilla

  var description: String { "a flavor" }
}

private enum Speed: CaseIterable, Codable, DBusRepresentable {
  case slow
  case fast
}

private enum Voice: String, CaseIterable, Codable, DBusRepresentable {
  case high = "soprano"
  case low = "bass"
}

private enum Voltage: Int32, CaseIterable, DBusRepresentable {
  case low = 110
  case high = 230
}

/// It has a list of values, but no names for them.
private struct Tempo: CaseIterable, Codable, DBusRepresentable, Equatable {
  static let allCases = [Tempo(beats: 60), Tempo(beats: 120)]
  var beats: Int
}

private enum Shape: CaseIterable, DBusRepresentable, Equatable {
  case circle(Int)
  static let allCases = [Shape.circle(1)]
}

private struct Address: Codable, Equatable { var city: String }

private struct Person: Codable, DBusRepresentable, Equatable {
  var name: String
  var age: UInt8
  var size: Size
  var nickname: String?
  var address: Address
  var scores: [Double]
  var friends: [Address]
}

private struct Note: Codable, DBusRepresentable, Equatable {
  var image: Data
  var mixed: [Int]
}

@Suite struct RepresentationTests {
  private static func roundTrip<Value: DBusRepresentable & Equatable>(_ value: Value, _ type: String) throws {
    let dbus = try value.dbusValue()
    #expect(dbus.type.description == type)
    #expect(Value.dbusType.description == type)
    #expect(try Value(dbusValue: dbus) == value)
    #expect(try Value(dbusValue: .variant(dbus)) == value)
  }

  @Test func eachTypeHasItsOwn() throws {
    try Self.roundTrip(true, "b")
    try Self.roundTrip("text", "s")
    try Self.roundTrip(1.5, "d")
    try Self.roundTrip(Float(1.5), "d")
    try Self.roundTrip(Int.min, "x")
    try Self.roundTrip(Int8.min, "n")
    try Self.roundTrip(Int16.min, "n")
    try Self.roundTrip(Int32.min, "i")
    try Self.roundTrip(Int64.min, "x")
    try Self.roundTrip(UInt.max, "t")
    try Self.roundTrip(UInt8.max, "y")
    try Self.roundTrip(UInt16.max, "q")
    try Self.roundTrip(UInt32.max, "u")
    try Self.roundTrip(UInt64.max, "t")
    try Self.roundTrip([1, 2], "ax")
    try Self.roundTrip([String](), "as")
    try Self.roundTrip([UInt8](0...255), "ay")
    try Self.roundTrip(["a": [true]], "a{sab}")
    try Self.roundTrip(Int?.none, "ax")
    try Self.roundTrip(Int?.some(3), "ax")
    try Self.roundTrip([String?.none, "a"], "aas")
    try Self.roundTrip(Size.large, "s")
    try Self.roundTrip([Level.low, .high], "ai")
    try Self.roundTrip(["a": Size.small], "a{ss}")
    try Self.roundTrip(Flavor.vanilla, "s")
    try Self.roundTrip(Speed.fast, "s")
    try Self.roundTrip([Flavor.chocolate: Speed.allCases], "a{sas}")
    try Self.roundTrip(Voice.low, "s")
    try Self.roundTrip(Voltage.high, "i")
    try Self.roundTrip(Tempo(beats: 90), "a{sv}")
  }

  @Test(arguments: [nil, "Countess"])
  private func aStructIsItsPropertiesByName(nickname: String?) throws {
    let person = Person(
      name: "Ada", age: 36, size: .small, nickname: nickname, address: Address(city: "London"), scores: [1, 2],
      friends: [Address(city: "Turin")])
    try Self.roundTrip(person, "a{sv}")
    try Self.roundTrip([person], "aa{sv}")
    guard case .dictionary(let properties) = try person.dbusValue() else { return }
    #expect(properties[.string("age")] == .variant(.byte(36)))
    #expect(properties[.string("size")] == .variant(.string("small")))
    #expect(properties[.string("address")] == .variant(.properties([(name: "city", value: .string("London"))])))
    #expect((properties[.string("nickname")] != nil) == (nickname != nil))
    #expect(properties[.string("friends")]?.type == .variant)
  }

  /// As an image within a note.
  @Test func bytesWithinAStructAreBytes() throws {
    for count in [1, 1 << 19] {
      let note = Note(image: Data((0..<count).map { UInt8(truncatingIfNeeded: $0) }), mixed: [1, 300])
      try Self.roundTrip(note, "a{sv}")
      guard case .dictionary(let properties) = try note.dbusValue() else { return }
      #expect(properties[.string("image")] == .variant(.array(DBusArray(bytes: Array(note.image)))))
    }
    try Self.roundTrip(Note(image: Data(), mixed: []), "a{sv}")
    // Another client may send them as numbers of another type.
    let numbers = DBusValue.properties([
      (name: "image", value: try [Int32(1), 2].dbusValue()), (name: "mixed", value: .variants([])),
    ])
    #expect(try Note(dbusValue: numbers).image == Data([1, 2]))
  }

  @Test func whatIsNoSuchValueIsAnError() throws {
    #expect(throws: DBusConversionError.self) { try Size(dbusValue: .string("huge")) }
    #expect(throws: DBusConversionError.self) { try "a\0b".dbusValue() }
    #expect(throws: DBusConversionError.self) { try [[1]: 2].dbusValue() }
    #expect(throws: DBusConversionError.self) { try Int?(dbusValue: [1, 2].dbusValue()) }
    #expect(throws: DecodingError.self) { try Person(dbusValue: .properties([(name: "name", value: .string("Ada"))])) }
    #expect(throws: DecodingError.self) { try Person(dbusValue: .int32(1)) }
  }

  @Test func anEnumIsItsCasesName() throws {
    #expect(try Flavor.vanilla.dbusValue() == .string("vanilla"))
    #expect(try Speed.slow.dbusValue() == .string("slow"))
    #expect(try Voice.low.dbusValue() == .string("bass"))
    #expect(throws: DBusConversionError.self) { try Shape.circle(2).dbusValue() }
  }

  @Test(
    arguments: [
      (Flavor.self, .string("mint"), "'mint' is not a case of 'Flavor': 'chocolate' or 'vanilla'"),
      (Flavor.self, .string("Vanilla"), "'Vanilla' is not a case of 'Flavor': 'chocolate' or 'vanilla'"),
      (Flavor.self, .string("a flavor"), "'a flavor' is not a case of 'Flavor': 'chocolate' or 'vanilla'"),
      (Flavor.self, .int32(0), "a value of type 'i' is not a case of 'Flavor': 'chocolate' or 'vanilla'"),
      (Speed.self, .variant(.string("")), "'' is not a case of 'Speed': 'slow' or 'fast'"),
      (Voice.self, .string("low"), "'low' is not a raw value of 'Voice': 'soprano' or 'bass'"),
      (Voltage.self, .byte(7), "'7' is not a raw value of 'Voltage': '110' or '230'"),
      (Size.self, .string("huge"), "'huge' is not a raw value of 'Size'"),
    ] as [(any DBusRepresentable.Type, DBusValue, String)])
  func aNameThatIsNoCaseIsAnErrorThatListsThem(type: any DBusRepresentable.Type, value: DBusValue, message: String) {
    #expect(throws: DBusConversionError(message)) { try type.init(dbusValue: value) }
  }

  private struct Screen: Codable, DBusRepresentable {
    var scale: Double
    var modes: [Mode]
  }

  private struct Mode: Codable, DBusRepresentable {
    var width: Int
  }

  /// What a value of another program does not match is named with its place.
  @Test func aMismatchNamesItsPlace() throws {
    func message(_ members: [(name: String, value: DBusValue)]) -> String? {
      let error = #expect(throws: (any Error).self) { try Screen(dbusValue: .properties(members)) }
      return error.map { FocusError(any: $0).message }
    }
    #expect(
      message([("scale", .string("x")), ("modes", .variants([]))])
        == "'scale': a value of type 's' cannot be converted to 'Double', or is out of range")
    let mode = DBusValue.properties([(name: "width", value: .string("wide"))])
    #expect(
      message([("scale", .double(1)), ("modes", .variants([mode]))])
        == "'modes': 'width': a value of type 's' cannot be converted to 'Int', or is out of range")
    #expect(
      message([("scale", .double(1))]) == "the value does not match its type: the dictionary has no key 'modes'")
    #expect(
      message([("scale", .double(1)), ("modes", .variants([.properties([])]))])
        == "the value does not match its type: the dictionary has no key 'width'")
  }
}
