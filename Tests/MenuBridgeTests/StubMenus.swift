import BusSupport
import DBusTypes
import TestSupport

/// A program of GTK's, as it looks on the bus, that does as a test wants.
final class StubMenus: Sendable {
  static let window = "/stub/window/1"
  static let menubar = "/stub/menus/menubar"
  /// Has the same actions as the window.
  static let application = "/stub"

  struct Action: Sendable {
    var isEnabled = true
    var state: Bool?
  }

  struct State: Sendable {
    var actions: [String: Action] = [:]
    /// The lists of items, by group and number.
    var lists: [[UInt32]: [Named]] = [:]
    /// The calls that came, by member.
    var calls: [String] = []
    /// Who called.
    var askers: Set<String> = []
    /// The actions that were run, in order.
    var activated: [String] = []
    /// The names of what is below an object, by its path.
    var children: [String: [String]] = [:]
    /// What answers a member, or for an object, instead.
    var answers: [String: Answer] = [:]
    /// How long it takes for each answer.
    var delay: Duration?
    /// An action that is enabled as soon as it has been said once that it is not.
    var awakening: String?
  }

  let peer: Peer
  let state: Observed<State>

  init(_ peer: Peer, window: String = StubMenus.window, menubar: String = StubMenus.menubar) {
    let state = Observed(State())
    (self.peer, self.state) = (peer, state)
    peer.answersElsewhere()
    for path in [window, menubar, Self.application] {
      peer.answer(at: path, after: state.now.delay) { call, _ in Self.answer(call, state) }
    }
    menu("Edit", ["undo": "_Undo", "wrap": "_Wrap"])
    state.update { $0.actions = ["undo": Action(), "wrap": Action(state: false)] }
  }

  /// Tells of these objects whoever looks for some, each with the names of what is below it.
  func exports(_ children: [String: [String]]) {
    let state = state
    state.update { $0.children = children }
    for path in children.keys {
      peer.answer(at: path, after: state.now.delay) { call, _ in Self.answer(call, state) }
    }
  }

  /// Has one menu with actions and their labels.
  func menu(_ label: String, _ items: KeyValuePairs<String, String>) {
    let items = items.map { item -> Named in
      [("label", .string(item.value)), ("action", .string("win." + item.key))]
    }
    state.update {
      $0.lists = [
        [0, 0]: [[("label", .string(label)), (":submenu", Self.list(1, 0))]], [1, 0]: items,
      ]
    }
  }

  static func list(_ group: UInt32, _ number: UInt32) -> DBusValue { .structure([.uint32(group), .uint32(number)]) }

  /// Enables an action or not, and tells it.
  func enable(_ name: String, _ isEnabled: Bool) {
    state.update { $0.actions[name]?.isEnabled = isEnabled }
    tell(enabled: [.init(key: .string(name), value: .boolean(isEnabled))])
  }

  /// Removes an action if it is there, adds the new one if there is one, and tells both at once.
  func replace(_ name: String, with action: Action?) {
    let old = state.update { state in
      defer { state.actions[name] = action }
      return state.actions[name]
    }
    tell(
      removed: old.map { _ in [name] } ?? [],
      added: action.map { [.init(key: .string(name), value: Self.describe($0))] } ?? [])
  }

  private func tell(
    removed: [String] = [], enabled: [DBusDictionary.Entry] = [], added: [DBusDictionary.Entry] = []
  ) {
    let changes: [DBusValue] = [
      .strings(removed), .dictionary(DBusDictionary(known: .string, .boolean, enabled)), .properties([]),
      .dictionary(DBusDictionary(known: .string, Self.actionType, added)),
    ]
    peer.perform { $0.emit(Self.window, "org.gtk.Actions", "Changed", changes) }
  }

  /// Answers as usual, what it held, too.
  func release() {
    state.update { $0.answers = [:] }
    peer.perform { [state] thread in thread.release { Self.answer($0, state) } }
  }

  private static func answer(_ call: Incoming, _ state: Observed<State>) -> Answer {
    state.update { state in
      state.calls.append(call.member)
      state.askers.insert(call.sender)
      if let answer = state.answers[call.member] ?? state.answers[call.path] { return answer }
      let name = call.arguments.first?.basicText ?? ""
      switch call.member {
      case "DescribeAll":
        let entries = state.actions.map { DBusDictionary.Entry(key: .string($0.key), value: describe($0.value)) }
        return .values([.dictionary(DBusDictionary(known: .string, actionType, entries))])
      case "Describe":
        guard let action = state.actions[name] else { return .error("org.freedesktop.DBus.Error.InvalidArgs", name) }
        if name == state.awakening { state.actions[name]?.isEnabled = true }
        return .values([describe(action)])
      case "Activate":
        state.activated.append(name)
        if let isOn = state.actions[name]?.state { state.actions[name]?.state = !isOn }
        return .values([])
      case "Start": return .values([start(call.arguments.first, state.lists)])
      case "Introspect":
        let nodes = (state.children[call.path] ?? []).map { #"<node name="\#($0)"/>"# }.joined()
        return .values([.string("<node>\(nodes)</node>")])
      default: return .values([])
      }
    }
  }

  private static let actionType = DBusType.structure([.boolean, .signature, .array(.variant)])

  private static func describe(_ action: Action) -> DBusValue {
    let state = action.state.map { [DBusValue.variant(.boolean($0))] } ?? []
    return .structure([
      .boolean(action.isEnabled), .signature(.empty), .array(DBusArray(known: .variant, state)),
    ])
  }

  private static func start(_ groups: DBusValue?, _ lists: [[UInt32]: [Named]]) -> DBusValue {
    guard case .array(let groups)? = groups else { return .boolean(false) }
    let wanted = Set(groups.compactMap { group in if case .uint32(let number) = group { number } else { nil } })
    let item = DBusType.dictionary(key: .string, value: .variant)
    let parts = lists.filter { wanted.contains($0.key[0]) }.map { key, items in
      DBusValue.structure([
        .uint32(key[0]), .uint32(key[1]), .array(DBusArray(known: item, items.map { .properties($0) })),
      ])
    }
    return .array(DBusArray(known: .structure([.uint32, .uint32, .array(item)]), parts))
  }
}
