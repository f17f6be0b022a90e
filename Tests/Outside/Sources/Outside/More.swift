import FocusKit
import Observation

// A main-actor view, as in SwiftUI.
@MainActor @Observable final class MainModel {
  var volume = 0.5
  var items: [Todo] = []
  var name: String?
}

@MainActor struct MainView {
  @State private var model = MainModel()
  @State private var text = ""
  @State private var show = false
  @Binding var number: Int
  @FocusState var focus: Field?
  @FocusedBinding(\.myIntDataBinding) var focused
  @FocusedValue(\.save) var save

  var volume: Binding<Double> {
    Binding(get: { model.volume }, set: { model.volume = $0 })
  }
  var own: Binding<String> {
    Binding {
      text
    } set: {
      text = $0
    }
  }
  func body() {
    slider(value: $model.volume)
    list($model.items) { $item in item.done.toggle() }
    if let name = Binding($model.name) { textField("x", text: name) }
    Task { @MainActor in
      text = "later"
      number += 1
      $text.wrappedValue = "x"
    }
    let binding = $number
    Task.detached { binding.wrappedValue = 3 }
  }
  func field() -> FocusField {
    FocusField("x")
      .focusedValue(\.save) {
        text = "saved"
        model.volume = 1
      }
      .focusedValue(\.delete) { model.volume = 0 }
      .focusedValue(\.myIntDataBinding, $number)
      .focusedSceneValue(\.todos, $model.items)
      .focused($focus, equals: .password)
  }
}

struct StateForms {
  @State var a: Int
  @State var b: Int?
  @State var c: [Int] = []
  @State private(set) var d = 3
  @State var e: (() -> Void)? = nil
  @State var f: Set<Int> = []
  init() {
    _a = State(wrappedValue: 1)
    _b = .init(initialValue: 2)
    a = 3
  }
  init(a: Int) {
    self.a = a
    self._c = State(initialValue: [a])
  }
}
struct Memberwise {
  @State var x = 1
  @Binding var y: Int
  @State var z: String?
}
let memberwise = Memberwise(x: 3, y: .constant(1))
struct Preview {
  static var previews: BindingUse {
    BindingUse(text: .constant("a"), todo: .constant(.init(description: "x")), todos: .constant([]))
  }
}

// Bindings of protocols, generics, nested optionals, computed members.
protocol Named { var name: String { get set } }
struct Wrapper<T> {
  @Binding var value: T
  var body: Binding<T> { $value }
}
struct Counter: Equatable {
  var raw = 0
  var doubled: Int {
    get { raw * 2 }
    set { raw = newValue / 2 }
  }
  subscript(offset: Int) -> Int {
    get { raw + offset }
    set { raw = newValue - offset }
  }
}
extension Int {
  var asDouble: Double {
    get { Double(self) }
    set { self = Int(newValue) }
  }
}
func generic<T: Named>(_ binding: Binding<T>) -> Binding<String> { binding.name }
func existential(_ binding: Binding<any Named>) -> Binding<String> { binding.name }
func collections() {
  @State var counter = Counter()
  $counter.doubled.wrappedValue = 8
  $counter[3].wrappedValue = 9
  slider(value: $counter.raw.asDouble)
  @State var matrix = [[1, 2], [3, 4]]
  $matrix[0][1].wrappedValue = 8
  for row in $matrix { for cell in row { cell.wrappedValue += 1 } }
  @State var deep: Int?? = 3
  if let one = Binding($deep), let two = Binding(one) { two.wrappedValue = 4 }
  let sorted = $matrix.sorted { $0.wrappedValue.count < $1.wrappedValue.count }
  _ = sorted
  let slice: Slice<Binding<[[Int]]>> = $matrix[..<1]
  _ = slice
  let idx = $matrix.firstIndex { $0.wrappedValue.isEmpty }
  _ = idx
  _ = $matrix.startIndex..<$matrix.endIndex
  _ = $matrix.index(after: $matrix.startIndex)
  let constant = Binding.constant("x")
  let promoted: Binding<String?> = Binding(constant)
  let back: Binding<String>? = Binding(promoted)
  _ = back
  @Binding var local: Int
  _local = .constant(3)
  let sendable: any Sendable = $counter
  _ = sendable
  let closure: @Sendable () -> Void = { [binding = $counter] in binding.wrappedValue.raw = 3 }
  closure()
  let any: [Binding<Int>] = [.constant(1), $counter.raw, .init(get: { 3 }, set: { _ in })]
  _ = any.map(\.wrappedValue)
}
func focusKeys(values: FocusedValues) -> Int? {
  values.myIntDataBinding?.wrappedValue
}
extension FocusField {
  func documentTools(_ todos: Binding<[Todo]>) -> FocusField { focusedSceneValue(\.todos, todos) }
}

// Keys that are declared by their names alone, one of them with the name of a group that all programs share.
extension FocusedValues {
  var text: Binding<String>? {
    get { self["outside.Form.Text"] }
    set { self["outside.Form.Text"] = newValue }
  }
  var reload: FocusedCommand? {
    get { self["outside.Form.Reload"] }
    set { self["outside.Form.Reload"] = newValue }
  }
}

@MainActor struct ShortForms {
  @State private var model = MainModel()
  @FocusedBinding(\.text) var text
  @FocusedBinding(\.range.value) var position
  @FocusedValue(\.window.title) var title
  @FocusedValue(\.edit.undo) var undo
  @FocusedValue(\.action["Click"]) var click: FocusedCommand?

  func use(_ own: Binding<String>) async throws -> FocusField {
    text?.append("!")
    position? += 0.5
    if title == nil { try await undo?() }
    return FocusField("short").focusedValue(\.text, own).focusedValue(\.toggle.checked, .constant(true))
      .focusedValue(\.range.value, $model.volume)
      .focusedValue(\.reload) { @MainActor in model.volume = 0 }
      .focusedValue(\.edit.undo) { print("undone") }
      .focusedValue(\.text, nil)
  }
}
