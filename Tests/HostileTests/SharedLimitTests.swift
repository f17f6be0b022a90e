import BusSupport
import Foundation
import TestSupport
import Testing

/// What clients share, which is the room for fields that outlive their owners, and the daemon's.
///
/// Who is refused because of others is told so.
@Suite(.serialized) struct SharedLimitTests {
  private static let linger: WireValues = [("linger", .boolean(true))]
  private static let one: WireValues = [("demo.Form.One", .byte(1))]

  /// Registers `count` fields, and checks that each is taken.
  private static func fill(
    _ glutton: Glutton, _ count: Int, _ prefix: String, _ options: WireValues = []
  ) throws {
    #expect(try glutton.calls(count) { .register("\(prefix)\($0)", [], options) } == [nil: count])
  }

  @Test func lingeringFields() async throws {
    try await Siege.with { siege in
      let glutton = siege.glutton
      // What all fields show would take long to compare; that there is no other field is enough.
      let view: (Glutton) throws -> [Data] = { try $0.view(of: "p0") + $0.view(of: "more") }
      func refuse(_ what: String) throws {
        try siege.refusesForOthers(what, view: view) { try glutton.register("more", [], Self.linger) }
        try siege.takes("one that does not linger") { try glutton.register("more") }
        try siege.takes("Unregister") { try glutton.field("more", "Unregister") }
      }
      do {
        let third = try Glutton(on: siege.bus)
        do {
          let (first, second) = (try Glutton(on: siege.bus), try Glutton(on: siege.bus))
          try Self.fill(first, 1_400, "p", Self.linger)
          try Self.fill(second, 1_400, "q", Self.linger)
          try Self.fill(third, 1_295, "r", Self.linger)
          try siege.takes("the last one") { try glutton.register("last", [], Self.linger) }
          try refuse("one more, while the owners are there")
          try siege.refusesForOthers("one more of an owner's own", view: view) {
            try first.register("more", [], Self.linger)
          }
          try siege.takes("Unregister") { try first.field("p1", "Unregister") }
          try siege.takes("one instead of it") { try glutton.register("p1", [], Self.linger) }
        }
        try siege.waitForOrphan("p0")
        try siege.waitForOrphan("q0")
        try refuse("one more, with two owners gone")
      }
      try siege.waitForOrphan("r0")
      try refuse("one more, with all owners gone")
      try siege.takes("Unregister") { try glutton.field("q7", "Unregister") }
      try siege.takes("one instead of it") { try glutton.register("q7", [], Self.linger) }
      try refuse("one more, after that")
    }
  }

  @Test(arguments: OwnerLimitTests.cases) func lingeringValues(_ filling: OwnerLimitTests.Case) async throws {
    try await Siege.with { siege in
      let glutton = siege.glutton
      try siege.takes("Register") { try glutton.register("a", [("demo.Form.Text", .string(""))], Self.linger) }
      try siege.takes("Withdraw") { try glutton.field("a", "Withdraw", [.array(of: "s", [.string("demo.Form.Text")])]) }
      func refuse(_ what: String) throws {
        try siege.refusesForOthers("Register, \(what)") { try glutton.register("b", Self.one, Self.linger) }
        try siege.refusesForOthers("Publish, \(what)") { try glutton.publish(Self.one, on: "a") }
        try siege.takes("one that does not linger") { try glutton.register("b", Self.one) }
        try siege.takes("Unregister") { try glutton.field("b", "Unregister") }
      }
      do {
        let owners = try [Glutton(on: siege.bus), Glutton(on: siege.bus)]
        for (number, owner) in owners.enumerated() {
          try siege.takes("Register") { try owner.register("f\(number)", [], Self.linger) }
          for value in 0..<filling.count / 2 {
            try siege.takes("Publish") {
              try owner.publish([("demo.Form.K\(String(value, radix: 16))", filling.value)], on: "f\(number)")
            }
          }
        }
        try refuse("while the owners are there")
      }
      try siege.waitForOrphan("f0")
      try siege.waitForOrphan("f1")
      try refuse("with the owners gone")
      try siege.takes("Withdraw") {
        try glutton.field("f1", "Withdraw", [.array(of: "s", [.string("demo.Form.K0")])])
      }
      try siege.takes("Register instead of it") { try glutton.register("b", Self.one, Self.linger) }
      try siege.refusesForOthers("what was withdrawn") {
        try siege.watcher.publish([("demo.Form.K0", filling.value)], on: "f1")
      }
    }
  }

  @Test(arguments: OwnerLimitTests.cases) func valuesOfAllOwners(_ filling: OwnerLimitTests.Case) async throws {
    try await Siege.with { siege in
      let glutton = siege.glutton
      try siege.takes("Register") { try glutton.register("a") }
      // No reply can show all that is there now.
      let view: (Glutton) throws -> [Data] = { try $0.view(of: "a") + $0.view(of: "b") }
      func refuse(_ what: String) throws {
        try siege.refusesForOthers("Register, \(what)", view: view) { try glutton.register("b", Self.one) }
        try siege.refusesForOthers("Publish, \(what)", view: view) { try glutton.publish(Self.one, on: "a") }
      }
      var owners: [Glutton] = []
      for number in 0..<4 {
        let owner = try Glutton(on: siege.bus)
        owners.append(owner)
        try siege.takes("Register") { try owner.register("f\(number)") }
        for value in 0..<filling.count {
          try siege.takes("Publish") {
            try owner.publish([("demo.Form.K\(String(value, radix: 16))", filling.value)], on: "f\(number)")
          }
        }
      }
      try refuse("with four owners")
      if filling.testDescription == "16 MiB" {
        // No message carries all of it: it is not even begun.
        let before = siege.daemon.residentMemory
        siege.daemon.forgetPeak()
        let all = try siege.watcher.call(Focus1.manager, Focus1.objectManager, "GetManagedObjects")
        let peak = siege.daemon.peakMemory
        #expect(all.isPastLimit, "\(all)")
        #expect(isSanitized || peak < before + (16 << 10), "\(before) KiB before, then \(peak) KiB")
      }
      try siege.refuses("Publish of an owner that is full itself", view: view) {
        try owners[0].publish(Self.one, on: "f0")
      }
      try siege.takes("a field without values") { try glutton.register("b") }
      try siege.takes("Unregister") { try glutton.field("b", "Unregister") }
      owners.removeLast()
      try siege.waitForEnd("f3")
      try siege.takes("Register once one of them has left") { try glutton.register("b", Self.one) }
    }
  }

  @Test(.enabled(if: isSlow, ".ci/slow runs it")) func fieldsOfAllOwners() async throws {
    try await Siege.with { siege in
      var owners: [Glutton] = []
      for number in 0..<32 {
        let owner = try Glutton(on: siege.bus)
        owners.append(owner)
        try Self.fill(owner, 4_096, "f\(number)_")
      }
      let view: (Glutton) throws -> [Data] = { try $0.view(of: "more") }
      try siege.refusesForOthers("one more", view: view) { try siege.glutton.register("more") }
      owners.removeLast()
      try siege.waitForEnd("f31_0")
      try siege.waitForEnd("f31_4095")
      try siege.takes("one more, once an owner has left") { try siege.glutton.register("more") }
    }
  }
}
