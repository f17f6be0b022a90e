import FocusKit

// The keys of the scenes, declared as a program declares them for SwiftUI.

struct NumberKey: FocusedValueKey {
  typealias Value = Binding<Int>
  static let name = "demo.Form.Number"
}

struct TitleKey: FocusedValueKey {
  typealias Value = String
  static let name = "demo.Form.Title"
}

struct SaveKey: FocusedValueKey {
  typealias Value = @Sendable () -> Void
  static let name = "demo.Form.Save"
}

struct PositionKey: FocusedValueKey {
  typealias Value = Binding<Double>
  static let name = "demo.Slider.Position"
}

struct LampsKey: FocusedValueKey {
  typealias Value = Binding<[Bool]>
  static let name = "demo.Lamps.Lit"
}

struct PlayingKey: FocusedValueKey {
  typealias Value = Binding<Bool>
  static let name = "demo.Player.Playing"
}

struct PersonKey: FocusedValueKey {
  typealias Value = Binding<Person>
  static let name = "demo.Person.Current"
}

struct TodosKey: FocusedValueKey {
  typealias Value = Binding<[Todo]>
  static let name = "demo.Todo.Items"
}

struct Person: Codable, DBusRepresentable, Equatable {
  var name = "Ada"
  var age = 36
}

struct Todo: Codable, DBusRepresentable, Equatable {
  var description: String
  var done = false
}

extension FocusedValues {
  var number: NumberKey.Value? {
    get { self[NumberKey.self] }
    set { self[NumberKey.self] = newValue }
  }
  var title: TitleKey.Value? {
    get { self[TitleKey.self] }
    set { self[TitleKey.self] = newValue }
  }
  var save: SaveKey.Value? {
    get { self[SaveKey.self] }
    set { self[SaveKey.self] = newValue }
  }
  var position: PositionKey.Value? {
    get { self[PositionKey.self] }
    set { self[PositionKey.self] = newValue }
  }
  var lamps: LampsKey.Value? {
    get { self[LampsKey.self] }
    set { self[LampsKey.self] = newValue }
  }
  var playing: PlayingKey.Value? {
    get { self[PlayingKey.self] }
    set { self[PlayingKey.self] = newValue }
  }
  var person: PersonKey.Value? {
    get { self[PersonKey.self] }
    set { self[PersonKey.self] = newValue }
  }
  var todos: TodosKey.Value? {
    get { self[TodosKey.self] }
    set { self[TodosKey.self] = newValue }
  }
}
