import BusSupport
import TestSupport
import Testing

/// The articles' scenes, each part a process of its own that shares nothing with the others.
@Suite struct ProcessSceneTests {
  @Test("FocusedBinding") func focusedBinding() async throws {
    try await TestDesktop.play(2) { desktop, players in
      let (owner, toolbar) = (players[0], players[1])
      for number in 1...3 { try await owner.play("register text\(number) number=\(number)") }
      try await toolbar.play("watch number")
      try await toolbar.wait("number", is: "nil")
      try await toolbar.play("multiply")
      #expect(try await toolbar.play("read number") == "nil")
      #expect(try await toolbar.refusal(of: "write number 8") == "NotFocused")
      try await owner.play("focus text1")
      try await toolbar.wait("number", is: "1")
      try await owner.play("watch number")
      try await toolbar.play("multiply")
      #expect(try await toolbar.play("read number") == "8")
      try await owner.wait("number", is: "8")
      #expect(try await owner.play("source text1.number") == "8")
      #expect(try await desktop.busctl(get: "demo.Form.Number") == "x 8")
      try await owner.play("focus text2")
      try await toolbar.wait("number", is: "2")
      try await owner.play("focus text1")
      try await toolbar.wait("number", is: "8")
      #expect(try await desktop.busctl(set: "demo.Form.Number", "x", "9") == "")
      try await toolbar.wait("number", is: "9")
      #expect(try await owner.play("source text1.number") == "9")
      try await owner.play("focus -")
      try await toolbar.wait("number", is: "nil")
      #expect(toolbar.told("number") == ["nil", "1", "8", "2", "8", "9", "nil"])
      #expect(toolbar.errors.isEmpty)
    }
  }

  @Test("FocusedValue") func focusedValue() async throws {
    try await TestDesktop.play(2) { desktop, players in
      let (owner, toolbar) = (players[0], players[1])
      try await owner.play("register text1 title=one")
      try await owner.play("focus text1")
      try await toolbar.play("watch title")
      try await toolbar.wait("title", is: #""one""#)
      #expect(try await toolbar.refusal(of: "write title two") == "PropertyReadOnly")
      try await owner.play(#"change text1.title "two""#)
      try await toolbar.wait("title", is: #""two""#)
      #expect(try await desktop.busctl(get: "demo.Form.Title") == #"s "two""#)
      #expect(try await toolbar.play("read title") == #""two""#)
    }
  }

  @Test(
    "LocalBinding",
    arguments: [
      ("0.8", "0.85", "large"), ("0.25", "0.5", "medium"), ("0.75", "0.85", "large"), ("0", "0.15", "small"),
      ("0.1", "0.15", "small"), ("1", "0.85", "large"),
    ])
  func localBinding(written: String, read: String, size: String) async throws {
    try await TestDesktop.play(2) { desktop, players in
      let (owner, toolbar) = (players[0], players[1])
      try await owner.play("register slider size")
      try await owner.play("focus slider")
      try await toolbar.play("watch position")
      try await toolbar.wait("position", is: "0.15")
      #expect(try await toolbar.play("write position \(written)") == read)
      #expect(try await owner.play("source slider.size") == size)
      #expect(try await desktop.busctl(get: "demo.Slider.Position") == "d \(read)")
      try await toolbar.wait("position", is: read)
      #expect(
        try await toolbar.play("write position 1.5")
          == "org.freedesktop.DBus.Error.Failed the slider goes from 0 to 1, not to 1.5")
      #expect(try await owner.play("source slider.size") == size)
    }
  }

  @Test("Binding, SetFromInit: a binding handed on through two initializers, here and in another process")
  func binding() async throws {
    try await TestDesktop.play(2) { desktop, players in
      let (owner, toolbar) = (players[0], players[1])
      try await owner.play("register player playing=false")
      try await owner.play("focus player")
      for player in players {
        try await player.play("watch playing")
        try await player.wait("playing", is: "false")
      }
      try await owner.play("press player")
      #expect(try await owner.play("source player.playing") == "true")
      for player in players { try await player.wait("playing", is: "true") }
      try await toolbar.play("press-focused")
      for player in players { try await player.wait("playing", is: "false") }
      #expect(try await owner.play("source player.playing") == "false")
      try await owner.play("change player.playing true")
      for player in players { try await player.wait("playing", is: "true") }
      #expect(try await owner.play("copy player") == "false")
      #expect(toolbar.told("playing").drop { $0 == "nil" } == ["false", "true", "false", "true"])
    }
  }

  @Test("Constant") func constant() async throws {
    try await TestDesktop.play(2) { desktop, players in
      let (owner, toolbar) = (players[0], players[1])
      try await owner.play("register text1 constant=7")
      try await owner.play("focus text1")
      try await toolbar.play("watch number")
      try await toolbar.wait("number", is: "7")
      #expect(try await toolbar.refusal(of: "write number 8") == "PropertyReadOnly")
      try await toolbar.play("assign number 8")
      try await toolbar.waitForError("PropertyReadOnly")
      #expect(try await toolbar.play("read number") == "7")
      #expect(try await desktop.busctl(get: "demo.Form.Number") == "x 7")
      // What is observed comes on another way than answers and errors: what follows says that nothing more comes.
      try await owner.play("focus -")
      try await toolbar.wait("number", is: "nil")
      #expect(toolbar.told("number").filter { $0 != "nil" } == ["7", "8", "7"])
    }
  }

  @Test("ProjectedValue") func projectedValue() async throws {
    try await TestDesktop.play(2) { desktop, players in
      let (owner, toolbar) = (players[0], players[1])
      try await owner.play(#"register person person={"name":"Ada","age":36}"#)
      try await owner.play("focus person")
      for player in players {
        try await player.play("watch person")
        try await player.wait("person", is: #"{"age":36,"name":"Ada"}"#)
      }
      try await toolbar.play("rename Grace")
      for player in players { try await player.wait("person", is: #"{"age":36,"name":"Grace"}"#) }
      #expect(try await owner.play("source person.person") == #"{"age":36,"name":"Grace"}"#)
      let derived = "write-at demo.Person.Current/name/count true"
      #expect(try await toolbar.refusal(of: derived) == "NoSuchElement")
      #expect(try await owner.play("source person.person") == #"{"age":36,"name":"Grace"}"#)
    }
  }

  @Test("FocusedSceneValue") func focusedSceneValue() async throws {
    try await TestDesktop.play(2) { _, players in
      let (owner, toolbar) = (players[0], players[1])
      for field in ["window scene-title=scene", "inner in=window", "sibling in=window number=1", "other number=2"] {
        try await owner.play("register \(field)")
      }
      try await toolbar.play("watch title")
      for (field, title) in [("inner", #""scene""#), ("other", "nil"), ("sibling", #""scene""#)] {
        try await owner.play("focus \(field)")
        try await toolbar.wait("title", is: title)
      }
    }
  }

  @Test("Commands") func commands() async throws {
    try await TestDesktop.play(2) { desktop, players in
      let (owner, toolbar) = (players[0], players[1])
      try await owner.play("register editor save number=1")
      #expect(try await toolbar.play("can-save") == "false")
      #expect(try await toolbar.refusal(of: "run-save") == "NotFocused")
      try await toolbar.play("watch number")
      try await owner.play("focus editor")
      try await toolbar.wait("number", is: "1")
      try await toolbar.play("run-save")
      #expect(try await owner.play("saved") == "1")
      #expect(try await toolbar.play("can-save") == "true")
      let script = try await desktop.focusctl("run", "demo.Form.Save")
      #expect(script.status == 0, "\(script)")
      #expect(try await owner.play("saved") == "2")
      try await owner.play("enable editor false")
      #expect(try await toolbar.refusal(of: "run-save") == "Disabled")
      #expect(try await toolbar.play("can-save") == "false")
      try await owner.play("enable editor true")
      #expect(try await toolbar.play("run-save") == "done")
      #expect(try await toolbar.play("can-save") == "true")
      #expect(try await owner.play("saved") == "3")
    }
  }
}
