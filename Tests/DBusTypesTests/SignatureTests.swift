import DBusTypes
import TestSupport
import Testing

private func repeated(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

@Suite struct SignatureTests {
  @Test(
    arguments: [
      ("", []), ("y", [.byte]), ("ybnqiuxtdsogh", ValueGenerator.basicTypes + [.unixFD]), ("v", [.variant]),
      ("as", [.array(.string)]), ("aay", [.array(.array(.byte))]), ("(i)", [.structure([.int32])]),
      ("(i(s))", [.structure([.int32, .structure([.string])])]),
      ("a{sv}", [.dictionary(key: .string, value: .variant)]),
      ("a{ya{ss}}", [.dictionary(key: .byte, value: .dictionary(key: .string, value: .string))]),
      ("a(ii)", [.array(.structure([.int32, .int32]))]), ("a{hv}", [.dictionary(key: .unixFD, value: .variant)]),
      ("sa{sv}as", [.string, .dictionary(key: .string, value: .variant), .array(.string)]),
      ("aa{sv}", [.array(.dictionary(key: .string, value: .variant))]),
    ] as [(String, [DBusType])])
  func valid(text: String, types: [DBusType]) throws {
    #expect(try Signature(text).types == types)
    #expect(try Signature(types).text == text)
    if types.count == 1 {
      #expect(try DBusType(text) == types[0])
      #expect(types[0].description == text)
    } else {
      #expect(throws: SyntaxError.self) { try DBusType(text) }
    }
  }

  @Test(arguments: [
    "a", "aa", "(", ")", "()", "(i", "i)", "(a)", "{sv}", "a{", "a{s", "a{s}", "a{}", "a{sv", "a{svv}", "a{vs}",
    "a{(s)s}", "a{ass}", "a{sa}", "r", "e", "z", "m", "*", "?", " i", "i ", "i\0", "\0", "é", "a()", "(()i)", "A",
  ])
  func invalid(text: String) {
    #expect(throws: SyntaxError.self) { try Signature(text) }
  }

  @Test func lengthUpTo255() throws {
    #expect(try Signature(repeated("y", 255)).types.count == 255)
    #expect(throws: SyntaxError.self) { try Signature(repeated("y", 256)) }
    #expect(throws: SyntaxError.self) { try Signature([DBusType](repeating: .byte, count: 256)) }
    #expect(throws: SyntaxError.self) { try Signature(repeated("y", 10_000_000)) }
  }

  // (before, how often, at the core, after each, valid)
  @Test(
    arguments: [
      ("a", 32, "y", "", true), ("a", 33, "y", "", false), ("(", 32, "y", ")", true), ("(", 33, "y", ")", false),
      ("a(", 32, "y", ")", true), ("a(", 31, "aay", ")", false), ("a{y", 32, "y", "}", true),
      ("a{y", 33, "y", "}", false), ("a{ya", 16, "y", "}", true), ("(", 200, "y", "", false), ("a", 255, "", "", false),
    ] as [(String, Int, String, String, Bool)])
  func depthUpTo32ArraysAnd32Structures(
    before: String, count: Int, core: String, after: String, isValid: Bool
  ) {
    let signature = try? Signature(repeated(before, count) + core + repeated(after, count))
    #expect((signature != nil) == isValid)
  }

  @Test func typesThatHaveNoSignatureAreRefused() {
    for types: [DBusType] in [
      [.structure([])], [.array(.structure([]))], [.dictionary(key: .variant, value: .byte)],
      [.dictionary(key: .array(.byte), value: .byte)],
    ] {
      #expect(throws: SyntaxError.self) { try Signature(types) }
      #expect(types.contains { !$0.isValid })
    }
  }

  @Test func aTypeIsValidWhereItsSignatureIs() {
    var generator = ValueGenerator(seed: 2)
    for _ in 0..<2000 {
      // Deep and long ones, so that either answer is frequent.
      var type = generator.type(depth: 6)
      for _ in 0..<Int.random(in: 0...40, using: &generator.numbers) {
        switch Int.random(in: 0...3, using: &generator.numbers) {
        case 0: type = .array(type)
        case 1: type = .structure(Bool.random(using: &generator.numbers) ? [type] : [type, .byte])
        case 2: type = .dictionary(key: .string, value: type)
        default: break
        }
      }
      #expect(type.isValid == ((try? Signature([type])) != nil), "\(type)")
      #expect(type.signatureLength == type.description.utf8.count)
    }
  }

  @Test func randomTypesSurviveTheirText() throws {
    var generator = ValueGenerator(seed: 1)
    for _ in 0..<2000 {
      let type = generator.type(depth: 6)
      guard let signature = try? Signature([type]) else {
        #expect(type.description.utf8.count > 255)
        continue
      }
      #expect(try Signature(signature.text).types == [type])
    }
  }

  @Test func onlyContainersAndVariantsAreNotBasic() {
    for type in ValueGenerator.basicTypes + [.unixFD] { #expect(type.isBasic) }
    for type: DBusType in [.variant, .array(.byte), .structure([.byte]), .dictionary(key: .byte, value: .byte)] {
      #expect(!type.isBasic)
    }
  }
}
