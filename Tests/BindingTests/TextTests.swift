import BusSupport
import DBusTypes
import TestSupport
import Testing

@Suite("What focusctl prints of a value, it sets again unchanged")
struct TextTests {
  private static let key = "demo.Any.Value"

  @Test("Random values of every type, as text and as JSON, over the bus")
  func survive() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.witness()
      try await owner.register("a", "{}", "{'focus': <true>, 'linger': <true>}")
      try await owner.kill()
      let client = try await desktop.peer()
      var generator = ValueGenerator(seed: 51)
      let random = (0..<40).map { _ in generator.type(depth: 4) }
      for type in ValueGenerator.basicTypes + random {
        let (value, other) = (generator.value(of: type).withPlainNaN, generator.value(of: type))
        // Until the bus has told that the owner is gone.
        try await eventually("anyone may publish") {
          let refusal = try await client.begin(.publish("a", [(Self.key, value)])).refusal()
          #expect(refusal == nil || refusal == "AccessDenied")
          return refusal == nil
        }
        let plain = try await desktop.focusctl("get", Self.key)
        let tagged = try await desktop.focusctl("get", "--json", Self.key)
        #expect(plain.succeeded && tagged.succeeded, "\(plain) \(tagged)")
        try await client.write(Self.key, other)
        let set = try await desktop.focusctl("set", "--", Self.key, plain.text)
        let document = try #require(tagged.output.first)
        #expect(try await client.read(Self.key).value == value, "\(set): \(plain)")
        try await client.publish("a", [("demo.Any.Document", .variant(other))])
        // A document with its type stands for any variant.
        let setDocument = try await desktop.focusctl("set", "demo.Any.Document", document)
        #expect(try await client.read("demo.Any.Document").value == .variant(value), "\(setDocument): \(document)")
        try await client.field("a", "Withdraw", [.strings([Self.key, "demo.Any.Document"])])
      }
    }
  }
}
