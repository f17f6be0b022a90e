import BusSupport
import DBusTypes
import Foundation
import Testing

/// What a field shows of an object that is registered, as the object describes itself and the registrant chooses.
@Suite struct LookTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let xml: String
    let options: Named
    /// What the object answers to each `GetAll`.
    let values: Named
    /// The keys and commands of the field, those that can only be written with a `?`, or the error.
    let shown: String

    init(_ description: String, _ xml: String, _ options: Named = [], values: Named = [], shows shown: String) {
      (testDescription, self.xml, self.options, self.values, self.shown) = (description, xml, options, values, shown)
    }
  }

  private static let two = document(
    ("demo.A", property("X", "i") + method("Go")), ("demo.B", property("Y", "i")),
    ("org.freedesktop.Other", property("Z", "i")))
  private static let values: Named = [("X", .int32(1)), ("Y", .int32(2)), ("Z", .int32(3))]
  private static let responder = document(("org.focusd.Focus1.Responder", method("RequestFocus", in: ["o"])))

  private static func interfaces(_ names: String...) -> (name: String, value: DBusValue) {
    ("interfaces", .strings(names))
  }

  private static func commands(_ key: String) -> (name: String, value: DBusValue) {
    let entry = DBusDictionary.Entry(key: .string(key), value: .string(""))
    return ("commands", .dictionary(DBusDictionary(known: .string, .string, [entry])))
  }

  private static let cases = [
    Case("all interfaces but reserved ones", two, values: values, shows: "demo.A.X demo.B.Y demo.A.Go"),
    Case("chosen ones", two, [interfaces("demo.B")], values: [("Y", .int32(2))], shows: "demo.B.Y"),
    Case("one that is not there", two, [interfaces("demo.C")], shows: "InvalidArgs"),
    Case("a reserved one", two, [interfaces("org.freedesktop.Other")], shows: "InvalidArgs"),
    Case("nothing but standard interfaces", document(), shows: "NothingToExpose"),
    Case("a responder alone", responder, shows: ""),
    Case(
      "a command that is not shown", two, [commands("demo.A.More")], values: values,
      shows: "demo.A.X demo.B.Y demo.A.Go demo.A.More"),
    Case("one that is shown", two, [commands("demo.A.Go")], values: values, shows: "demo.A.X demo.B.Y demo.A.Go"),
    Case("one on an interface that is not exposed", two, [commands("demo.C.Go")], shows: "InvalidArgs"),
    Case(
      "an undeclared property of a chosen interface", document(("demo.A", method("Go"))), [interfaces("demo.A")],
      values: [("X", .int32(1))], shows: "demo.A.X demo.A.Go"),
    Case(
      "an undeclared property of any other", document(("demo.A", property("X", "i"))),
      values: [("X", .int32(1)), ("Q", .int32(1))], shows: "demo.A.X"),
    Case(
      "a write-only property", document(("demo.A", property("X", "i", "write"))), values: [("X", .int32(1))],
      shows: "demo.A.X?"),
  ]

  @Test(arguments: cases) func registration(_ each: Case) async throws {
    try await Stage.with { stage in
      try stage.turn([.call(carl, .register("dial", object: OwnersObject.path, each.options))])
      try stage.wait(for: "Introspect", of: carl)
      var sent = try stage.turn([.answered(carl, "Introspect", [.string(each.xml)])])
      for _ in stage.bus.questions { sent += try stage.turn([.answered(carl, "GetAll", [.properties(each.values)])]) }
      let reply = try #require(sent.first { $0.isReply })
      guard reply.error == nil else {
        #expect(reply.error == each.shown)
        return
      }
      let properties = DaemonCall.getAll(Focus1.bindings, at: Focus1.field("dial"))
      let lines = try stage.settle([.call(bert, properties), .call(bert, .introspect(Focus1.field("dial")))])
      let text = lines.lines.joined(separator: "\n")
      for name in each.shown.split(separator: " ") {
        let (interface, member) = Focus1.split(name.filter { $0 != "?" })
        #expect(text.contains("\(interface).\(member)"), "\(name)")
        #expect(!name.hasSuffix("?") || text.contains("name=\"\(member)\" type=\"i\" access=\"write\""), "\(name)")
      }
      for other in ["demo.A.X", "demo.B.Y", "demo.A.Go", "demo.A.More", "demo.A.Q", "org.freedesktop.Other.Z"] {
        #expect(text.contains(other) == each.shown.contains(other), "\(other)")
      }
      #expect(text.components(separatedBy: "method name=\"Go\"").count <= 2)
      try stage.shown()
    }
  }
}
