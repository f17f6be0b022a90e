import BusSupport
import TestSupport
import Testing

/// Calls whose arguments are at their limits and past them, all values within theirs: what is past is refused first,
/// whatever else is wrong.
@Suite(.serialized) struct CallGluttonTests {
  private static let bytes = 4 << 20
  private static let elements = 131_072

  /// A method, and arguments for it of any size.
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let path: String
    let interface: String
    let member: String
    /// Whether a call at the limit succeeds; else something else is wrong with it.
    var succeeds = false
    /// Arguments of so many bytes.
    let sized: @Sendable (Int) -> [WireValue]
    /// Arguments of so many elements; nil if a call cannot have that many with the method's signature.
    let counted: (@Sendable (Int) -> [WireValue])?

    init(
      _ path: String, _ interface: String, _ member: String, succeeds: Bool = false,
      sized: @escaping @Sendable (Int) -> [WireValue], counted: (@Sendable (Int) -> [WireValue])? = nil
    ) {
      testDescription = member
      (self.path, self.interface, self.member, self.succeeds) = (path, interface, member, succeeds)
      (self.sized, self.counted) = (sized, counted)
    }
  }

  private static let field = Focus1.field("a")

  /// Values within their limits, which nearly fill a call: what is still free takes less than 2 KiB.
  private static let values: WireValues =
    (0..<3).map { ("demo.Form.K\($0)", .text(1 << 20)) } + [("demo.Form.K3", .text((1 << 20) - 1_024))]

  /// Arguments of `size` bytes, or a few more: those that `make` makes with a text of the right size.
  private static func fitted(_ size: Int, _ make: (Int) -> [WireValue]) -> [WireValue] {
    make(5 + size - WireBytes(make(5)).count)
  }

  /// The most values that nearly fill a call, and one of `size` bytes.
  private static func filled(_ size: Int) -> WireValue { .properties(values + [("demo.Form.Rest", .text(size))]) }

  /// Two values that have `count` elements together with their keys.
  private static func counted(_ count: Int) -> WireValue {
    .properties([
      ("demo.Form.C0", .array(65_535, of: .variant(.byte(1)))),
      ("demo.Form.C1", .array(count - 65_537, of: .variant(.byte(1)))),
    ])
  }

  static let cases: [Case] = [
    Case(
      Focus1.manager, Focus1.managerInterface, "Register", succeeds: true,
      sized: { fitted($0) { [.string("b"), .properties(values), .properties([("label", .text($0))])] } },
      counted: { [.string("b"), counted($0 - 2), .properties()] }),
    Case(
      field, Focus1.fieldInterface, "Publish", succeeds: true,
      sized: { fitted($0) { [filled($0), .properties()] } }, counted: { [counted($0 - 1), .properties()] }),
    Case(
      Focus1.focused, Focus1.bindings, "Write",
      sized: { fitted($0) { [.string("demo.Form.Text"), .variant(.byte(1)), filled($0)] } },
      counted: { [.string("demo.Form.Text"), .variant(.byte(1)), counted($0 - 2)] }),
    Case(
      Focus1.focused, Focus1.properties, "Set",
      sized: { fitted($0) { [.string("demo.Form"), .string("Text"), .variant(.text($0))] } },
      counted: { [.string("demo.Form"), .string("Text"), .variant(.array($0 - 2, of: .string("")))] }),
    Case(
      field, Focus1.fieldInterface, "SetEnabled",
      sized: { fitted($0) { [.dictionary("s", "b", [(.text($0), .boolean(true))])] } },
      counted: { [.dictionary(($0 + 1) / 2, of: .string("demo.Form.Run"), .boolean(true))] }),
    Case(
      field, Focus1.fieldInterface, "Withdraw",
      sized: { fitted($0) { [.array(of: "s", [.text($0)])] } },
      counted: { [.array($0, of: .string("demo.Form.Nothing"))] }),
    Case(
      Focus1.focused, Focus1.bindings, "Invoke",
      sized: { fitted($0) { [.string("demo.Form.Run"), .array(0, of: .variant(.byte(1))), filled($0)] } },
      counted: { [.string("demo.Form.Run"), .array($0 - 2, of: .variant(.string(""))), .properties()] }),
    Case(Focus1.focused, Focus1.bindings, "Read", sized: { fitted($0) { [.text($0)] } }),
    Case(Focus1.focused, Focus1.properties, "Get", sized: { fitted($0) { [.string("demo.Form"), .text($0)] } }),
    Case(Focus1.focused, Focus1.properties, "GetAll", sized: { fitted($0) { [.text($0)] } }),
  ]

  @Test(arguments: cases) func theArgumentsOfACall(_ call: Case) async throws {
    try await Siege.with { siege in
      try siege.takes("Register") {
        try siege.glutton.register("a", [("demo.Form.Text", .string(""))], [("focus", .boolean(true))])
      }
      func send(_ arguments: [WireValue], by glutton: Glutton) throws -> Glutton.Answer {
        try glutton.call(call.path, call.interface, call.member, arguments)
      }
      func check(_ what: String, _ limit: Int, _ make: (Int) -> [WireValue], _ size: ([WireValue]) -> Int) throws {
        // One past the limit, or as few as the method's signature allows.
        var (more, excess) = (make(limit + 1), 1)
        while size(more) <= limit {
          excess += 1
          more = make(limit + excess)
        }
        try siege.refuses("\(call.member) of more \(what)") { try send(more, by: siege.glutton) }
        // Whose field it is does not matter.
        try siege.refuses("\(call.member) of more \(what), by another") { try send(more, by: siege.watcher) }
        // One value alone is past its own limit.
        guard call.member != "Set" else { return }
        let most = make(limit)
        #expect(size(most) == limit, "\(call.member) of \(what)")
        let answer = try send(most, by: siege.glutton)
        let isRight = call.succeeds ? answer.error == nil : !answer.isPastLimit
        #expect(isRight, "\(call.member) of \(what): \(answer)")
        _ = try siege.glutton.field("b", "Unregister")
      }
      try check("bytes", Self.bytes, call.sized) { WireBytes($0).count }
      if let counted = call.counted { try check("elements", Self.elements, counted) { $0.elements } }
    }
  }
}
