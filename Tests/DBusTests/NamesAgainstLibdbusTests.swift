import CDBus
import DBusTypes
import TestSupport
import Testing

/// What we take must be what libdbus takes, since it aborts the process over the rest.
@Suite struct NamesAgainstLibdbusTests {
  /// Short random texts of characters that matter to the rules.
  private static func texts(seed: UInt64, of alphabet: String, count: Int) -> [String] {
    var numbers = SeededGenerator(seed: seed)
    let alphabet = Array(alphabet)
    return (0..<count).map { _ in
      String((0..<Int.random(in: 0...9, using: &numbers)).map { _ in alphabet.randomElement(using: &numbers) ?? "a" })
    }
      + [253, 254, 255, 256].flatMap { length in
        ["a.", "a", "/a", ":1.", "yyy"].map { start in
          start + String(repeating: start.first ?? "a", count: length - start.count)
        }
      }
  }

  @Test func names() {
    for text in Self.texts(seed: 1, of: "aB1_.-:/ é", count: 20_000) {
      #expect(((try? InterfaceName(text)) != nil) == (dbus_validate_interface(text, nil) != 0), "\(text)")
      #expect(((try? ErrorName(text)) != nil) == (dbus_validate_error_name(text, nil) != 0), "\(text)")
      #expect(((try? MemberName(text)) != nil) == (dbus_validate_member(text, nil) != 0), "\(text)")
      #expect(((try? ObjectPath(text)) != nil) == (dbus_validate_path(text, nil) != 0), "\(text)")
      // libdbus takes a unique name of one element, which no bus gives.
      let ours = (try? BusName(text)) != nil
      let theirs = dbus_validate_bus_name(text, nil) != 0
      if text.hasPrefix(":") { #expect(theirs || !ours, "\(text)") } else { #expect(ours == theirs, "\(text)") }
    }
  }

  @Test func signatures() {
    for text in Self.texts(seed: 2, of: "yisvahog(){}(){}az", count: 50_000) {
      #expect(((try? Signature(text)) != nil) == (dbus_signature_validate(text, nil) != 0), "\(text)")
    }
  }

  @Test func randomTypesAreValidSignatures() {
    var generator = ValueGenerator(seed: 3)
    for _ in 0..<5000 {
      guard let signature = try? Signature([generator.type(depth: 12)]) else { continue }
      #expect(dbus_signature_validate(signature.text, nil) != 0, "\(signature)")
    }
  }
}
