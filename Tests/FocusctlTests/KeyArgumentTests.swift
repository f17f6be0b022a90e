import Testing

@testable import focusctl

@Suite struct KeyArgumentTests {
  private static let present = [
    "demo.Form.Number", "demo.Form.Text", "other.Form.Text", "demo.Todo.Items", "demo.Note.Content",
    "org.focusd.Text.Content",
  ]

  @Test(arguments: [
    ("demo.Form.Number", "demo.Form.Number"),
    ("Number", "demo.Form.Number"),
    ("Form.Number", "demo.Form.Number"),
    ("Text.Content", "org.focusd.Text.Content"),
    ("Text.Content/0", "org.focusd.Text.Content/0"),
    ("focusd.Text.Content", nil),
    ("focusd.Text.Content/0", nil),
    ("ext.Content", nil),
    ("umber", nil),
    ("demo.Form", nil),
    ("demo.Form.Text", "demo.Form.Text"),
    ("Items/2/done", "demo.Todo.Items/2/done"),
    ("demo.Todo.Items/a~1b/", "demo.Todo.Items/a~1b/"),
  ])
  func isMadeWhole(text: String, whole: String?) throws {
    #expect(try KeyArgument(text).resolved(among: Self.present)?.text == whole)
  }

  /// It is not replaced by another key with the same end, even if it is nil.
  @Test(arguments: [
    ("Text.SelectedText", "org.focusd.Text.SelectedText"), ("Range.Increment", "org.focusd.Range.Increment"),
    ("Action.Click", "org.focusd.Action.Click"), ("Player.Volume", "org.mpris.MediaPlayer2.Player.Volume"),
    ("Player.PlayPause", "org.mpris.MediaPlayer2.Player.PlayPause"),
  ])
  func whatAllShareIsNoOther(text: String, whole: String) throws {
    #expect(try KeyArgument(text).resolved(among: ["evil." + text, whole, "b." + text])?.text == whole)
    #expect(try KeyArgument(text).resolved(among: ["evil." + text]) == nil)
    #expect(try KeyArgument("evil." + text).resolved(among: ["evil." + text, whole])?.text == "evil." + text)
  }

  @Test(arguments: ["Text.Other", "Player.Other"]) func othersAreAnyones(text: String) throws {
    #expect(try KeyArgument(text).resolved(among: ["demo." + text])?.text == "demo." + text)
  }

  @Test(arguments: [
    ("Text/1", "'Text' is ambiguous: demo.Form.Text, other.Form.Text"),
    ("Form.Text", "'Form.Text' is ambiguous: demo.Form.Text, other.Form.Text"),
    ("Content", "'Content' is ambiguous: demo.Note.Content, org.focusd.Text.Content"),
  ])
  func severalAreNamed(text: String, message: String) throws {
    let key = try KeyArgument(text)
    #expect(throws: CommandError.usage(message)) { try key.resolved(among: Self.present) }
  }

  @Test(arguments: ["", ".", "a.", ".a", "a..b", "1a", "a.1b", "a-b", "/x", "é", String(repeating: "a", count: 256)])
  func refuses(text: String) {
    #expect(throws: CommandError.self) { try KeyArgument(text) }
  }

  @Test(arguments: ["Number", "Form.Number", "demo.Form.Number/1"])
  func isNotWhole(text: String) {
    #expect(throws: CommandError.self) { try KeyArgument.whole(text) }
  }

  @Test func splitsThePointersEnd() throws {
    let key = try KeyArgument("demo.Todo.Items/2/-")
    #expect(key.lastToken == "-")
    #expect(key.container?.text == "demo.Todo.Items/2")
    #expect(key.container?.container?.text == "demo.Todo.Items")
    #expect(key.container?.container?.container == nil)
    #expect(try KeyArgument("demo.Todo.Items").appending(pointer: "-").text == "demo.Todo.Items/-")
  }
}
