import TestSupport
import Testing

/// The scenes of the articles that this project carries to a desktop, with programs that share nothing but the bus.
@Suite struct Scenes {
  /// Three text fields with a number each.
  private static func form(_ session: Session, options: String = "{}") async throws -> Client {
    let owner = try await session.client()
    for number in 1...3 {
      try await owner.register("text\(number)", "{'demo.Form.Number': <\(number)>}", options)
    }
    return owner
  }

  @Test("FocusedBinding", arguments: Tool.allCases, Tool.allCases)
  func focusedBinding(reader: Tool, writer: Tool) async throws {
    try await Session.with { session in
      let owner = try await Self.form(session)
      #expect(try await reader.readNumber(session) == "nil")
      #expect(try await writer.writeNumber(8, session) == "nil")
      try await owner.focus("text1")
      // Nothing of the refused write was kept.
      #expect(try await reader.readNumber(session) == "1")
      #expect(try await writer.writeNumber(8, session) == "done")
      #expect(try await reader.readNumber(session) == "8")
      try await owner.focus("text2")
      #expect(try await reader.readNumber(session) == "2")
      try await owner.focus("text1")
      #expect(try await reader.readNumber(session) == "8")
      #expect(try await owner.get("demo.Form.Number", at: Names.field("text1")) == "8")
      try await owner.blur("text1")
      #expect(try await reader.readNumber(session) == "nil")
      #expect(try await writer.writeNumber(9, session) == "nil")
    }
  }

  @Test("FocusedValue", arguments: Tool.allCases)
  func focusedValue(tool: Tool) async throws {
    try await Session.with { session in
      let owner = try await Self.form(session, options: "{'read_only': <['demo.Form.Number']>}")
      #expect(try await tool.readNumber(session) == "nil")
      try await owner.focus("text2")
      #expect(try await tool.readNumber(session) == "2")
      #expect(try await tool.writeNumber(8, session) == "read-only")
      #expect(try await tool.readNumber(session) == "2")
      try await owner.set("demo.Form.Number", "5")
      #expect(try await tool.readNumber(session) == "5")
      try await owner.field("text2", "Publish", "({'demo.Form.Number': <6>}, {'read_only': <['demo.Form.Number']>})")
      #expect(try await tool.readNumber(session) == "6")
      #expect(try await tool.writeNumber(8, session) == "read-only")
    }
  }

  @Test("FocusedSceneValue", arguments: Tool.allCases)
  func focusedSceneValue(tool: Tool) async throws {
    try await Session.with { session in
      let owner = try await session.client()
      for scene in ["window1", "window2"] {
        let path = try await owner.register(scene)
        for field in ["a", "b"] {
          try await owner.register("\(scene)_\(field)", "{}", "{'parent': <objectpath '\(path)'>}")
        }
      }
      try await owner.register(
        "number", "{'demo.Form.Number': <7>}",
        "{'parent': <objectpath '\(Names.field("window1"))'>, 'scope': <'scene'>}")
      #expect(try await tool.readNumber(session) == "nil")
      // Wherever the focus is inside the scene.
      for field in ["window1_a", "window1", "number", "window1_b"] {
        try await owner.focus(field)
        #expect(try await tool.readNumber(session) == "7", "\(field)")
      }
      #expect(try await tool.writeNumber(8, session) == "done")
      #expect(try await tool.readNumber(session) == "8")
      for field in ["window2_a", "window2"] {
        try await owner.focus(field)
        #expect(try await tool.readNumber(session) == "nil", "\(field)")
        #expect(try await tool.writeNumber(9, session) == "nil", "\(field)")
      }
      try await owner.focus("window1_b")
      #expect(try await tool.readNumber(session) == "8")
      try await owner.blur("window1_b")
      #expect(try await tool.readNumber(session) == "8")
      try await owner.blur("window1")
      #expect(try await tool.readNumber(session) == "nil")
    }
  }

  @Test("Constant", arguments: Tool.allCases)
  func constant(tool: Tool) async throws {
    try await Session.with { session in
      let owner = try await session.client()
      try await owner.register(
        "constant", "{'demo.Form.Number': <1>, 'demo.Form.On': <true>}",
        "{'read_only': <['demo.Form.Number', 'demo.Form.On']>, 'focus': <true>}")
      for _ in 0..<2 {
        #expect(try await tool.writeNumber(0, session) == "read-only")
        #expect(try await tool.readNumber(session) == "1")
      }
      let stranger = try await session.client()
      #expect(try await stranger.writing("demo.Form.On", "false") == "PropertyReadOnly")
      // Equal or not, it is not for others to write.
      #expect(try await stranger.writing("demo.Form.On", "true") == "PropertyReadOnly")
      let shown = try await session.bus.busctl("introspect", Names.service, Names.focused, "demo.Form")
      #expect(shown.output.count == 3)
      #expect(!shown.text.contains("writable"))
    }
  }
}
