import BusSupport
import TestSupport
import Testing

/// Calls of 60 MiB: each is refused without being decoded, and gives back what it took.
@Suite(.serialized) struct GluttonTests {
  private static let size = 60 << 20

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let path: String
    let interface: String
    let member: String
    let arguments: [WireValue]

    init(_ name: String, _ path: String, _ interface: String, _ member: String, _ arguments: [WireValue]) {
      testDescription = "\(member) of \(name)"
      (self.path, self.interface, self.member, self.arguments) = (path, interface, member, arguments)
    }

    /// An `Invoke` of a command that no field has.
    static func invoke(_ name: String, _ arguments: WireValue) -> Case {
      Case(name, Focus1.focused, Focus1.bindings, "Invoke", [.string("demo.No.Command"), arguments, .properties()])
    }

    static func register(_ name: String, _ values: WireValues, _ options: WireValues = []) -> Case {
      Case(
        name, Focus1.manager, Focus1.managerInterface, "Register",
        [.string("b"), .properties(values), .properties(options)])
    }

    static func write(_ name: String, _ key: String, at path: String) -> Case {
      Case(name, path, Focus1.bindings, "Write", [.string(key), .variant(bytes), .properties()])
    }
  }

  private static let bytes = WireValue.array(size / 4, of: .variant(.byte(1)))
  private static let pairs = WireValue.structure([.byte(1), .variant(.byte(2))])

  static let cases: [Case] = [
    .invoke("bytes", bytes),
    .invoke("empty strings", .array(size / 8, of: .variant(.string("")))),
    .invoke("structs", .array(size / 8, of: .variant(.structure([.byte(1)])))),
    .invoke("deep variants", .array(size / 160, of: .variants(50))),
    .invoke("empty dictionaries", .array(size / 16, of: .variant(.properties()))),
    .register("60 values", (0..<60).map { ("demo.Form.K\($0)", .array(262_143, of: .variant(.byte(1)))) }),
    .register("one value", [("demo.Form.K", .array(size / 8, of: pairs))]),
    .register("a text", [("demo.Form.K", .text(size))]),
    .register("an unknown option", [], [("nothing", bytes)]),
    .register("a label", [], [("label", .text(size))]),
    Case("keys", Focus1.field("a"), Focus1.fieldInterface, "Withdraw", [.array(size / 8, of: .string(""))]),
    Case(
      "2,000,000 commands", Focus1.field("a"), Focus1.fieldInterface, "SetEnabled",
      [.dictionary(2_000_000, of: .string(""), .boolean(true))]),
    .write("nil", "demo.Form.Nothing", at: Focus1.focused),
    .write("an element", "demo.Form.List/-", at: Focus1.field("a")),
  ]

  /// What a message of 60 MiB takes while it is received, and may be kept of it when it is over, in KiB.
  private static let (most, rest) = (256 << 10, 16 << 10)

  @Test(arguments: cases) func aCallOf60MiB(_ item: Case) async throws {
    try await Siege.with { siege in
      try siege.takes("Register") {
        try siege.glutton.register("a", [("demo.Form.List", .array(1, of: .variant(.byte(1))))])
      }
      // By somebody who owns nothing.
      let stranger = try Glutton(on: siege.bus)
      let before = siege.daemon.residentMemory
      siege.daemon.forgetPeak()
      try siege.refuses(item.testDescription) {
        try stranger.call(item.path, item.interface, item.member, item.arguments)
      }
      let (peak, after) = (siege.daemon.peakMemory, siege.daemon.residentMemory)
      let memory = "\(before) KiB before, \(peak) KiB at most, \(after) KiB after"
      print("\(item.testDescription): \(memory)")
      guard !isSanitized else { return }
      #expect(peak < before + Self.most, "\(memory)")
      #expect(after < before + Self.rest, "\(memory)")
    }
  }

  /// However often it is tried.
  @Test func refusedCallsLeaveNothing() async throws {
    try await TestDesktop.with { desktop in
      try await desktop.daemon.needsNoMore("refused calls of 8 MiB") {
        try await onThread {
          let glutton = try Glutton(on: desktop.bus)
          let (bytes, texts) = (WireValue.variant(.byte(1)), WireValue.variant(.string("")))
          for shape in [WireValue.array(1 << 21, of: bytes), .array(1 << 20, of: texts), .text(8 << 20)] {
            #expect(try glutton.register("a", [("demo.Form.Value", shape)]).isPastLimit)
            #expect(try glutton.invoke("demo.Form.Run", .array(1, of: .variant(shape))).isPastLimit)
          }
        }
      }
    }
  }

  /// A command that is called as a method of the field's object or of `focused`, and by `Invoke` within its limit.
  @Test func aCommandThatIsPassedOn() async throws {
    try await Siege.with { siege in
      let owner = siege.glutton
      var object = WireObject("/object", "demo.Bound")
      object.methods = ["Run"]
      owner.object = object
      try siege.takes("Register") {
        try owner.register("a", [], [("object", .path("/object")), ("focus", .boolean(true))])
      }
      func pass(_ draft: WireDraft) throws -> Glutton.Answer {
        let serial = try siege.watcher.begin(draft)
        try owner.serve(calls: 1)
        return try siege.watcher.answer(to: serial)
      }
      let many = WireValue.array(5 << 18, of: .variant(.byte(1)))
      let before = siege.daemon.residentMemory
      siege.daemon.forgetPeak()
      for path in [Focus1.field("a"), Focus1.focused] {
        let draft = WireDraft.call(to: Focus1.name, path, "demo.Bound", "Run", [many])
        let answer = try pass(draft)
        #expect(answer.error == nil, "\(path): \(answer)")
        #expect(answer.body == WireBytes([.uint32(UInt32(draft.body.count))]).bytes)
      }
      // 5 MiB are in several buffers at once; their 1,310,720 elements would take as many times 40 bytes.
      let peak = siege.daemon.peakMemory
      #expect(isSanitized || peak < before + (40 << 10), "\(before) KiB before, then \(peak) KiB")
      // With the command and the empty options, 131,072 elements.
      let most = WireValue.array(2, of: .variant(.array(65_535, of: .int32(1))))
      let invoked = try pass(
        .call(
          to: Focus1.name, Focus1.focused, Focus1.bindings, "Invoke",
          [.string("demo.Bound.Run"), most, .properties()]))
      #expect(invoked.error == nil, "Invoke: \(invoked)")
    }
  }
}
