import DBusTypes
import TestSupport
import Testing

@Suite("What focusctl prints of a value, it sets again unchanged")
struct TextTests {
  private static let key = "demo.Any.Value"

  @Test("Random values of every type, as text and as JSON, over the bus")
  func survive() async throws {
    try await Daemon.with { daemon in
      let bus = daemon.bus
      let owner = try await Owner(daemon)
      try await owner.register("a", "@a{sv} {}", "{'focus': <true>, 'linger': <true>}")
      try await owner.peer.kill()
      var generator = ValueGenerator(seed: 51)
      let random = (0..<40).map { _ in generator.type(depth: 4) }
      for type in ValueGenerator.basicTypes + random {
        let (value, other) = (generator.value(of: type).withPlainNaN, generator.value(of: type))
        try await onThread {
          let client = try Client(on: bus)
          // Until the bus has told that the owner is gone.
          try wait {
            do {
              try client.field("a", "Publish", [.properties([(Self.key, value)]), .properties([])])
              return true
            } catch let error where refusal({ throw error }) == "AccessDenied" {
              return false
            }
          }
        }
        let plain = try await bus.focusctl("get", Self.key)
        let tagged = try await bus.focusctl("get", "--json", Self.key)
        #expect(plain.succeeded && tagged.succeeded, "\(plain) \(tagged)")
        try await onThread { _ = try Client(on: bus).write(Self.key, other) }
        let set = try await bus.focusctl("set", "--", Self.key, plain.text)
        let document = try #require(tagged.output.first)
        try await onThread {
          let client = try Client(on: bus)
          #expect(try client.read(Self.key).value == value, "\(set): \(plain)")
          try client.field("a", "Publish", [.properties([("demo.Any.Document", .variant(other))]), .properties([])])
        }
        // A document with its type stands for any variant.
        let setDocument = try await bus.focusctl("set", "demo.Any.Document", document)
        try await onThread {
          let client = try Client(on: bus)
          #expect(try client.read("demo.Any.Document").value == .variant(value), "\(setDocument): \(document)")
          try client.field("a", "Withdraw", [.strings([Self.key, "demo.Any.Document"])])
        }
      }
    }
  }
}
