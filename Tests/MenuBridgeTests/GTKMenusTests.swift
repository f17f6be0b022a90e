import BusSupport
import DBusTypes
import TestSupport
import Testing

@testable import MenuBridge

/// What the answers of `org.gtk.Menus` and `org.gtk.Actions` are taken to mean.
@Suite struct GTKMenusTests {
  /// The menu of these lists, each in a group of its own, as if all had been asked for.
  private static func menus(_ lists: [UInt32: [Named]]) throws -> GTKMenus {
    var menus = GTKMenus()
    while case let groups = menus.next(), !groups.isEmpty {
      let parts = groups.filter { lists[$0] != nil }.map { part($0, lists[$0] ?? []) }
      let isTaken = menus.add(.array(DBusArray(known: partType, parts)))
      try #require(isTaken)
    }
    return menus
  }

  private static let itemType = DBusType.dictionary(key: .string, value: .variant)
  private static let partType = DBusType.structure([.uint32, .uint32, .array(itemType)])

  private static func part(_ group: UInt32, _ items: [Named]) -> DBusValue {
    .structure([.uint32(group), .uint32(0), .array(DBusArray(known: itemType, items.map { .properties($0) }))])
  }

  private static func described(
    _ isEnabled: Bool = true, _ parameter: Signature = .empty, _ state: DBusValue? = nil
  ) -> DBusValue {
    .structure([
      .boolean(isEnabled), .signature(parameter),
      .array(DBusArray(known: .variant, state.map { [.variant($0)] } ?? [])),
    ])
  }

  private static func item(_ label: String, _ action: String, _ more: Named = []) -> Named {
    [("label", .string(label)), ("action", .string(action))] + more
  }

  private static func submenu(_ label: String, _ group: UInt32, _ more: Named = []) -> Named {
    [("label", .string(label)), (":submenu", StubMenus.list(group, 0))] + more
  }

  // MARK: One item

  struct Case: Sendable, CustomTestStringConvertible {
    let attributes: Named
    var action: DBusValue? = described()
    /// Its id, label, keys, whether it is enabled and checked, and its action; nil if the list must stay empty.
    let item: MenuItem?

    var testDescription: String { "\(attributes)" }
  }

  private static let cases = [
    Case(
      attributes: item("_Undo", "win.undo", [("accel", .string("<Primary>z"))]),
      item: MenuItem(id: "win.undo", label: "Undo", accelerator: "Ctrl+Z", action: "win.undo")),
    Case(
      attributes: item("Off", "win.undo"), action: described(false),
      item: MenuItem(id: "win.undo", label: "Off", isEnabled: false, action: "win.undo")),
    Case(
      attributes: item("Gone", "win.undo"), action: nil,
      item: MenuItem(id: "win.undo", label: "Gone", isEnabled: false, action: "win.undo")),
    Case(
      attributes: item("On", "win.undo"), action: described(true, .empty, .boolean(true)),
      item: MenuItem(id: "win.undo", label: "On", isChecked: true, action: "win.undo")),
    Case(
      attributes: item("Text as state", "win.undo"), action: described(true, .empty, .string("a")),
      item: MenuItem(id: "win.undo", label: "Text as state", action: "win.undo")),
    Case(
      attributes: item("Serif", "win.undo", [("target", .string("Serif"))]),
      action: described(true, .empty, .string("Serif")),
      item: MenuItem(id: "win.undo::Serif", label: "Serif", isChecked: true)),
    Case(
      attributes: item("Sans", "win.undo", [("target", .string("Sans"))]),
      action: described(true, .empty, .string("Serif")),
      item: MenuItem(id: "win.undo::Sans", label: "Sans", isChecked: false)),
    Case(
      attributes: item("Target without a state", "win.undo", [("target", .string("a"))]),
      item: MenuItem(id: "win.undo::a", label: "Target without a state")),
    Case(
      attributes: item("5", "win.undo", [("target", .int32(5))]),
      item: MenuItem(id: "win.undo(5)", label: "5")),
    Case(
      attributes: item("A pair", "win.undo", [("target", .structure([.int32(1), .int32(2)]))]),
      item: MenuItem(id: "Menu › A pair", label: "A pair")),
    Case(
      attributes: item("A pointer", "win.94212345"), action: nil,
      item: MenuItem(id: "Menu › A pointer", label: "A pointer", isEnabled: false)),
    Case(
      attributes: item("A number in it", "win.a-1234"), action: nil,
      item: MenuItem(id: "Menu › A number in it", label: "A number in it", isEnabled: false)),
    Case(
      attributes: item("A small number", "win.a-123"), action: nil,
      item: MenuItem(id: "win.a-123", label: "A small number", isEnabled: false, action: "win.a-123")),
    Case(attributes: item("", "win.undo"), item: nil),
    Case(attributes: item("No group", "undo"), item: nil),
    Case(attributes: [("label", .string("No action"))], item: nil),
    Case(attributes: [("label", .int32(1)), ("action", .string("win.undo"))], item: nil),
    Case(attributes: [("label", .string("Number")), ("action", .int32(1))], item: nil),
    Case(attributes: item("255", "win." + String(repeating: "a", count: 252)), item: nil),
  ]

  @Test(arguments: cases) func whatAnItemIs(_ it: Case) throws {
    let menus = try Self.menus([0: [Self.submenu("_Menu", 1)], 1: [it.attributes]])
    let actions = it.action.flatMap { GTKAction($0) }.map { ["win": ["undo": $0]] } ?? [:]
    var expected = it.item
    expected?.menus = ["Menu"]
    // A standard action that no item shows is offered as well.
    #expect(menus.items(actions).map(\.item).filter { !$0.menus.isEmpty } == (expected.map { [$0] } ?? []))
  }

  @Test func itIsUpdated() throws {
    let item = GTKItem(item: MenuItem(id: "win.a", label: "A", isChecked: true), group: "win", name: "a", target: nil)
    for (value, isEnabled, isChecked) in [
      (Self.described(true, .empty, .boolean(false)), true, false), (Self.described(false), false, nil),
    ] as [(DBusValue, Bool, Bool?)] {
      let now = item.updated(GTKAction(value))
      #expect(now.isEnabled == isEnabled && now.isChecked == isChecked)
      #expect(now.id == "win.a" && now.label == "A")
    }
  }

  @Test(
    arguments: [
      .boolean(true), .structure([.boolean(true), .signature(.empty)]),
      .structure([.string("yes"), .signature(.empty), .array(DBusArray(known: .variant, []))]),
      .structure([.boolean(true), .string(""), .array(DBusArray(known: .variant, []))]),
      .structure([.boolean(true), .signature(.empty), .variant(.boolean(true))]),
    ] as [DBusValue]) func aDescriptionOfAnotherForm(value: DBusValue)
  {
    #expect(GTKAction(value) == nil)
    #expect(GTKAction.all(in: value) == nil)
  }

  // MARK: Changes

  private static let actionType = DBusType.structure([.boolean, .signature, .array(.variant)])

  private static func changes(
    removed: [String] = [], enabled: [String: Bool] = [:], states: Named = [], added: [String: DBusValue] = [:]
  ) -> [DBusValue] {
    let enabled = enabled.map { DBusDictionary.Entry(key: .string($0.key), value: .boolean($0.value)) }
    let added = added.map { DBusDictionary.Entry(key: .string($0.key), value: $0.value) }
    return [
      .strings(removed), .dictionary(DBusDictionary(known: .string, .boolean, enabled)), .properties(states),
      .dictionary(DBusDictionary(known: .string, actionType, added)),
    ]
  }

  /// Each is applied to an action `a` that is enabled, with the state 1.
  @Test(
    arguments: [
      (changes(), ["a": described(true, .empty, .int32(1))]),
      (changes(removed: ["a", "b"]), [:]),
      (changes(enabled: ["a": false, "b": true]), ["a": described(false, .empty, .int32(1))]),
      (changes(states: [("a", .int32(2)), ("b", .int32(2))]), ["a": described(true, .empty, .int32(2))]),
      (changes(added: ["b": described()]), ["a": described(true, .empty, .int32(1)), "b": described()]),
      (
        changes(removed: ["a"], enabled: ["a": false], states: [("a", .int32(2))], added: ["a": described()]),
        ["a": described()]
      ),
      (Array(changes(removed: ["a"]).dropLast()), ["a": described(true, .empty, .int32(1))]),
      (changes(removed: ["a"]).reversed(), ["a": described(true, .empty, .int32(1))]),
    ] as [([DBusValue], [String: DBusValue])]) func actionsChange(changes: [DBusValue], expected: [String: DBusValue])
  {
    var actions = ["a": Self.described(true, .empty, .int32(1))].compactMapValues { GTKAction($0) }
    actions.apply(changes)
    #expect(actions == expected.compactMapValues { GTKAction($0) })
  }

  @Test func noMoreActionsThanTheLimit() {
    var actions: [String: GTKAction] = [:]
    for part in ["a", "b"] {
      let added = (0..<5000).map { ("\(part)\($0)", Self.described()) }
      actions.apply(Self.changes(added: Dictionary(uniqueKeysWithValues: added)))
    }
    #expect(actions.count == GTKMenus.actionLimit)
  }

  // MARK: Menus

  @Test func sectionsAreOfTheirMenuAndSubmenusArePartOfThePath() throws {
    let menus = try Self.menus([
      0: [Self.submenu("_Edit", 1, [("submenu-action", .string("win.edit-open"))]), Self.item("Top", "win.top")],
      1: [
        [(":section", StubMenus.list(2, 0))], Self.submenu("More", 3, [("submenu-action", .string("win.more-open"))]),
      ],
      2: [Self.item("_Undo", "win.undo"), Self.item("Again", "win.undo"), Self.item("Again", "win.undo")],
      3: [Self.item("Redo", "app.redo")],
    ])
    let items = menus.items([:])
    #expect(items.map(\.item.id) == ["win.undo", "Edit › Again", "app.redo", "win.top"])
    #expect(items.map(\.item.menus) == [["Edit"], ["Edit"], ["Edit", "More"], []])
    #expect(
      items.map(\.openers) == [["win.edit-open"], ["win.edit-open"], ["win.edit-open", "win.more-open"], []])
    #expect(items.map { "\($0.group).\($0.name)" } == ["win.undo", "win.undo", "app.redo", "win.top"])
    #expect(menus.started == [0, 1, 2, 3])
  }

  /// Menus eight deep are followed; what is within itself is not.
  @Test func menusAreFollowedSoFar() throws {
    var lists: [UInt32: [Named]] = [0: [Self.submenu("0", 1)]]
    for depth in 1..<12 as Range<UInt32> {
      lists[depth] = [
        Self.item("Item", "win.d\(depth)"), Self.submenu("\(depth)", depth + 1), Self.submenu("again", depth),
        [(":section", StubMenus.list(0, 0))],
      ]
    }
    let found = try Self.menus(lists).items([:]).map(\.item)
    #expect(found.map(\.id) == (1...7).map { "win.d\($0)" })
    #expect(found.last?.menus == (0..<7).map(String.init))
  }

  @Test func actionsWithoutAMenu() throws {
    let actions = [
      "undo": Self.described(), "redo": Self.described(false), "kill": Self.described(),
      "paste": Self.described(true, try Signature("s")),
    ].compactMapValues { GTKAction($0) }
    let menus = try Self.menus([0: [Self.submenu("Edit", 1)], 1: [Self.item("Quit", "app.quit")]])
    let items = menus.items(["win": actions, "app": ["quit": try #require(GTKAction(Self.described()))]]).map(\.item)
    #expect(items.map(\.id) == ["app.quit", "win.redo", "win.undo"])
    #expect(items.map(\.isEnabled) == [true, false, true] && items.map(\.label) == ["Quit", "redo", "undo"])
  }

  @Test func whatWasNotAskedForIsRefused() throws {
    var menus = GTKMenus()
    let groups = [menus.next(), menus.next()]
    #expect(groups == [[0], []])
    for answer in [
      nil, .boolean(true), .array(DBusArray(known: Self.partType, [Self.part(1, [])])),
      .array(DBusArray(known: .uint32, [.uint32(0)])),
    ] as [DBusValue?] {
      let isTaken = menus.add(answer)
      #expect(!isTaken, "\(String(describing: answer))")
    }
    let isTaken = menus.add(.array(DBusArray(known: Self.partType, [Self.part(0, [Self.submenu("A", 7)])])))
    let next = menus.next()
    #expect(isTaken && next == [7] && menus.started == [0, 7])
  }

  @Test func noMoreGroupsThanTheLimit() throws {
    var menus = GTKMenus()
    _ = menus.next()
    let links = (1...4000).map { Self.submenu("\($0)", $0) } as [Named]
    let isTaken = menus.add(.array(DBusArray(known: Self.partType, [Self.part(0, links)])))
    let counts = [menus.next().count, menus.next().count]
    #expect(isTaken && counts == [GTKMenus.groupLimit - 1, 0] && menus.started.count == GTKMenus.groupLimit)
  }
}
