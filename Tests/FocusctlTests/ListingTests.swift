import DBus
import DBusTypes
import FocusContract
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
    func player(_ id: String, isActive: Bool) throws -> (
      path: String, interfaces: [(String, [(name: String, value: DBusValue)])]
    ) {
      let more: [(name: String, value: DBusValue)] = [
        ("Scope", .string("session")), ("Active", .boolean(isActive)), ("Process", .uint32(7)),
      ]
      return (
        "field/\(id)",
        [
          (own, try field(id, "/", false, ":1.3").filter { $0.name != "Scope" } + more),
          ("org.focusd.Focus1.Bindings", [("Keys", .strings(["demo.Player.Pin", "demo.Player.Title"]))]),
          ("demo.Player", [("Title", .string(id))]),
        ]
      )
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
        (
          "field/main",
          [
            (own, try field("Main window", "/", false, "") + [("Adopted", .strings([":1.2"]))]),
            ("demo.Window", [("Title", .string("Hi"))]),
          ]
        ),
        try player("p1", isActive: false), try player("p2", isActive: true),
      ]))
  }

  @Test func listsFieldsById() {
    #expect(
      Output.table(fields.map(Listing.cells)) == """
        main   Main window  -     field    -  -     -
        p1     p1           -     session  -  :1.3  -
        p2     p2           -     session  -  :1.3  *
        text1  text1        main  field    *  :1.2  -

        """)
  }

  private static let path = """
    main "Main window"
      demo.Window.Title: Hi (s)
      text1 (focused)
        demo.Form.Number: 8 (i)
        demo.Form.Text: a\\nb (s)

    """
  private static let players = "session fields:\n  p2 (active)\n  p1\n"
  private static let allOfPlayers = """
    session fields:
      p2 (active)
        demo.Player.Title: p2 (s)
        demo.Player.Pin (write-only)
      p1
        demo.Player.Title: p1 (s)
        demo.Player.Pin (write-only)

    """

  private var session: [FieldInfo] { fields.filter { $0.scope == "session" }.reversed() }

  @Test func showsTheFocusPathAsATreeThenTheSessionsFields() {
    #expect(FieldTree.text(of: fields, session: session, on: .none) == Self.path + Self.players)
    #expect(FieldTree.text(of: fields, session: session, showsAll: true, on: .none) == Self.path + Self.allOfPlayers)
    #expect(FieldTree.text(of: fields.filter { $0.scope == "field" }, on: .none) == Self.path)
  }

  @Test func showsProgramsOnlyTheSessionsFieldsWithoutFocus() {
    var fields = fields
    for index in fields.indices { fields[index].isFocused = false }
    #expect(FieldTree.text(of: fields, session: session, on: .none) == Self.players)
    let shown = FieldTree.text(of: fields, session: session, on: Terminal(columns: 80, rows: 24))
    #expect(shown == "main \"Main window\"\n  text1\n" + Self.players)
  }

  @Test func aSessionFieldIsShownInFullOnce() {
    var fields = fields
    for index in fields.indices { fields[index].isFocused = fields[index].id == "p1" }
    let session = fields.filter { $0.scope == "session" }
    #expect(
      FieldTree.text(of: fields, session: session, showsAll: true, on: .none) == """
        main "Main window"
          text1
        p1 (focused)
          demo.Player.Title: p1 (s)
          demo.Player.Pin (write-only)
        session fields:
          p1 (focused)
          p2 (active)
            demo.Player.Title: p2 (s)
            demo.Player.Pin (write-only)

        """)
  }

  @Test func aSessionFieldInAWindowIsInTheTreeToo() throws {
    var fields = fields
    for index in fields.indices where fields[index].id == "p1" { fields[index].parent = try FieldID.path("main") }
    #expect(
      FieldTree.text(of: fields, session: session, on: .none).hasPrefix(
        "main \"Main window\"\n  demo.Window.Title: Hi (s)\n  p1\n  text1 (focused)\n"))
  }

  @Test func showsNothingWithoutFocus() {
    #expect(Listing.focusPath(of: fields.filter { !$0.isFocused }).isEmpty)
  }

  @Test func hasADocumentForEachField() {
    #expect(
      fields.filter { $0.id != "p1" }.map(\.json) == [
        #"{"id":"main","path":"/org/focusd/Focus1/field/main","label":"Main window","parent":null,"scope":"field","focused":false,"active":false,"owner":null,"process":null,"linger":true,"sensitive":false,"adopted":[":1.2"],"values":{"demo.Window.Title":{"type":"s","data":"Hi"}},"writable":[],"writeOnly":[],"commands":{}}"#,
        #"{"id":"p2","path":"/org/focusd/Focus1/field/p2","label":"p2","parent":null,"scope":"session","focused":false,"active":true,"owner":":1.3","process":7,"linger":true,"sensitive":false,"adopted":[],"values":{"demo.Player.Title":{"type":"s","data":"p2"}},"writable":[],"writeOnly":["demo.Player.Pin"],"commands":{}}"#,
        #"{"id":"text1","path":"/org/focusd/Focus1/field/text1","label":"text1","parent":"main","scope":"field","focused":true,"active":false,"owner":":1.2","process":null,"linger":true,"sensitive":false,"adopted":[],"values":{"demo.Form.Number":{"type":"i","data":8},"demo.Form.Text":{"type":"s","data":"a\nb"}},"writable":[],"writeOnly":[],"commands":{}}"#,
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
    // What the program behind a field answers says nothing of the daemon.
    let ofPeer = CommandError(DBusError(try ErrorName(name), "why", origin: .peer))
    #expect(ofPeer.status == (status == .noDaemon ? .refused : status))
  }
}
