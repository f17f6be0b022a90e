import BusSupport
import DBusTypes
import Glibc
import TestSupport

/// An element of a program that a test makes up.
struct StubElement: Sendable {
  var role: UInt32 = 61
  var states: UInt64 = StubElement.focusable
  var name = ""
  var interfaces: Set<String> = []
  var parent = "/window"
  /// Where it is among its siblings; nil: an error.
  var index: Int32?
  var attributes: [String: String] = [:]
  /// What is stored, and what is displayed of it; nil: the same, and an empty text: an error.
  var text = ""
  var display: String?
  /// What it says of the length, if that is another.
  var count: Int32?
  var caret: Int32 = 0
  var selection: (Int32, Int32) = (0, 0)
  var value = 0.0
  var maximum = 100.0
  /// How far the value moves by itself each time that it is told.
  var drift = 0.0
  var actions: [String] = []
  var step = 1.0
  /// How often it is not there yet.
  var late = 0
  /// As in Clutter: its end is -1, and of a selection the first end stays where it is if the caret is moved.
  var caretSelects = false
  /// As in Java: it counts in UTF-16, and what has a character beyond U+FFFF is told as an empty text.
  var lacksSurrogates = false
  /// Where a caret is after an insertion there: before it, as in an entry, or behind it, as in a text view; in Calc any caret is
  /// there, and in Writer it may be in another paragraph's element, which has the end of the text.
  var caretRule = CaretRule.stays
  /// The keys that somebody presses, one right after each insertion and each move of the caret.
  var keys: [String] = []
  /// The key that somebody presses right before the caret is moved.
  var keyBeforeCaret = ""
  /// It agrees to writes and makes none; it refuses them.
  var ignoresWrites = false
  /// It agrees to changes of its text and makes none, as an entry that is full.
  var ignoresText = false
  /// The most characters that it takes.
  var limit = Int.max
  var refusesWrites = false
  /// What puts another element in its place, before it is answered; that is told later.
  var replacing: Set<String> = []
  /// What closes its window before it is answered.
  var closing: Set<String> = []
  /// It takes focus when it is asked to, and tells it.
  var takesFocus = false
  /// It answers nothing.
  var isHung = false
  /// What it does not answer.
  var silent: Set<String> = []
  /// What ends the program instead of being answered.
  var leaving: Set<String> = []
  /// The properties that it does not tell.
  var lateProperties: Set<String> = []
  /// What it answers to these questions instead; nil: an error.
  var answers: [String: DBusValue?] = [:]
  /// What it says that it cannot do.
  var unsupported: Set<String> = []
  /// Its role and its text from when its text was told.
  var roleAfterText: UInt32?
  var textAfterText: String?

  enum CaretRule: Sendable { case stays, moves, follows, leaves }

  static let active: UInt64 = 1 << 1
  static let focusable: UInt64 = 1 << 11
  static let focused: UInt64 = 1 << 12
  static let editable: UInt64 = 1 << 7
  static let multiLine: UInt64 = 1 << 17
  static let singleLine: UInt64 = 1 << 26
  static let checked: UInt64 = 1 << 4
  static let selected: UInt64 = 1 << 23
  static let showing: UInt64 = 1 << 25

  /// A text entry.
  static func entry(_ text: String, role: UInt32 = 61) -> StubElement {
    StubElement(
      role: role, states: focusable | editable, interfaces: ["Text", "EditableText", "Component"], text: text)
  }

  fileprivate mutating func drifted() -> Double {
    value += drift
    return value
  }

  /// Types at the caret.
  mutating func type(_ keys: String) {
    let (characters, caret) = (text.unicodeScalars, max(caret, 0))
    text = String(characters.prefix(Int(caret)) + keys.unicodeScalars + characters.dropFirst(Int(caret)))
    self.caret = caret + Int32(keys.unicodeScalars.count)
  }

  fileprivate mutating func moveCaret(_ position: Int, by count: Int) {
    if caretRule == .follows {
      caret = Int32(position + count)
    } else if caretRule == .leaves {
      (text, caret) = (String(text.prefix(1)), -1)
    } else if position < caret || (caretRule == .moves && position == caret) {
      caret += Int32(count)
    }
    pressKey()
  }

  fileprivate mutating func pressKey() { if !keys.isEmpty { type(keys.removeFirst()) } }

  fileprivate var length: Int32 { Int32(lacksSurrogates ? text.utf16.count : text.unicodeScalars.count) }

  /// Runs the actions that move it.
  fileprivate mutating func step(_ action: String) {
    if action == "increment" { value += 1 }
    if action == "decrement" { value -= 1 }
  }

  static func slider(_ value: Double) -> StubElement {
    StubElement(role: 51, interfaces: ["Value", "Component"], value: value)
  }

  static func check(_ isOn: Bool) -> StubElement {
    StubElement(role: 7, states: focusable | (isOn ? checked : 0), interfaces: ["Action"], actions: ["click"])
  }
}

/// A program on the accessibility bus whose elements a test makes up.
final class StubProgram: Sendable {
  struct State: Sendable, CustomStringConvertible {
    var elements: [String: StubElement] = [:]
    var calls: [Incoming] = []
    /// Its root answers nothing, or is not there yet.
    var rootIsHung = false
    var rootIsMissing = false

    var description: String { "calls \(calls)" }
  }

  /// What it says of itself.
  private struct Identity: Sendable { let connection, name, toolkit, version: String }

  static let interface = "org.a11y.atspi."
  static let root = "/org/a11y/atspi/accessible/root"

  let peer: Peer
  let name: String
  let state = Observed(State())
  private let identity: Identity

  init(_ peer: Peer, name: String, toolkit: String, version: String) {
    (self.peer, self.name) = (peer, name)
    let program = Identity(connection: peer.name, name: name, toolkit: toolkit, version: version)
    identity = program
    // In one step: a test may change the element meanwhile, which must not be undone.
    peer.answer { [state] call, thread in
      let (answer, isMoved, closed) = state.update { state -> (Answer, Bool, String?) in
        let closed = state.elements[call.path].flatMap { $0.closing.contains(call.member) ? $0.parent : nil }
        let answer = Self.answer(call, &state, as: program)
        let isMoved = call.member == "GrabFocus" && state.elements[call.path]?.takesFocus == true
        if isMoved { Self.moveFocus(to: call.path, in: &state) }
        let isReplaced = state.elements[call.path]?.replacing.contains(call.member) == true
        if closed != nil || isReplaced { state.elements[call.path] = nil }
        return (answer, isMoved, closed)
      }
      if let closed {
        thread.emit(closed, Self.interface + "Event.Window", "Destroy", Self.event("", 0))
        thread.flush()
        // It has more to do before it answers.
        usleep(50_000)
      }
      if isMoved { Self.tellFocus(of: call.path, thread) }
      return answer
    }
  }

  /// Adds an element, or replaces one.
  func set(_ path: String, _ element: StubElement) { state.update { $0.elements[path] = element } }

  func change(_ path: String, _ change: @Sendable (inout StubElement) -> Void) {
    state.update {
      if var element = $0.elements[path] {
        change(&element)
        $0.elements[path] = element
      }
    }
  }

  /// Has an element answer as usual, what it held, too.
  func release(_ path: String) {
    change(path) { ($0.isHung, $0.silent) = (false, []) }
    peer.perform { [state, identity] thread in
      thread.release { call in state.update { Self.answer(call, &$0, as: identity) } }
    }
  }

  func text(of path: String) -> String { state.now.elements[path]?.text ?? "" }

  // MARK: Events

  private func emit(_ path: String, _ kind: String, _ member: String, _ detail: String, _ value: Int32) {
    peer.perform { $0.emit(path, Self.interface + "Event." + kind, member, Self.event(detail, value)) }
  }

  private static func event(_ detail: String, _ value: Int32) -> [DBusValue] {
    [.string(detail), .int32(value), .int32(0), .variant(.int32(0)), .properties([])]
  }

  /// Tells that the window is in front.
  func activate(_ window: String = "/window") {
    change(window) { $0.states |= StubElement.active }
    emit(window, "Window", "Activate", "", 0)
  }
  /// The same without being it.
  func claimActivation(_ window: String = "/window") { emit(window, "Window", "Activate", "", 0) }
  func deactivate(_ window: String = "/window") {
    change(window) { $0.states &= ~StubElement.active }
    emit(window, "Window", "Deactivate", "", 0)
  }

  /// Tells that the window is gone.
  func destroy(_ window: String = "/window") { emit(window, "Window", "Destroy", "", 0) }

  /// Moves focus to an element, and tells it as GTK does: twice.
  func focus(_ path: String) {
    focusSilently(path)
    peer.perform { Self.tellFocus(of: path, $0) }
  }

  private static func tellFocus(of path: String, _ thread: PeerThread) {
    for _ in 0..<2 { thread.emit(path, interface + "Event.Object", "StateChanged", event("focused", 1)) }
  }

  /// The same without telling it.
  func focusSilently(_ path: String) { state.update { Self.moveFocus(to: path, in: &$0) } }

  private static func moveFocus(to path: String, in state: inout State) {
    for key in state.elements.keys { state.elements[key]?.states &= ~StubElement.focused }
    state.elements[path]?.states |= StubElement.focused
  }

  /// Opens a dialog in front, in which the entry `/asked` with `text` has focus.
  func open(_ dialog: String, asking text: String) {
    set(dialog, StubElement(role: 16, name: "The dialog", parent: Self.root))
    set("/asked", .entry(text))
    change("/asked") { $0.parent = dialog }
    activate(dialog)
    focus("/asked")
  }

  func blur(_ path: String) {
    change(path) { $0.states &= ~StubElement.focused }
    emit(path, "Object", "StateChanged", "focused", 0)
  }

  /// Tells that the text is another.
  func textChanged(_ path: String) { emit(path, "Object", "TextChanged", "insert", 0) }

  /// Waits until the states of `path` are asked for after `act`.
  func isAskedForStates(of path: String, after act: () -> Void) async throws {
    let asked = state.now.calls.count
    act()
    try await state.wait(for: "the question") { state in
      state.calls.dropFirst(asked).contains { $0.path == path && $0.member == "GetState" } ? () : nil
    }
  }

  /// Tells that a state is another.
  func stateChanged(_ path: String, _ state: String, _ value: Int32) {
    emit(path, "Object", "StateChanged", state, value)
  }

  /// Tells that the name is another.
  func nameChanged(_ path: String) { emit(path, "Object", "PropertyChange", "accessible-name", 0) }

  /// Tells so many gains and losses, of elements that are not there, too.
  func storm(_ count: Int, of path: String) {
    peer.perform { thread in
      for index in 0..<count {
        thread.emit(
          path + "\(index % 50)", Self.interface + "Event.Object", "StateChanged",
          Self.event("focused", Int32(index % 3 == 0 ? 0 : 1)))
      }
    }
  }

  // MARK: Answers

  private static func answer(_ call: Incoming, _ state: inout State, as program: Identity) -> Answer {
    state.calls.append(call)
    let children = state.elements.filter { $0.value.parent == call.path && $0.key != call.path }.keys.sorted()
    if call.path == root {
      if state.rootIsHung { return .hold }
      if !state.rootIsMissing { return answerAsRoot(call, children, program) }
    }
    guard var element = state.elements[call.path] else {
      return .error("org.freedesktop.DBus.Error.UnknownObject", "there is no \(call.path)")
    }
    if element.leaving.contains(call.member) { return .leave }
    if element.isHung || element.silent.contains(call.member) { return .hold }
    if call.interface == Focus1.properties, element.lateProperties.contains(String(call.key.dropFirst(interface.count)))
    {
      return .hold
    }
    if let answer = element.answers[call.member] {
      return answer.map { .values([$0]) } ?? .error("org.freedesktop.DBus.Error.Failed", call.member)
    }
    if element.unsupported.contains(call.member) { return .error("org.freedesktop.DBus.Error.NotSupported", "") }
    if element.late > 0 {
      if call.member == "GetRole" { state.elements[call.path]?.late -= 1 }
      return .error("org.freedesktop.DBus.Error.UnknownMethod", "not yet")
    }
    let selected = children.filter { (state.elements[$0]?.states ?? 0) & StubElement.selected != 0 }
    let answer = selecting(call, selected, program) ?? answer(call, &element, children, program)
    state.elements[call.path] = element
    return answer
  }

  private static func selecting(_ call: Incoming, _ selected: [String], _ program: Identity) -> Answer? {
    if call.key == interface + "Selection.NSelectedChildren" {
      return .values([.variant(.int32(Int32(selected.count)))])
    }
    guard call.member == "GetSelectedChild", case .int32(let index)? = call.arguments.first else { return nil }
    return .values([reference(selected[Int(index)], program)])
  }

  private static func answerAsRoot(_ call: Incoming, _ children: [String], _ program: Identity) -> Answer {
    switch (call.member, call.key) {
    case ("Get", interface + "Accessible.Name"): .values([.variant(.string(program.name))])
    case ("Get", interface + "Application.ToolkitName"): .values([.variant(.string(program.toolkit))])
    case ("Get", interface + "Application.Version"): .values([.variant(.string(program.version))])
    case ("GetChildren", _):
      .values([.array(DBusArray(known: referenceType, children.map { reference($0, program) }))])
    default: .error("org.freedesktop.DBus.Error.UnknownMethod", call.member)
    }
  }

  private static let referenceType = DBusType.structure([.string, .objectPath])

  private static func reference(_ path: String, _ program: Identity) -> DBusValue {
    .structure([.string(program.connection), .objectPath(ObjectPath(known: path))])
  }

  private static func answer(
    _ call: Incoming, _ element: inout StubElement, _ children: [String], _ program: Identity
  ) -> Answer {
    if call.interface == Focus1.properties { return property(call, &element, program) }
    switch call.member {
    case "GetRole": return .values([.uint32(element.role)])
    case "GetState":
      let words = [UInt32(truncatingIfNeeded: element.states), UInt32(truncatingIfNeeded: element.states >> 32)]
      return .values([.array(DBusArray(known: .uint32, words.map { .uint32($0) }))])
    case "GetInterfaces": return .values([.strings(element.interfaces.map { interface + $0 })])
    case "GetAttributes":
      let entries = element.attributes.map { DBusDictionary.Entry(key: .string($0.key), value: .string($0.value)) }
      return .values([.dictionary(DBusDictionary(known: .string, .string, entries))])
    case "GetChildren":
      return .values([.array(DBusArray(known: referenceType, children.map { reference($0, program) }))])
    case "GetIndexInParent":
      return element.index.map { .values([.int32($0)]) }
        ?? .error("org.freedesktop.DBus.Error.UnknownMethod", call.member)
    case "GetName":
      let index = call.arguments.first.flatMap { if case .int32(let index) = $0 { Int(index) } else { nil } } ?? 0
      return .values([.string(element.actions.dropFirst(index).first ?? "")])
    case "DoAction":
      if element.refusesWrites { return .values([.boolean(false)]) }
      if !element.ignoresWrites { element.states ^= StubElement.checked }
      if case .int32(let index)? = call.arguments.first { element.step(element.actions[Int(index)]) }
      return .values([.boolean(true)])
    case "GrabFocus": return .values([.boolean(true)])
    default: return textual(call, &element)
    }
  }

  private static func property(_ call: Incoming, _ element: inout StubElement, _ program: Identity) -> Answer {
    if call.member == "Set" {
      if element.refusesWrites { return .error("org.freedesktop.DBus.Error.AccessDenied", "no") }
      if case .double(let value)? = call.arguments.last?.variantContent, !element.ignoresWrites {
        element.value = value
      }
      return .values([])
    }
    let value: DBusValue? =
      switch call.key.dropFirst(interface.count) {
      case "Accessible.Name": .string(element.name)
      case "Accessible.Description": .string("")
      case "Accessible.Parent": reference(element.parent, program)
      case "Text.CharacterCount" where element.interfaces.contains("Text"):
        .int32(element.count ?? element.length)
      case "Text.CaretOffset": .int32(element.caret)
      case "Action.NActions": .int32(Int32(element.actions.count))
      case "Value.CurrentValue": .double(element.drifted())
      case "Value.MinimumValue": .double(0)
      case "Value.MaximumValue": .double(element.maximum)
      case "Value.MinimumIncrement": .double(element.step)
      default: nil
      }
    return value.map { .values([.variant($0)]) }
      ?? .error("org.freedesktop.DBus.Error.UnknownProperty", "there is no \(call.key)")
  }

  private static func textual(_ call: Incoming, _ element: inout StubElement) -> Answer {
    // Not an array: some texts are long.
    let characters = element.text.unicodeScalars
    let numbers = call.arguments.compactMap { if case .int32(let number) = $0 { Int(number) } else { nil } }
    func string(_ part: some Sequence<Unicode.Scalar>) -> String { String(String.UnicodeScalarView(part)) }
    switch call.member {
    case "GetText":
      element.role = element.roleAfterText ?? element.role
      element.text = element.textAfterText ?? element.text
      let part = characters.dropFirst(numbers[0]).prefix(max(0, numbers[1] - numbers[0]))
      return .values([.string(element.lacksSurrogates && part.contains { $0.value > 0xFFFF } ? "" : string(part))])
    case "GetSelection": return .values([.int32(element.selection.0), .int32(element.selection.1)])
    case "GetStringAtOffset":
      guard element.display != "" else { return .error("org.freedesktop.DBus.Error.Failed", "not displayed") }
      return .values([.string(element.display ?? element.text), .int32(0), .int32(0)])
    default: break
    }
    if element.refusesWrites { return .values([.boolean(false)]) }
    let isText = ["SetTextContents", "InsertText", "DeleteText"].contains(call.member)
    if element.ignoresWrites || (isText && element.ignoresText) { return .values([.boolean(true)]) }
    if element.caretSelects, let answer = selecting(call.member, numbers, &element) { return answer }
    switch call.member {
    case "SetTextContents":
      (element.text, element.count) = (String((call.arguments[0].basicText ?? "").prefix(element.limit)), nil)
    case "InsertText":
      let text = call.arguments[1].basicText ?? ""
      element.text = string(
        Array(characters.prefix(numbers[0])) + text.unicodeScalars + characters.dropFirst(numbers[0]))
      element.moveCaret(numbers[0], by: text.unicodeScalars.count)
    case "DeleteText": element.text = string(Array(characters.prefix(numbers[0])) + characters.dropFirst(numbers[1]))
    case "SetCaretOffset":
      element.type(element.keyBeforeCaret)
      (element.keyBeforeCaret, element.caret, element.selection) = ("", Int32(numbers[0]), (0, 0))
      element.pressKey()
    case "AddSelection":
      (element.caret, element.selection) = (Int32(numbers[1]), (Int32(numbers[0]), Int32(numbers[1])))
    case "SetSelection": element.selection = (Int32(numbers[1]), Int32(numbers[2]))
    case "RemoveSelection": element.selection = (0, 0)
    default: return .error("org.freedesktop.DBus.Error.UnknownMethod", call.member)
    }
    return .values([.boolean(true)])
  }

  private static func selecting(_ member: String, _ numbers: [Int], _ element: inout StubElement) -> Answer? {
    let isSelected = element.selection.0 != element.selection.1
    switch member {
    case "SetCaretOffset": element.selection.1 = Int32(numbers[0])
    case "AddSelection" where !isSelected: element.selection = (Int32(numbers[0]), Int32(numbers[1]))
    case "SetSelection" where isSelected: element.selection = (Int32(numbers[1]), Int32(numbers[2]))
    case "RemoveSelection" where isSelected: element.selection.0 = element.selection.1
    case "AddSelection", "SetSelection", "RemoveSelection": return .values([.boolean(false)])
    default: return nil
    }
    element.caret = element.selection.1
    return .values([.boolean(true)])
  }
}
