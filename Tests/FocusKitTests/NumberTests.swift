import BusSupport
import DBusTypes
import FocusKit
import TestSupport
import Testing

/// Numbers are taken for one another if nothing is lost.
@Suite struct NumberTests {
  /// A type of numbers on the bus.
  private struct BusType: Sendable {
    let code: String
    /// The integer as this type, or nil.
    let value: @Sendable (Int128) -> DBusValue?

    init<Integer: FixedWidthInteger & SendableMetatype>(
      _ code: String, _ make: @escaping @Sendable (Integer) -> DBusValue
    ) {
      self.code = code
      value = { Integer(exactly: $0).map(make) }
    }

    private init(code: String, value: @escaping @Sendable (Int128) -> DBusValue?) {
      (self.code, self.value) = (code, value)
    }

    static let double = BusType(code: "d") { NumberTests.isDouble($0) ? .double(Double($0)) : nil }
  }

  private static let busTypes = [
    BusType("y", DBusValue.byte), BusType("n", DBusValue.int16), BusType("q", DBusValue.uint16),
    BusType("i", DBusValue.int32), BusType("u", DBusValue.uint32), BusType("x", DBusValue.int64),
    BusType("t", DBusValue.uint64), .double,
  ]

  private static let swiftTypes: [any DBusRepresentable.Type] = [
    Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self, UInt8.self, UInt16.self, UInt32.self,
    UInt64.self, Double.self,
  ]

  /// The limits of each type, and their neighbours.
  private static let integers: [Int128] = {
    let powers = [0, 7, 8, 15, 16, 31, 32, 52, 53, 54, 63, 64].map { Int128(1) << $0 }
    return Set(powers.flatMap { power in (-1...1).flatMap { [power + $0, -power + $0] } }).sorted()
  }()

  /// Whether a double has all the digits of `integer`: at most 53 bits between its first and its last 1.
  private static func isDouble(_ integer: Int128) -> Bool {
    let magnitude = integer.magnitude
    return magnitude == 0 || magnitude.bitWidth - magnitude.leadingZeroBitCount - magnitude.trailingZeroBitCount <= 53
  }

  /// Whether a Swift type can hold `integer`.
  private static func fits(_ integer: Int128, _ type: any DBusRepresentable.Type) -> Bool {
    func fits<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Bool { Integer(exactly: integer) != nil }
    guard let type = type as? any FixedWidthInteger.Type else { return isDouble(integer) }
    return fits(type)
  }

  /// The number as a value of its own type's widest kind.
  private static func text(_ number: any DBusRepresentable) -> String {
    (number as? Double).map { "\(Int128($0))" } ?? "\(number)"
  }

  @Test func eachTypeReadsEachOtherThatItHoldsExactly() {
    var count = 0
    for bus in Self.busTypes {
      for integer in Self.integers {
        guard let value = bus.value(integer) else { continue }
        for type in Self.swiftTypes {
          for value in [value, .variant(value)] {
            let read = try? type.init(dbusValue: value)
            let expected = Self.fits(integer, type) ? "\(integer)" : nil
            #expect(read.map(Self.text) == expected, "\(bus.code) \(integer) as \(type)")
            count += 1
          }
        }
      }
    }
    #expect(count > 5000)
  }

  @Test(arguments: [0.5, -0.0, .nan, .infinity, -.infinity, 1e300, .leastNonzeroMagnitude, 0x1p64, 0x1p128, -0x1p65])
  func aDoubleThatIsNotAnIntegerIsNone(double: Double) throws {
    for type in Self.swiftTypes where type != Double.self {
      #expect(throws: DBusConversionError.self, "\(type)") { try type.init(dbusValue: .double(double)) }
    }
    #expect(try Double(dbusValue: .double(double)).bitPattern == double.bitPattern)
  }

  @Test func aFloatIsRoundedButNeverInfiniteForANumber() throws {
    #expect(try Float(dbusValue: .double(0.1)) == 0.1)
    #expect(try Float(dbusValue: .double(.infinity)) == .infinity)
    #expect(try Float(dbusValue: .double(.nan)).isNaN)
    #expect(throws: DBusConversionError.self) { try Float(dbusValue: .double(1e300)) }
  }

  @Test func whatIsNoNumberIsNoneForANumber() {
    for value in [DBusValue.boolean(true), .string("1"), .array(DBusArray(known: .int32, [.int32(1)]))] {
      for type in Self.swiftTypes + [Float.self] {
        #expect(throws: DBusConversionError.self) { try type.init(dbusValue: value) }
      }
    }
    #expect(throws: DBusConversionError.self) { try Bool(dbusValue: .int32(1)) }
    #expect(throws: DBusConversionError.self) { try String(dbusValue: .int32(1)) }
  }

  private struct Toolbar {
    @FocusedBinding var number: Int?

    init(_ client: FocusClient) { _number = FocusedBinding(\.number, client: client) }
  }

  @Test(arguments: ["y", "n", "q", "i", "u", "x", "t", "d"])
  func aBindingKeepsTheTypeThatItsFieldPublishes(code: String) async throws {
    try await TestDesktop.with { desktop in
      _ = try await desktop.focusctl("register", "text1", "demo.Form.Number:\(code)=5", "--focus")
      let client = desktop.client()
      let (toolbar, seen) = (Toolbar(client), Changes(client.changes(of: \.number)))
      try await seen.wait(for: 5)
      toolbar.number? += 1
      let other = Changes(desktop.client().changes(of: \.number))
      try await other.wait(for: 6)
      #expect(try await client.write(\.number, 7) == 7)
      #expect(try await desktop.busctl(get: "demo.Form.Number") == "\(code) 7")
    }
  }

  @Test func aReaderOfAnotherTypeGetsNilAndSaysSoOnce() async throws {
    try await TestDesktop.with { desktop in
      _ = try await desktop.focusctl("register", "text1", "demo.Form.Number=abc", "--focus")
      let client = desktop.client()
      let errors = Errors(of: client)
      let toolbar = Toolbar(client)
      let seen = Changes(client.changes(of: \.number))
      try await errors.wait(count: 1)
      _ = try await desktop.focusctl("set", "demo.Form.Number", "abcd")
      try await until("the connection") { client.isConnected }
      for _ in 0..<10 { #expect(toolbar.number == nil) }
      #expect(seen.all.allSatisfy { $0 == nil })
      let error = try #require(errors.all.first)
      #expect(error.name == FocusError.typeMismatch)
      #expect(error.message.contains("'Int'") && error.message.contains("type 's'"), "\(error)")
      await #expect(throws: error) { try await client.read(\.number) }
      await #expect(throws: error) { try await client.update(\.number) { $0 += 1 } }
      #expect(errors.all.count == 1)
    }
  }

  @Test func aReaderOfACommandThatIsAValueGetsNilAndSaysSoOnce() async throws {
    try await TestDesktop.with { desktop in
      let field = FocusField("text1", client: desktop.client())
        .focusedValue(\.entry, .constant(1))
        .command("demo.Form.Title") {}
        .register()
      try await field.focus()
      let client = desktop.client()
      let errors = Errors(of: client)
      let command = FocusedValue(\.entryAsCommand, client: client)
      let title = FocusedValue(\.title, client: client)
      try await until("the values") { client.isConnected }
      for _ in 0..<10 { #expect(command.wrappedValue == nil && title.wrappedValue == nil) }
      try await errors.wait(count: 2)
      #expect(errors.all.allSatisfy { $0.name == FocusError.typeMismatch })
      #expect(try await client.read("demo.Entry.Number", as: Int.self) == 1)
      #expect(errors.all.count == 2)
    }
  }
}

extension FocusedValues {
  fileprivate var entry: Binding<Int>? {
    get { self["demo.Entry.Number"] }
    set { self["demo.Entry.Number"] = newValue }
  }
  /// What another program takes the same key for.
  fileprivate var entryAsCommand: FocusedCommand? {
    get { self["demo.Entry.Number"] }
    set { self["demo.Entry.Number"] = newValue }
  }
}
