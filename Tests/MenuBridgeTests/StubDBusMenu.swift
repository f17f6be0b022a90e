import BusSupport
import DBusTypes
import TestSupport

/// A program that has given its menu bar away, as `com.canonical.dbusmenu` shows it.
final class StubDBusMenu: Sendable {
  static let path = "/stub/dbusmenu"

  struct Item: Sendable {
    var label: String
    var isEnabled = true
    var isOn: Bool?
    var keys: [String] = []
    var children: [Int32] = []
    var other: Named = []
  }

  struct State: Sendable {
    var items: [Int32: Item] = [
      0: Item(label: "", children: [1]),
      1: Item(label: "_Edit", children: [2, 3, 4, 5, 6]),
      2: Item(label: "_Undo", keys: ["Control", "z"]),
      3: Item(label: "", other: [("type", .string("separator"))]),
      4: Item(label: "_Wrap", isOn: false),
      5: Item(label: "Hidden", other: [("visible", .boolean(false))]),
      6: Item(label: "_Later", isEnabled: false),
    ]
    /// The items of menus that are filled when they are about to be shown.
    var filled: [Int32: [Int32]] = [:]
    /// The items that are turned on when their menu is about to be shown.
    var turnedOn: [Int32: [Int32]] = [:]
    /// The items that were clicked, in order.
    var clicked: [Int32] = []
    /// The members that were called.
    var calls: [String] = []
    /// What answers a member instead.
    var answers: [String: Answer] = [:]
    /// How long it takes for each answer.
    var delay: Duration?
  }

  let peer: Peer
  let state: Observed<State>

  init(_ peer: Peer) {
    let state = Observed(State())
    (self.peer, self.state) = (peer, state)
    peer.answersElsewhere()
    peer.answer(at: Self.path, after: state.now.delay) { call, _ in state.update { Self.answer(call, &$0) } }
  }

  /// Adds `count` items to the menu `menu`, and stays with that layout, which is not made for each answer.
  func add(
    _ count: Int32, to menu: Int32, _ item: @Sendable (_ number: Int32) -> Item = { Item(label: "Item \($0)") }
  ) {
    let numbers = 100..<100 + count
    state.update { state in
      state.items[menu]?.children += numbers
      for number in numbers { state.items[number] = item(number) }
      state.answers["GetLayout"] = .values([.uint32(1), Self.node(0, state)])
    }
  }

  private static func answer(_ call: Incoming, _ state: inout State) -> Answer {
    state.calls.append(call.member)
    if let answer = state.answers[call.member] { return answer }
    switch (call.member, call.arguments.first) {
    case ("GetLayout", _): return .values([.uint32(1), node(0, state)])
    case ("GetGroupProperties", .array(let numbers)?):
      let found = numbers.compactMap { number -> DBusValue? in
        guard case .int32(let number) = number, let item = state.items[number] else { return nil }
        return .structure([.int32(number), properties(item)])
      }
      let type = DBusType.structure([.int32, .dictionary(key: .string, value: .variant)])
      return .values([.array(DBusArray(known: type, found))])
    case ("AboutToShow", .int32(let number)?):
      if let items = state.filled[number] { state.items[number]?.children = items }
      for item in state.turnedOn[number] ?? [] { state.items[item]?.isEnabled = true }
      return .values([.boolean(true)])
    case ("Event", .int32(let number)?):
      state.clicked.append(number)
      if let isOn = state.items[number]?.isOn { state.items[number]?.isOn = !isOn }
      return .values([])
    default: return .values([])
    }
  }

  private static func node(_ number: Int32, _ state: State) -> DBusValue {
    let item = state.items[number] ?? Item(label: "")
    let children = item.children.map { DBusValue.variant(node($0, state)) }
    return .structure([.int32(number), properties(item), .array(DBusArray(known: .variant, children))])
  }

  private static func properties(_ item: Item) -> DBusValue {
    var properties: Named = [("label", .string(item.label)), ("enabled", .boolean(item.isEnabled))] + item.other
    if !item.children.isEmpty { properties.append(("children-display", .string("submenu"))) }
    if !item.keys.isEmpty {
      properties.append(
        ("shortcut", .array(DBusArray(known: .array(.string), [.strings(item.keys)]))))
    }
    if let isOn = item.isOn {
      properties += [("toggle-type", .string("checkmark")), ("toggle-state", .int32(isOn ? 1 : 0))]
    }
    return .properties(properties)
  }
}
