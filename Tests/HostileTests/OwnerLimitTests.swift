import BusSupport
import TestSupport
import Testing

/// What an owner may have: taken at the limit, refused past it, and taken again once something is given back.
@Suite(.serialized) struct OwnerLimitTests {
  /// Values that fill something up exactly, one for each call, and one that does not fit beside them.
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let value: WireValue
    /// How many of them an owner may have.
    let count: Int
  }

  static let cases = [
    // With a name of 12 bytes each.
    Case(testDescription: "16 MiB", value: .text((1 << 20) - 12), count: 16),
    Case(testDescription: "262,144 elements", value: .array(65_536, of: .variant(.byte(1))), count: 4),
    Case(testDescription: "262,144 empty arrays", value: .array(65_536, of: .array(0, of: .string(""))), count: 4),
  ]

  @Test(arguments: cases) func valuesOfAnOwner(_ filling: Case) async throws {
    try await Siege.with { siege in
      let (glutton, another) = (siege.glutton, try Glutton(on: siege.bus))
      try siege.takes("Register") { try glutton.register("a", [("demo.Form.One", .byte(1))]) }
      for number in 0..<filling.count {
        if number == filling.count - 1 {
          try siege.refuses("what the one byte is too much for") {
            try glutton.publish([("demo.Form.K\(String(number, radix: 16))", filling.value)], on: "a")
          }
          try siege.takes("Withdraw") {
            try glutton.field("a", "Withdraw", [.array(of: "s", [.string("demo.Form.One")])])
          }
        }
        try siege.takes("value \(number)") {
          try glutton.publish([("demo.Form.K\(String(number, radix: 16))", filling.value)], on: "a")
        }
      }
      let one: WireValues = [("demo.Form.One", .byte(1))]
      try siege.refuses("Register") { try glutton.register("b", one) }
      try siege.refuses("Publish") { try glutton.publish(one, on: "a") }
      try siege.takes("a field without values") { try glutton.register("c") }
      try siege.refuses("Publish there") { try glutton.publish(one, on: "c") }
      try siege.takes("another's field") { try another.register("d", one) }
      // A write counts for the owner, whoever makes it.
      let (path, least) = (Focus1.field("a"), filling.value.least)
      try siege.takes("a write of less") { try another.write("demo.Form.K0", least, at: path) }
      try siege.takes("Register once more") { try glutton.register("b", one) }
      try siege.refuses("a write of as much as before") { try another.write("demo.Form.K0", filling.value, at: path) }
      try siege.takes("Unregister") { try glutton.field("b", "Unregister") }
      try siege.takes("a write again") { try another.write("demo.Form.K0", filling.value, at: path) }
      try siege.takes("Unregister") { try glutton.field("a", "Unregister") }
      try siege.takes("Register with nothing in the way") { try glutton.register("b", one) }
    }
  }

  /// What an owner's object tells counts as well, and is nil as far as it does not fit.
  @Test func boundValuesOfAnOwner() async throws {
    try await Siege.with { siege in
      let glutton = siege.glutton
      let names = (0..<5).map { "V\($0)" }
      let value = WireValue.array(65_536, of: .variant(.byte(1)))
      glutton.object = WireObject("/object", "demo.Bound", names.map { ($0, value) })
      try siege.takes("Register") { try glutton.register("a", [], [("object", .path("/object"))]) }
      func held() throws -> Int {
        try names.count { name in
          let arguments: [WireValue] = [.string("demo.Bound"), .string(name)]
          return try siege.watcher.call(Focus1.field("a"), Focus1.properties, "Get", arguments).error == nil
        }
      }
      #expect(try held() == 4)
      try siege.refuses("Register") { try glutton.register("b", [("demo.Form.One", .byte(1))]) }
      if let less = glutton.object?.change(names.map { ($0, .array(10, of: .variant(.byte(1)))) }) {
        try glutton.begin(less)
      }
      try siege.takes("Register, once its object has less") {
        try glutton.register("b", [("demo.Form.One", .byte(1))])
      }
      #expect(try held() == 5)
    }
  }

  @Test func fieldsOnOneObject() async throws {
    try await Siege.with { siege in
      let glutton = siege.glutton
      glutton.object = WireObject("/object", "demo.Bound", [("Value", .byte(1))])
      let options: WireValues = [("object", .path("/object"))]
      for number in 0..<16 {
        try siege.takes("field \(number)") { try glutton.register("f\(number)", [], options) }
      }
      try siege.refuses("one more") { try glutton.register("more", [], options) }
      try siege.takes("Unregister") { try glutton.field("f7", "Unregister") }
      try siege.takes("one instead of it") { try glutton.register("more", [], options) }
    }
  }

  /// A signal that is emitted again from the field has 1 MiB at most.
  @Test func signalsOfAnObject() async throws {
    try await Siege.with { siege in
      let glutton = siege.glutton
      glutton.object = WireObject("/object", "demo.Bound", [("Value", .byte(1))])
      try siege.takes("Register") { try glutton.register("a", [], [("object", .path("/object"))]) }
      for (size, count) in [(1 << 20, 1), ((1 << 20) + 1, 0)] {
        let before = siege.watcher.signals.count
        try glutton.begin(.signal("/object", "demo.Bound", "Rang", [.text(size)]))
        // Once this is answered, so is what the bus had before it.
        _ = try glutton.call(Focus1.manager, "org.freedesktop.DBus.Peer", "Ping")
        _ = try siege.watcher.view()
        #expect(siege.watcher.signals[before...].count { $0 == "Rang" } == count, "a signal of \(size) bytes")
      }
    }
  }
}

extension WireValue {
  /// A value of the same signature, of a few bytes and one element less at least.
  fileprivate var least: WireValue {
    switch signature {
    case "s": .string("")
    case "av": .array(1, of: .variant(.byte(1)))
    default: .array(1, of: .array(0, of: .string("")))
    }
  }
}
