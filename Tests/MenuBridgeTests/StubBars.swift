import BusSupport
import DBusTypes
import TestSupport

/// A program on the accessibility bus, of which a test makes up the windows and their menu bars; the bus is the session's.
final class StubBars: Sendable {
  struct Element: Sendable {
    var role: UInt32
    var name = ""
    var states: UInt64 = StubBars.enabled
    var keys = ""
    var children: [String] = []
    /// What answers a member instead.
    var answers: [String: Answer] = [:]
  }

  struct State: Sendable {
    var elements: [String: Element] = [:]
    /// Each call's member and path.
    var calls: [(member: String, path: String)] = []
    /// The items that were run, in order.
    var activated: [String] = []
    /// How long it takes for each answer.
    var delay: Duration?
  }

  static let root = "/org/a11y/atspi/accessible/root"
  private static let interface = "org.a11y.atspi.Accessible"
  private static let referenceType = DBusType.structure([.string, .objectPath])
  static let (frame, bar, menu, item, checkItem): (UInt32, UInt32, UInt32, UInt32, UInt32) = (23, 34, 33, 35, 8)
  static let (active, checked, enabled): (UInt64, UInt64, UInt64) = (1 << 1, 1 << 4, 1 << 8 | 1 << 24)
  static let (showing, visible): (UInt64, UInt64) = (1 << 25, 1 << 30)

  let peer: Peer
  /// What tells where the bus is, and who is on it.
  private let registry: Peer
  let state = Observed(State())

  init(_ desktop: TestDesktop) async throws {
    (peer, registry) = (try await desktop.peer(), try await desktop.peer())
    let (state, name) = (state, peer.name)
    peer.answer(after: state.now.delay) { call, thread in Self.answer(call, state, thread.name) }
    registry.answer { [address = desktop.bus.address] call, _ in
      switch call.member {
      case "GetAddress": .values([.string(address)])
      case "GetChildren": .values([Self.references([(name, Self.root)])])
      default: .values([])
      }
    }
    try await registry.own("org.a11y.atspi.Registry")
    try await registry.own("org.a11y.Bus")
  }

  /// Adds a window with a menu bar, which has one menu.
  func window(_ name: String, isActive: Bool = true, menu: String = "Edit", _ items: [String] = ["Undo"]) {
    let menuPath = "/\(name)/bar/0"
    state.update { state in
      var root = state.elements[Self.root] ?? Element(role: 75)
      root.children.append("/" + name)
      state.elements[Self.root] = root
      state.elements["/" + name] = Element(role: Self.frame, name: name, children: ["/\(name)/bar"])
      state.elements["/\(name)/bar"] = Element(role: Self.bar, children: [menuPath])
      state.elements[menuPath] = Element(role: Self.menu, name: menu)
    }
    for item in items { add(Element(role: Self.item, name: item), to: menuPath) }
    if isActive { activate(name) }
  }

  /// Adds an element to another, at the path of that and its number there.
  func add(_ element: Element, to path: String) {
    state.update { state in
      let child = "\(path)/\(state.elements[path]?.children.count ?? 0)"
      state.elements[path]?.children.append(child)
      state.elements[child] = element
    }
  }

  func change(_ path: String, _ change: @escaping @Sendable (inout Element) -> Void) {
    state.update { state in
      if var element = state.elements[path] {
        change(&element)
        state.elements[path] = element
      }
    }
  }

  /// Says that these windows, and no others, are in front.
  func activate(_ names: String...) {
    state.update { state in
      for (path, element) in state.elements where element.role == Self.frame {
        state.elements[path]?.states = names.contains(String(path.dropFirst())) ? Self.active : 0
      }
    }
  }

  // MARK: Answers

  /// Has an element answer as usual, what it held, too.
  func release(_ path: String) {
    change(path) { $0.answers = [:] }
    peer.perform { [state] thread in thread.release { Self.answer($0, state, thread.name) } }
  }

  static func references(_ elements: [(name: String, path: String)]) -> DBusValue {
    let references = elements.map { DBusValue.structure([.string($0.name), .objectPath(ObjectPath(known: $0.path))]) }
    return .array(DBusArray(known: referenceType, references))
  }

  private static func answer(_ call: Incoming, _ state: Observed<State>, _ name: String) -> Answer {
    state.update { state in
      guard let element = state.elements[call.path] else {
        return .error("org.freedesktop.DBus.Error.UnknownObject", call.path)
      }
      state.calls.append((call.member, call.path))
      if let answer = element.answers[call.member] { return answer }
      switch (call.member, call.key) {
      case ("GetChildren", _): return .values([references(element.children.map { (name, $0) })])
      case ("GetRole", _): return .values([.uint32(element.role)])
      case ("GetState", _):
        let words = [UInt32(truncatingIfNeeded: element.states), UInt32(truncatingIfNeeded: element.states >> 32)]
        return .values([.array(DBusArray(known: .uint32, words.map { .uint32($0) }))])
      case ("GetIndexInParent", _):
        let places = state.elements.values.compactMap { $0.children.firstIndex(of: call.path) }
        return .values([.int32(Int32(places.first ?? -1))])
      case ("GetKeyBinding", _): return .values([.string(element.keys)])
      case ("Get", interface + ".Name"): return .values([.variant(.string(element.name))])
      case ("Get", interface + ".ChildCount"): return .values([.variant(.int32(Int32(element.children.count)))])
      case ("DoAction", _):
        state.activated.append(call.path)
        if element.role == checkItem { state.elements[call.path]?.states ^= checked }
        return .values([.boolean(true)])
      default: return .error("org.freedesktop.DBus.Error.UnknownMethod", call.member)
      }
    }
  }
}

extension MenuStage {
  /// Runs `body` with a program that has menu bars on the accessibility bus, which is there before the bridge.
  static func withBars(_ body: (MenuStage, StubBars) async throws -> Void) async throws {
    let bars = Observed<StubBars?>(nil)
    let start = { (desktop: TestDesktop) in
      let program = try await StubBars(desktop)
      bars.update { $0 = program }
    }
    try await with(before: start) { stage in
      guard let program = bars.now else { return }
      try await body(stage, program)
    }
  }
}
