import BusSupport
import DBusTypes
import FocusKit
import TestSupport
import Testing

/// The articles' scenes, each program with a client of its own.
@Suite struct KitSceneTests {
  private enum Text: Hashable, Sendable {
    case first
    case second
    case third
  }

  @Test("FocusedBinding") func focusedBinding() async throws {
    try await TestDesktop.with { desktop in
      let owner = desktop.client()
      let (one, two) = (State(wrappedValue: 1), State(wrappedValue: 2))
      @FocusState var focus: Text?
      let first = FocusField("text1", client: owner).focusedValue(\.number, one.projectedValue)
        .focused($focus, equals: .first).register()
      let second = FocusField("text2", client: owner).focusedValue(\.number, two.projectedValue)
        .focused($focus, equals: .second).register()
      try await second.registered()

      let reader = desktop.client()
      @FocusedBinding(\.number, client: reader) var number
      let seen = Changes(reader.changes(of: \.number))
      number = 8
      #expect(number == nil)
      focus = .first
      try await seen.wait(for: 1)
      number? *= 8
      #expect(number == 8)
      let writer = desktop.client()
      try await Changes(writer.changes(of: \.number)).wait(for: 8)
      #expect(try await writer.write(\.number, 8) == 8)
      #expect(one.wrappedValue == 8)
      #expect(try await desktop.busctl(get: "demo.Form.Number") == "x 8")
      focus = .second
      try await seen.wait(for: 2)
      #expect(number == 2)
      focus = .first
      try await seen.wait(for: 8)
      #expect(try await desktop.busctl(set: "demo.Form.Number", "x", "9") == "")
      try await seen.wait(for: 9)
      #expect(one.wrappedValue == 9)
      focus = nil
      try await seen.wait(for: nil)
      #expect(number == nil)
      await #expect(throws: FocusError.self) { try await writer.write(\.number, 5) }
      #expect(seen.all == [nil, 1, 8, 2, 8, 9, nil])
      withExtendedLifetime((first, second)) {}
    }
  }

  @Test("FocusedValue") func focusedValue() async throws {
    try await TestDesktop.with { desktop in
      let title = State(wrappedValue: "one")
      let field = FocusField("text1", client: desktop.client()).focusedValue(\.title, "plain")
        .focusedValue(\.number, .constant(7)).register()
      try await field.focus()
      let reader = desktop.client()
      let seen = Changes(reader.changes(of: \.title))
      try await seen.wait(for: "plain")
      @FocusedValue(\.title, client: reader) var text
      #expect(text == "plain")
      #expect(try await reader.read(\.number) == 7)
      await #expect(throws: FocusError.self) { try await reader.write(\.number, 8) }
      #expect(try await desktop.busctl(get: "demo.Form.Number") == "x 7")
      @FocusedValue(\.half, client: reader) var half
      #expect(half == 3)
      _ = title
    }
  }

  @Test("LocalBinding") func localBinding() async throws {
    enum Size: Sendable {
      case small
      case medium
      case large
    }
    try await TestDesktop.with { desktop in
      let size = State(wrappedValue: Size.small)
      let position = Binding(
        get: {
          switch size.wrappedValue {
          case .small: 0.15
          case .medium: 0.5
          case .large: 0.85
          }
        },
        set: { size.wrappedValue = $0 < 0.25 ? .small : $0 < 0.75 ? .medium : .large })
      let field = FocusField("slider", client: desktop.client())
        .focusedValue(\.position, position) { value in
          guard (0...1).contains(value) else { throw FocusError("the slider goes from 0 to 1, not to \(value)") }
        }
        .register()
      try await field.focus()
      let writer = desktop.client()
      for (written, read, expected) in [
        (0.8, 0.85, Size.large), (0.25, 0.5, .medium), (0.75, 0.85, .large), (0, 0.15, .small), (1, 0.85, .large),
      ] {
        #expect(try await writer.write(\.position, written) == read)
        #expect(try await writer.read(\.position) == read)
        #expect(size.wrappedValue == expected)
      }
      let refusal = await #expect(throws: FocusError.self) { try await writer.write(\.position, 1.5) }
      #expect(refusal?.message == "the slider goes from 0 to 1, not to 1.5")
      size.wrappedValue = .medium
      try await Changes(writer.changes(of: \.position)).wait(for: 0.5)
      #expect(try await desktop.busctl(get: "demo.Slider.Position") == "d 0.5")
    }
  }

  @Test("OnChange") func onChange() async throws {
    try await TestDesktop.with { desktop in
      let lamps = State(wrappedValue: [Bool](repeating: false, count: 4))
      let field = FocusField("lamps", client: desktop.client()).focusedValue(\.lamps, lamps.projectedValue).register()
      try await field.focus()
      let clients = (0..<4).map { _ in desktop.client() }
      let observers = clients.map { Changes($0.changes(of: \.lamps)) }
      for observer in observers { try await observer.wait(for: lamps.wrappedValue) }
      var expected: [[Bool]?] = [lamps.wrappedValue]
      for press in 1...20 {
        let lit = press % 5
        lamps.wrappedValue = (0..<4).map { $0 < lit }
        expected.append(lamps.wrappedValue)
      }
      let presses = expected
      lamps.projectedValue[3].wrappedValue = true
      expected.append(lamps.wrappedValue)
      for observer in observers {
        try await observer.wait(for: lamps.wrappedValue)
        #expect(Array(observer.all.drop { $0 == nil }) == expected)
      }
      #expect(presses.count == 21)
    }
  }

  @Test("TodoList") func todoList() async throws {
    try await TestDesktop.with { desktop in
      let todos = State(wrappedValue: (0..<3).map { Todo(description: "\($0)") })
      let field = FocusField("todos", client: desktop.client()).focusedValue(\.todos, todos.projectedValue).register()
      try await field.focus()
      let (adder, toggler) = (desktop.client(), desktop.client())
      async let appended: Void = {
        for number in 0..<100 {
          try await adder.write("demo.Todo.Items/-", Todo(description: "new \(number)"))
        }
      }()
      async let toggled: Void = {
        for number in 0..<100 { try await toggler.write("demo.Todo.Items/2/done", number % 2 == 0) }
      }()
      _ = try await (appended, toggled)
      #expect(todos.wrappedValue.count == 103)
    }
  }

  @Test("ElementBinding") func elementBinding() async throws {
    try await TestDesktop.with { desktop in
      let todos = State(wrappedValue: [Todo(description: "a"), Todo(description: "b")])
      let field = FocusField("todos", client: desktop.client()).focusedValue(\.todos, todos.projectedValue).register()
      try await field.focus()
      let writer = desktop.client()
      #expect(try await writer.write("demo.Todo.Items/1/done", true))
      #expect(todos.wrappedValue.map(\.done) == [false, true])
      #expect(try await writer.read("demo.Todo.Items/0/description") == "a")
      let gone = await #expect(throws: FocusError.self) { try await writer.write("demo.Todo.Items/2/done", true) }
      #expect(gone?.name == "org.focusd.Focus1.Error.NoSuchElement")
      let derived = await #expect(throws: FocusError.self) { try await writer.write("demo.Todo.Items/0/done/count", 1) }
      #expect(derived?.name == "org.focusd.Focus1.Error.NoSuchElement")
      todos.projectedValue[0].description.wrappedValue = "c"
      try await Changes(writer.changes(of: \.todos)).wait(
        for: [Todo(description: "c"), Todo(description: "b", done: true)])
    }
  }

  @Test("StateOfArray") func stateOfArray() async throws {
    try await TestDesktop.with { desktop in
      let todos = State(wrappedValue: [Todo(description: "a")])
      let field = FocusField("todos", client: desktop.client()).focusedValue(\.todos, todos.projectedValue).register()
      try await field.focus()
      let reader = desktop.client()
      let seen = Changes(reader.changes(of: \.todos))
      try await seen.wait(for: todos.wrappedValue)
      @FocusedBinding(\.todos, client: reader) var focused
      todos.wrappedValue[0].done = true
      try await seen.wait(for: [Todo(description: "a", done: true)])
      todos.wrappedValue[0].done = true
      focused?[0].done = true
      focused?.append(Todo(description: "b"))
      try await Changes(desktop.client().changes(of: \.todos)).wait(
        for: [Todo(description: "a", done: true), Todo(description: "b")])
      try await reader.write("demo.Todo.Items/1/done", true)
      try await seen.wait(for: [Todo(description: "a", done: true), Todo(description: "b", done: true)])
      todos.projectedValue[1].description.wrappedValue = "c"
      let last = [Todo(description: "a", done: true), Todo(description: "c", done: true)]
      try await seen.wait(for: last)
      #expect(
        seen.all.compactMap { $0 } == [
          [Todo(description: "a")], [Todo(description: "a", done: true)],
          [Todo(description: "a", done: true), Todo(description: "b")],
          [Todo(description: "a", done: true), Todo(description: "b", done: true)], last,
        ])
    }
  }

  @Test("FocusedSceneValue") func focusedSceneValue() async throws {
    try await TestDesktop.with { desktop in
      let owner = desktop.client()
      let window = FocusField("window", client: owner).focusedSceneValue(\.title, "scene").register()
      let inner = FocusField("inner", parent: window, client: owner).register()
      let other = FocusField("other", client: owner).register()
      try await inner.focus()
      let reader = desktop.client()
      let seen = Changes(reader.changes(of: \.title))
      try await seen.wait(for: "scene")
      try await other.focus()
      try await seen.wait(for: nil)
      try await inner.focus()
      try await seen.wait(for: "scene")
    }
  }

  /// Its scene values are a field of their own, which the daemon knows after it.
  @Test func aRegisteredFieldHasItsSceneValues() async throws {
    try await TestDesktop.with { desktop in
      let owner = desktop.client()
      let errors = Errors(of: owner)
      for round in 0..<30 {
        let field = FocusField(client: owner).focusedSceneValue(\.title, "scene \(round)").register()
        if !round.isMultiple(of: 3) { try await field.registered() }
        guard !round.isMultiple(of: 2) else { continue }
        try await field.focus()
        #expect(try await owner.read(\.title) == "scene \(round)")
      }
      #expect(try await desktop.peer().fields().count <= 2)
      #expect(errors.all.filter { !$0.message.contains("let go of") }.isEmpty)
      #expect(errors.all.count <= 2 * 5, "only those of which nobody waited for the registration")
    }
  }

  @Test("Commands") func commands() async throws {
    try await TestDesktop.with { desktop in
      let saved = Observed(0)
      let owner = desktop.client()
      let field = FocusField("editor", client: owner)
        .focusedValue(\.save) { saved.update { $0 += 1 } }
        .command("demo.Form.Add") { (left: Int, right: Int) in
          guard right >= 0 else { throw FocusError("only up") }
          return left + right
        }
        .register()
      try await field.registered()
      let caller = desktop.client()
      let none = await #expect(throws: FocusError.self) { try await caller.run(\.save) }
      #expect(none?.name == FocusError.notFocused)
      try await field.focus()
      try await caller.run(\.save)
      #expect(saved.now == 1)
      #expect(try await caller.run("demo.Form.Add", 3, 4) == [.int64(7)])
      let refusal = await #expect(throws: FocusError.self) { try await caller.run("demo.Form.Add", 3, -4) }
      #expect(refusal?.message == "only up")
      try await field.setEnabled(\.save, false)
      let disabled = await #expect(throws: FocusError.self) { try await caller.run(\.save) }
      #expect(disabled?.name == "org.focusd.Focus1.Error.Disabled")
    }
  }

  @Test func aCommandOfTheFieldAndOfItsSceneIsOffInBoth() async throws {
    try await TestDesktop.with { desktop in
      let field = FocusField("editor", client: desktop.client())
        .focusedValue(\.save) {}
        .focusedSceneValue(\.save) {}
        .register()
      try await field.registered()
      let judge = try await desktop.peer()
      for isEnabled in [false, true] {
        try await field.setEnabled(\.save, isEnabled)
        for id in ["editor", "editor_scene"] {
          #expect(try await judge.commands(at: Focus1.field(id)) == ["demo.Form.Save": isEnabled])
        }
      }
    }
  }
}
