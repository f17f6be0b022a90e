import DBus
import DBusTypes
import Testing

@testable import focusctl

@Suite struct ListingTests {
  private let fields: [FieldInfo]

  init() throws {
    let own = "org.focusd.Focus1.Field"
    func objects(_ list: [(path: String, interfaces: [(String, [(name: String, value: DBusValue)])])]) throws
      -> DBusValue
    {
      let properties = DBusType.dictionary(key: .string, value: .variant)
      let interfaces = DBusType.dictionary(key: .string, value: properties)
      return .dictionary(
        try DBusDictionary(
          key: .objectPath, value: interfaces,
          try list.map { object in
            .init(
              key: .objectPath(try ObjectPath("/org/focusd/Focus1/" + object.path)),
              value: .dictionary(
                try DBusDictionary(
                  key: .string, value: properties,
                  object.interfaces.map { .init(key: .string($0.0), value: .properties($0.1)) })))
          }))
    }
    func field(_ label: String, _ parent: String, _ focused: Bool, _ owner: String) throws -> [(
      name: String, value: DBusValue
    )] {
      [
        ("Label", .string(label)), ("Parent", .objectPath(try ObjectPath(parent))), ("Scope", .string("field")),
        ("Focused", .boolean(focused)), ("Owner", .string(owner)), ("Linger", .boolean(true)),
        ("Sensitive", .boolean(false)),
      ]
    }
    fields = FieldInfo.fields(
      of: try objects([
        ("focused", [("demo.Form", [("Number", .int32(8))])]),
        (
          "field/text1",
          [
            (own, try field("text1", "/org/focusd/Focus1/field/main", true, ":1.2")),
            ("org.focusd.Focus1.Bindings", [("Keys", .strings(["demo.Form.Number"]))]),
            ("demo.Form", [("Text", .string("a\nb")), ("Number", .int32(8))]),
          ]
        ),
        ("field/main", [(own, try field("Main window", "/", false, "")), ("demo.Window", [("Title", .string("Hi"))])]),
      ]))
  }

  @Test func listsFieldsById() {
    #expect(
      Output.table(fields.map(Listing.cells)) == """
        main   Main window  -     field  -  -
        text1  text1        main  field  *  :1.2

        """)
  }

  @Test func showsTheFocusPathAsATree() {
    #expect(
      FieldTree.text(of: fields, on: .none) == """
        main "Main window"
          demo.Window.Title: Hi (s)
          text1 (focused)
            demo.Form.Number: 8 (i)
            demo.Form.Text: a\\nb (s)

        """)
  }

  @Test func showsNothingWithoutFocus() {
    #expect(Listing.focusPath(of: fields.filter { !$0.isFocused }).isEmpty)
  }

  @Test func hasADocumentForEachField() {
    #expect(
      fields.map(\.json) == [
        #"{"id":"main","path":"/org/focusd/Focus1/field/main","label":"Main window","parent":null,"scope":"field","focused":false,"owner":null,"linger":true,"sensitive":false,"values":{"demo.Window.Title":{"type":"s","data":"Hi"}},"commands":{}}"#,
        #"{"id":"text1","path":"/org/focusd/Focus1/field/text1","label":"text1","parent":"main","scope":"field","focused":true,"owner":":1.2","linger":true,"sensitive":false,"values":{"demo.Form.Number":{"type":"i","data":8},"demo.Form.Text":{"type":"s","data":"a\nb"}},"commands":{}}"#,
      ])
  }

  @Test(arguments: [
    ("org.focusd.Focus1.Error.NotFocused", Status.nothing), ("org.focusd.Focus1.Error.Conflict", .conflict),
    ("org.focusd.Focus1.Error.TypeMismatch", .refused), ("org.focusd.Focus1.Error.Disabled", .refused),
    ("org.freedesktop.DBus.Error.AccessDenied", .refused), ("org.freedesktop.DBus.Error.Timeout", .refused),
    ("org.freedesktop.DBus.Error.ServiceUnknown", .noDaemon), ("org.freedesktop.DBus.Error.NameHasNoOwner", .noDaemon),
    ("org.freedesktop.DBus.Error.Disconnected", .noDaemon), ("org.freedesktop.DBus.Error.NoReply", .noDaemon),
    ("org.freedesktop.DBus.Error.Spawn.ExecFailed", .noDaemon), ("org.freedesktop.systemd1.NoSuchUnit", .noDaemon),
  ])
  func errorsHaveStatuses(name: String, status: Status) throws {
    let error = CommandError(DBusError(try ErrorName(name), "why"))
    #expect(error.status == status)
    #expect(error.message?.contains("why") == true)
  }
}
