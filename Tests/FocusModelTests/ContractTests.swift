import DBusTypes
import FocusContract
import Testing

/// The numbers and names of the contract, spelled out: tests that take them from the program prove nothing of them.
@Suite("What the contract's tables say") struct ContractTests {
  private static let limits: [(name: String, inProgram: Int, inContract: Int)] = [
    ("bytes of a value", Limits.value.bytes, 1_048_576), ("elements of a value", Limits.value.elements, 65_536),
    ("containers in a value", Limits.valueDepth, 56),
    ("bytes of a call's arguments", Limits.arguments.bytes, 4_194_304),
    ("elements of a call's arguments", Limits.arguments.elements, 131_072),
    ("keys of a field", Limits.keysPerField, 256), ("bytes of a label", Limits.labelLength, 4096),
    ("levels of fields", Limits.fieldDepth, 64), ("fields on one object", Limits.fieldsPerObject, 16),
    ("scene-scoped keys of a scene", Limits.keysPerScene, 16_384),
    ("fields of an owner", Limits.fieldsPerOwner, 4096), ("bytes of an owner", Limits.perOwner.bytes, 16_777_216),
    ("elements of an owner", Limits.perOwner.elements, 262_144), ("calls of an owner", Limits.callsPerOwner, 256),
    ("descriptors that wait for an owner", Limits.waitingDescriptorsPerOwner, 64),
    ("descriptors that wait", Limits.waitingDescriptors, 512), ("fields", Limits.fields, 131_072),
    ("bytes in all", Limits.total.bytes, 67_108_864), ("elements in all", Limits.total.elements, 1_048_576),
    ("names that a window adopts", Limits.adoptedConnections, 256), ("names that are listed", Limits.listedNames, 1024),
    ("bytes of a key", Key.maximumLength, 255), ("bytes of an id", FieldID.maximumLength, 64),
  ]

  @Test(arguments: limits) func limit(name: String, inProgram: Int, inContract: Int) {
    #expect(inProgram == inContract, "\(name)")
  }

  /// A key of `length` bytes.
  private static func key(_ length: Int) -> String { "demo.Form." + String(repeating: "x", count: length - 10) }

  @Test(
    "A key is read as one text and in two parts",
    arguments: [
      ("demo.Form.Number", true), ("a.b.c", true), (key(255), true), (key(256), false), ("demo.Number", false),
      ("demo.Form.1", false), ("demo.Form.", false), ("org.freedesktop.A", false), ("org.freedesktop.A.B", false),
      ("org.freedesktopx.A", true), ("org.focusd.Focus1", false), ("org.focusd.Focus1.A", false),
      ("org.focusd.Focus1.A.B", false), ("org.focusd.Focus10", true), ("org.focusd.Focus10.A", true),
      ("org.focusd.Text.Content", true),
    ])
  func keys(_ text: String, isValid: Bool) throws {
    let dot = try #require(text.lastIndex(of: "."))
    let (interface, member) = (String(text[..<dot]), String(text[text.index(after: dot)...]))
    let whole = try? Key(text)
    let parts = try? Key(interface: interface, member: member)
    #expect((whole != nil) == isValid)
    #expect(parts == whole)
    if isValid {
      #expect(whole?.interface.text == interface && whole?.member.text == member && whole?.description == text)
    }
  }

  @Test("Keys are ordered by interface, then by member") func order() throws {
    let keys = try ["demo.A.Z", "demo.A.B.A", "demo.A0.A"].map { try Key($0) }
    #expect(keys.sorted().map(\.description) == ["demo.A.Z", "demo.A.B.A", "demo.A0.A"])
    #expect(!keys.contains { $0 < $0 })
  }

  @Test(
    "A field's id is the last element of its path",
    arguments: [
      ("a", true), ("_0Z", true), (String(repeating: "x", count: 64), true), (String(repeating: "x", count: 65), false),
      ("", false), ("a-b", false), ("a/b", false), ("é", false),
    ])
  func ids(_ text: String, isValid: Bool) throws {
    #expect(((try? FieldID(text)) != nil) == isValid)
    guard let path = try? ObjectPath("/org/focusd/Focus1/field/" + text) else { return }
    #expect(FieldID(path)?.text == (isValid ? text : nil))
    for other in ["/org/focusd/Focus2/field/", "/org/focusd/Focus1/fields/"] {
      #expect(FieldID(try ObjectPath(other + text)) == nil)
    }
  }

  @Test("Ids are ordered by their text") func idOrder() throws {
    let ids = try ["A", "a", "a0", "b"].map { try FieldID($0) }
    for (left, right) in zip(ids, ids.dropFirst()) { #expect(left < right && !(right < left) && !(left < left)) }
  }

  private static let vocabulary = [
    "s": "Window.Title Window.Application Window.Workspace Element.Role Element.Name Element.Description Text.Content "
      + "Text.SelectedText Document.Path Document.Url Document.Title Shell.Buffer Shell.Directory",
    "u": "Window.ProcessId", "i": "Text.Length Text.Caret", "(ii)": "Text.Selection",
    "d": "Range.Value Range.Minimum Range.Maximum Range.Step", "b": "Toggle.Checked",
    // Commands, and what is not in the vocabulary.
    "": "Window.Close Window.Fullscreen Window.Float Window.Minimize Text.Insert Range.Increment Range.Decrement "
      + "Action.Click Edit.Undo Edit.Redo Edit.Cut Edit.Copy Edit.Paste Edit.SelectAll Edit.Find View.ZoomIn View.ZoomOut "
      + "View.ZoomReset View.Fullscreen Tab.New Tab.Close Tab.Next Tab.Previous Navigation.Back Navigation.Forward "
      + "Navigation.Reload Application.Preferences Application.NewWindow Application.Quit Menu.Items Menu.Activate "
      + "Menu.Check Document.New Document.Open Document.Save Document.SaveAs Document.Print Document.Close Shell.Accept",
  ]

  /// What its commands take, where it is not nothing; nil: programs choose it.
  private static let arguments = ["Text.Insert": "s", "Menu.Activate": "s", "Menu.Check": "sb", "Action.Click": nil]

  @Test("Each key of the vocabulary has its one signature, or is a command", arguments: vocabulary)
  func signatures(_ signature: String, names: String) throws {
    for name in names.split(separator: " ") {
      let key = try Key("org.focusd." + name)
      #expect(Vocabulary.type(of: key)?.description == (signature.isEmpty ? nil : signature), "\(key)")
      guard signature.isEmpty else { continue }
      let arguments = Self.arguments[String(name)] ?? ""
      #expect(Vocabulary.member(key) == .command(try arguments.map { try Signature($0) }), "\(key)")
    }
    #expect(Vocabulary.member(try Key("org.focusd.Range.Other")) == nil)
  }
}
