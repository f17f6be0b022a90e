import BridgeSupport
import DBusTypes
import Testing

@testable import AccessibilityBridge

/// The table of the toolkits' ways to show a secret.
@Suite struct SecretRuleTests {
  @Test func aProgramWithMoreThan4096SecretsIsNotLookedIntoAnyMore() throws {
    let name = try BusName(":1.5")
    let application = Application(name)
    let elements = try (0...4096).map { ElementReference(name, try ObjectPath("/secret\($0)")) }
    func isIgnored() -> Bool { if case .ignored = application.stage { true } else { false } }
    for element in elements.dropLast() { application.noteSecret(element) }
    #expect(elements.dropLast().allSatisfy(application.isSecret) && !isIgnored())
    application.noteSecret(elements[4096])
    #expect(isIgnored())
  }

  @Test(
    arguments: [
      (40, [:], true), (61, [:], false), (79, ["text-input-type": "password"], true),
      (79, ["text-input-type": "email"], false), (61, ["text-input-type": "PASSWORD"], true),
    ] as [(UInt32, [String: String], Bool)])
  func theRoleDecidesFirst(_ role: UInt32, _ attributes: [String: String], _ isSecret: Bool) {
    #expect(SecretRule.isSecret(ElementRole(rawValue: role), attributes: attributes) == isSecret)
  }

  @Test(
    arguments: [
      (.text("●●●"), 3, true), (.text("•"), 1, true), (.failed, 3, true), (.failed, 0, false), (.text(""), 0, false),
      (.text("abc"), 3, false), (.notAsked, 3, false), (.text("***"), 3, false),
    ] as [(SecretRule.Display, Int32, Bool)])
  func whatIsDisplayedMayBeEnough(_ display: SecretRule.Display, _ length: Int32, _ isSecret: Bool) {
    #expect(SecretRule.isSecret(display, length: length) == isSecret)
  }

  /// The stored text, its length, what is displayed, and whether it has several lines.
  struct Row: Sendable {
    let stored: String
    var length: Int32?
    var display = SecretRule.Display.notAsked
    var isMultiLine = false
    let isSecret: Bool
  }

  @Test(arguments: [
    // GTK 4, an entry that shows nothing of its text.
    Row(stored: "hunter2", display: .text("●●●●●●●"), isSecret: true),
    Row(stored: "hunter2", display: .text("xxxxxxx"), isSecret: true),
    Row(stored: "hunter2", display: .text("*******"), isSecret: true),
    Row(stored: "hunter2", display: .failed, isSecret: true),
    Row(stored: "hunter2", display: .text(""), isSecret: true),
    // The character that was typed last is shown for a moment: GTK's password hint.
    Row(stored: "hunter2", display: .text("●●●●●●2"), isSecret: true),
    Row(stored: "se", display: .text("●e"), isSecret: true),
    Row(stored: "hunter2", display: .text("xxxxxx2"), isSecret: true),
    Row(stored: "hunter2", display: .text("hunter2"), isSecret: false),
    Row(stored: "aaaa", display: .text("aaaa"), isSecret: false),
    Row(stored: "hunter2", display: .text("hunter…"), isSecret: false),
    // What is being composed, in Korean or with a key for it.
    Row(stored: "ㅋ", display: .text("ㅋㅋ"), isSecret: false),
    Row(stored: "ㅋㅋ", display: .text("ㅋㅋㅋ"), isSecret: false),
    Row(stored: "ab", display: .text("a·b"), isSecret: false),
    Row(stored: "ab", display: .text("xxx"), isSecret: true),
    // Web pages that show bullets.
    Row(stored: "•••", isSecret: true),
    Row(stored: "••", isSecret: false),
    Row(stored: "•••x", isSecret: false),
    Row(stored: "****", isSecret: true),
    Row(stored: "****", isMultiLine: true, isSecret: false),
    // Qt, if its role were another.
    Row(stored: "", length: 7, isSecret: true),
    Row(stored: "", length: 0, isSecret: false),
    Row(stored: "", length: 0, display: .failed, isSecret: false),
  ])
  func theTextDecidesLast(_ row: Row) {
    let length = row.length ?? Int32(row.stored.unicodeScalars.count)
    let isSecret = SecretRule.isSecret(
      row.stored, length: length, display: row.display, isMultiLine: row.isMultiLine)
    #expect(isSecret == row.isSecret, "\(row)")
  }
}
