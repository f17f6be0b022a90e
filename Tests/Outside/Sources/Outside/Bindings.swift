import FocusKit
import Observation

// What SwiftUI's views take their bindings as.

func forEach<Data: RandomAccessCollection, ID: Hashable>(
  _ data: Data, id: KeyPath<Data.Element, ID>, content: (Data.Element) -> Void
) {
  for element in data { content(element) }
}
func forEach<Data: RandomAccessCollection>(_ data: Data, content: (Data.Element) -> Void)
where Data.Element: Identifiable {
  for element in data { content(element) }
}
func forEach<Data: MutableCollection & RandomAccessCollection>(
  _ data: Binding<Data>, content: (Binding<Data.Element>) -> Void
) where Data.Element: Identifiable {
  for element in data { content(element) }
}
func list<Data: MutableCollection & RandomAccessCollection>(
  _ data: Binding<Data>, _ content: (Binding<Data.Element>) -> Void
) {
  for element in data { content(element) }
}
func toggle(_ title: String, isOn: Binding<Bool>) { isOn.wrappedValue.toggle() }
func textField(_ title: String, text: Binding<String>) { text.wrappedValue += title }
func slider<V: BinaryFloatingPoint>(value: Binding<V>) { value.wrappedValue = 0 }
func stepper<V: Strideable>(value: Binding<V>) {}
func picker<S: Hashable>(selection: Binding<S>) {}
func optionalField(_ text: Binding<String?>) {}

struct Address: Sendable {
  var city = "Paris"
  var lines = ["a", "b"]
}
struct Person: Identifiable, Sendable {
  var id = 1
  var name = "Ada"
  var nickname: String?
  var address = Address()
  var spouse: [Person] = []
  var scores: [String: Int] = [:]
  var work: Address?
}
@Observable final class Model: @unchecked Sendable {
  var title = "t"
  var people: [Person] = []
  var selected: Person?
}

struct FormView {
  @State var person = Person()
  @State var people: [Person] = [Person()]
  @State var todos: [Todo] = [Todo(description: "a")]
  @State var model = Model()
  @State var numbers = [1, 2, 3]
  @State var dict: [String: Int] = [:]
  @State var selection: Flavor = .chocolate
  @State var optional: Person? = nil
  @State var count = 0
  @State var fraction: Float = 0.5
  @State var flags: Set<String> = []
  @State var tuple = (a: 1, b: "x")

  func body() {
    textField("n", text: $person.name)
    textField("c", text: $person.address.city)
    textField("l", text: $person.address.lines[0])
    optionalField($person.nickname)
    optionalField(Binding($person.name))
    if let nickname = Binding($person.nickname) { textField("x", text: nickname) }
    if let $work = Binding($person.work) { textField("x", text: $work.city) }
    toggle("d", isOn: $todos[0].done)
    forEach($todos) { $todo in
      toggle(todo.description, isOn: $todo.done)
      todo.done = false
    }
    forEach($todos, id: \.id) { $todo in toggle(todo.description, isOn: $todo.done) }
    list($todos) { $todo in textField("t", text: $todo.description) }
    list($people) { $person in
      textField("t", text: $person.name)
      list($person.spouse) { $spouse in textField("x", text: $spouse.name) }
    }
    for todo in $todos {
      todo.wrappedValue.done.toggle()
      todo.done.wrappedValue = true
    }
    _ = $todos.map { $0.done }
    _ = $todos.filter { $0.wrappedValue.done }
    _ = $todos.first { $0.id == 1 }
    _ = $todos.first
    _ = $todos.last?.done
    _ = $todos.count
    _ = $todos.isEmpty
    _ = $todos.indices
    _ = $todos.enumerated().map { $0.offset }
    _ = $todos.reversed()
    _ = Array($todos)
    _ = $todos[0...]
    forEach(Array($todos.enumerated()), id: \.offset) { index, $todo in todo.id = index }
    textField("", text: $model.title.self)
    textField("m", text: $model.title)
    list($model.people) { $p in p.name = "x" }
    if let selected = Binding($model.selected) { textField("", text: selected.name) }
    slider(value: $fraction)
    stepper(value: $count)
    picker(selection: $selection)
    let t = $tuple.a
    t.wrappedValue = 3
    let d: Binding<Int?> = $dict["a"]
    d.wrappedValue = 4
    let n: Binding<Int> = $numbers[2]
    n.wrappedValue = 8
    let opt: Binding<String?> = $optional.map(\.name)
    _ = opt
  }
}
extension Binding {
  func map<Wrapped, Member>(
    _ keyPath: WritableKeyPath<Wrapped, Member> & Sendable
  ) -> Binding<Member?> where Value == Wrapped?, Wrapped: Sendable {
    Binding<Member?>(
      get: { self.wrappedValue?[keyPath: keyPath] },
      set: { if let new = $0 { self.wrappedValue?[keyPath: keyPath] = new } })
  }
  func onChange(_ handler: @escaping @Sendable (Value) -> Void) -> Binding<Value> where Value: Sendable {
    Binding(
      get: { self.wrappedValue },
      set: { newValue in
        self.wrappedValue = newValue
        handler(newValue)
      })
  }
  static func ?? (lhs: Binding<Value?>, rhs: Value) -> Binding<Value> where Value: Sendable {
    Binding(get: { lhs.wrappedValue ?? rhs }, set: { lhs.wrappedValue = $0 })
  }
  func isPresent<Wrapped: Sendable>() -> Binding<Bool> where Value == Wrapped? {
    .init(get: { wrappedValue != nil }, set: { if !$0 { wrappedValue = nil } })
  }
}
prefix func ! (value: Binding<Bool>) -> Binding<Bool> {
  Binding<Bool>(get: { !value.wrappedValue }, set: { value.wrappedValue = !$0 })
}

@propertyWrapper struct Bindable<Value> {
  var wrappedValue: Value
}

struct BindingUse {
  @Binding var text: String
  @Binding var todo: Todo
  @Binding var todos: [Todo]
  @Binding var optional: Int?
  init(text: Binding<String>, todo: Binding<Todo>, todos: Binding<[Todo]>) {
    _text = text
    _todo = Binding(projectedValue: todo)
    _todos = todos
    _optional = .constant(nil)
  }
  init() {
    self.init(text: .constant(""), todo: .constant(Todo(description: "x")), todos: .constant([]))
  }
  func use() {
    text = "x"
    $todo.description.wrappedValue = "x"
    todo.description = "y"
    todos.append(Todo(description: "z"))
    todos.removeAll { $0.done }
    optional = 3
    let _: Todo.ID = $todo.id
    toggle("", isOn: $todo.done)
  }
}
struct Holder {
  var binding: Binding<Int>
  @Binding var direct: Int
}
let holder = Holder(binding: .constant(1), direct: .constant(2))
