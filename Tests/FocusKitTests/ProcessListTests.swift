import BusSupport
import TestSupport
import Testing

/// The articles' scenes with lists, each part a process of its own.
@Suite struct ProcessListTests {
  private static let three =
    #"[{"description":"a","done":false},{"description":"b","done":false},{"description":"c","done":false}]"#

  /// A thousand of each where the long runs are asked for: each carries the whole list, which takes a debug build minutes.
  private static let count = isSlow ? 1000 : 60

  @Test("TodoList: one process appends, another toggles, and nothing is lost")
  func todoList() async throws {
    try await TestDesktop.play(3) { desktop, players in
      let (owner, adder, toggler) = (players[0], players[1], players[2])
      try await owner.play("register todos todos=\(Self.three)")
      try await owner.play("take-focus todos")
      async let appended = adder.play("append \(Self.count)", within: .seconds(600))
      async let toggled = toggler.play("toggle \(Self.count)", within: .seconds(600))
      let answers = try await (appended, toggled)
      #expect(answers.0 == "done")
      #expect(answers.1 == "\(Self.count)")
      let toggles = try await owner.play("toggles")
      #expect(toggles == "\(Self.count)")
      let descriptions = try await owner.play("source todos.todos").matches(of: /"description":"([^"]*)"/)
      #expect(descriptions.map { String($0.output.1) } == ["a", "b", "c"] + (0..<Self.count).map { "\($0)" })
      let third = try await desktop.focusctl("get", "demo.Todo.Items/2/done")
      #expect(third.output == ["false"], "\(third)")
    }
  }

  @Test("ElementBinding") func elementBinding() async throws {
    try await TestDesktop.play(2) { _, players in
      let (owner, toolbar) = (players[0], players[1])
      try await owner.play("register todos todos=\(Self.three)")
      try await owner.play("take-focus todos")
      #expect(try await toolbar.play("write-at demo.Todo.Items/1/done true") == "true")
      let changed = Self.three.replacing(#"b","done":false"#, with: #"b","done":true"#)
      #expect(try await owner.play("source todos.todos") == changed)
      for pointer in ["3/done", "-1/done", "x", "0/done/y"] {
        #expect(try await toolbar.refusal(of: "write-at demo.Todo.Items/\(pointer) true") == "NoSuchElement")
      }
      #expect(try await owner.play("source todos.todos") == changed)
    }
  }

  @Test("StateOfArray: each change is told once, whoever makes it, and an equal write to nobody")
  func stateOfArray() async throws {
    try await TestDesktop.play(3) { _, players in
      let (owner, writer, observer) = (players[0], players[1], players[2])
      try await owner.play("register lamps lamps=[false,false]")
      try await owner.play("focus lamps")
      for player in players {
        try await player.play("watch lamps")
        try await player.wait("lamps", is: "[false,false]")
      }
      var states = ["[false,false]"]
      func change(_ player: Player, _ order: String, _ state: String) async throws {
        try await player.play("\(order) \(state)")
        if states.last != state { states.append(state) }
        for player in players { try await player.wait("lamps", is: state) }
      }
      try await change(owner, "change lamps.lamps", "[true,false]")
      try await change(owner, "change lamps.lamps", "[true,false]")
      try await change(writer, "assign lamps", "[true,true]")
      try await change(writer, "assign lamps", "[true,true]")
      try await change(writer, "write lamps", "[true,true]")
      try await change(observer, "write lamps", "[false,true]")
      #expect(try await writer.play("write-at demo.Lamps.Lit/0 true") == "true")
      states.append("[true,true]")
      try await change(owner, "change lamps.lamps", "[true,true,false]")
      for player in players { #expect(player.told("lamps").drop { $0 == "nil" } == states[...]) }
    }
  }

  @Test("OnChange: each of four processes sees every press, in order, and none twice")
  func onChange() async throws {
    try await TestDesktop.play(5) { _, players in
      let (owner, observers) = (players[0], players.dropFirst())
      try await owner.play("register lamps lamps=[false,false,false,false]")
      try await owner.play("focus lamps")
      for observer in observers {
        try await observer.play("watch lamps")
        try await observer.wait("lamps", is: "[false,false,false,false]")
      }
      var states = ["[false,false,false,false]"]
      for press in 1...50 {
        states.append("[" + (0..<4).map { $0 < press % 5 ? "true" : "false" }.joined(separator: ",") + "]")
        try await owner.play("change lamps.lamps \(states[press])")
      }
      for observer in observers {
        #expect(
          try await observer.told("lamps", count: 51 + observer.told("lamps").count { $0 == "nil" }).drop {
            $0 == "nil"
          } == states[...])
      }
    }
  }
}
