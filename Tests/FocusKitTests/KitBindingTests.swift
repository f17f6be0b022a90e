import FocusKit
import Synchronization
import Testing

/// Each behaviour of bindings, with the source and the projection after each step.
@Suite struct KitBindingTests {
  struct Person: Equatable, Identifiable {
    var id = 7
    var name = "Ada"
    var address = Address()
    var nickname: String?
  }

  struct Address: Equatable { var city = "London" }

  struct Todo: Equatable {
    var description: String
    var done = false
  }

  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let run: @Sendable () throws -> Void

    init(_ name: String, _ run: @escaping @Sendable () throws -> Void) {
      testDescription = name
      self.run = run
    }
  }

  @Test(arguments: cases)
  func behaves(as behaviour: Case) throws { try behaviour.run() }

  static let cases = [
    Case("a state is read and written through its binding") {
      @State var number = 1
      let binding = $number
      binding.wrappedValue = 2
      #expect(number == 2)
      number = 3
      #expect(binding.wrappedValue == 3)
      #expect($number.projectedValue.wrappedValue == 3)
    },
    Case("a plain copy stays a copy") {
      @State var isPlaying = false
      let copy = isPlaying
      $isPlaying.wrappedValue.toggle()
      #expect(isPlaying)
      #expect(!copy)
    },
    Case("closures") {
      @State var source = 10
      let state = _source
      let half = Binding(get: { state.wrappedValue / 2 }, set: { state.wrappedValue = $0 * 2 })
      #expect(half.wrappedValue == 5)
      half.wrappedValue = 7
      #expect(source == 14)
      #expect(half.wrappedValue == 7)
    },
    Case("a constant drops what is written") {
      let binding = Binding.constant(true)
      binding.wrappedValue.toggle()
      #expect(binding.wrappedValue)
    },
    Case("members, and members of members") {
      @State var person = Person()
      $person.name.wrappedValue = "Grace"
      #expect(person.name == "Grace")
      let city = $person.address.city
      city.wrappedValue = "Paris"
      #expect(person == Person(name: "Grace", address: Address(city: "Paris")))
      person.address.city = "Rome"
      #expect(city.wrappedValue == "Rome")
      #expect($person.id.wrappedValue == 7)
    },
    Case("elements by index") {
      @State var todos = [Todo(description: "a"), Todo(description: "b")]
      $todos[1].done.wrappedValue = true
      #expect(todos.map(\.done) == [false, true])
      #expect($todos[1].wrappedValue.done)
      #expect($todos.count == 2)
      #expect(Array($todos.reversed()).map(\.wrappedValue.description) == ["b", "a"])
      #expect($todos.last?.wrappedValue.description == "b")
    },
    Case("elements one after another") {
      @State var todos = [Todo(description: "a"), Todo(description: "b"), Todo(description: "c")]
      forEach($todos) { $todo in todo.done = todo.description != "b" }
      #expect(todos.map(\.done) == [true, false, true])
      for todo in $todos { todo.done.wrappedValue.toggle() }
      #expect(todos.map(\.done) == [false, true, false])
    },
    Case("an element that is gone keeps its last value and takes no other") {
      @State var numbers = [1, 2, 3]
      let last = $numbers[2]
      numbers[2] = 4
      #expect(last.wrappedValue == 4)
      numbers = []
      #expect(last.wrappedValue == 4)
      last.wrappedValue = 5
      #expect(numbers.isEmpty)
      #expect(last.wrappedValue == 4)
      numbers = [7, 8, 9]
      #expect(last.wrappedValue == 9)
    },
    Case("a collection that shrinks while it is gone through") {
      @State var numbers = [1, 2, 3]
      var seen: [Int] = []
      for number in $numbers {
        numbers = []
        seen.append(number.wrappedValue)
      }
      #expect(seen == [1, 2, 3])
      #expect(numbers.isEmpty)
    },
    Case("a collection that others shorten all the time") {
      func numbers() -> Binding<[Int]> {
        let reads = Mutex(0)
        return Binding(
          get: {
            reads.withLock { reads in
              reads += 1
              return Array(0..<max(0, 4 - reads))
            }
          }, set: { _ in })
      }
      #expect(numbers().map { _ in 0 }.count == 3)
      #expect(Array(numbers()).count == 3)
      #expect(numbers().reversed().map(\.wrappedValue).count == 3)
      #expect(numbers().first?.wrappedValue == 0)
      #expect(numbers().last?.wrappedValue == 2)
    },
    Case("promotion to an optional") {
      @State var number = 1
      let optional = Binding<Int?>($number)
      optional.wrappedValue = 2
      #expect(number == 2)
      optional.wrappedValue = nil
      #expect(number == 2)
      #expect(optional.wrappedValue == 2)
    },
    Case("the value within an optional") {
      @State var name: String?
      #expect(Binding($name) == nil)
      name = "Ada"
      let unwrapped = try #require(Binding($name))
      unwrapped.wrappedValue = "Grace"
      #expect(name == "Grace")
      name = nil
      #expect(unwrapped.wrappedValue == "Grace")
      #expect(name == nil)
    },
    Case("the identity of the value") {
      @State var person = Person()
      #expect($person.id == 7)
      person.id = 8
      #expect($person.id == 8)
    },
    Case("a binding handed on through two initializers") {
      struct Lamp {
        @Binding var isLit: Bool
        init(isLit: Binding<Bool>) { self._isLit = isLit }
      }
      struct Row {
        let lamp: Lamp
        init(isLit: Binding<Bool>) { lamp = Lamp(isLit: isLit) }
      }
      @State var isLit = false
      let row = Row(isLit: $isLit)
      row.lamp.isLit = true
      #expect(isLit)
      #expect(row.lamp.$isLit.wrappedValue)
    },
    Case("a projected value") {
      @State var number = 1
      let binding = Binding(projectedValue: $number)
      binding.wrappedValue = 2
      #expect(number == 2)
    },
  ]

  @Test func changesOfDifferentElementsFromManyThreadsAreNotLost() async {
    let numbers = State(wrappedValue: [0, 0, 0, 0])
    await withTaskGroup { group in
      for index in 0..<4 {
        group.addTask {
          let element = numbers.projectedValue[index]
          for value in 1...500 { element.wrappedValue = value }
        }
      }
    }
    #expect(numbers.wrappedValue == [500, 500, 500, 500])
  }
}

/// What SwiftUI's `ForEach` does with a collection.
private func forEach<Data: RandomAccessCollection>(_ data: Data, _ body: (Data.Element) -> Void) {
  for element in data { body(element) }
}
