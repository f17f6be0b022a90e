import BusSupport
import TestSupport
import Testing

/// The scenes of the articles that this project carries to a desktop, with programs that share nothing but the bus.
@Suite struct StoredScenes {
  /// Three text fields with a number each.
  private static func form(_ desktop: TestDesktop, options: String = "{}") async throws -> GDBusPeer {
    let owner = try await desktop.witness()
    for number in 1...3 {
      try await owner.register("text\(number)", "{'demo.Form.Number': <\(number)>}", options)
    }
    return owner
  }

  @Test("FocusedBinding", arguments: Tool.allCases, Tool.allCases)
  func focusedBinding(reader: Tool, writer: Tool) async throws {
    try await TestDesktop.with { desktop in
      let owner = try await Self.form(desktop)
      #expect(try await reader.readNumber(desktop) == "nil")
      #expect(try await writer.writeNumber(8, desktop) == "nil")
      try await owner.focus("text1")
      // Nothing of the refused write was kept.
      #expect(try await reader.readNumber(desktop) == "1")
      #expect(try await writer.writeNumber(8, desktop) == "done")
      #expect(try await reader.readNumber(desktop) == "8")
      try await owner.focus("text2")
      #expect(try await reader.readNumber(desktop) == "2")
      try await owner.focus("text1")
      #expect(try await reader.readNumber(desktop) == "8")
      #expect(try await owner.get("demo.Form.Number", at: Focus1.field("text1")) == "8")
      try await owner.blur("text1")
      #expect(try await reader.readNumber(desktop) == "nil")
      #expect(try await writer.writeNumber(9, desktop) == "nil")
    }
  }

  @Test("FocusedValue", arguments: Tool.allCases)
  func focusedValue(tool: Tool) async throws {
    try await TestDesktop.with { desktop in
      let owner = try await Self.form(desktop, options: "{'read_only': <['demo.Form.Number']>}")
      #expect(try await tool.readNumber(desktop) == "nil")
      try await owner.focus("text2")
      #expect(try await tool.readNumber(desktop) == "2")
      #expect(try await tool.writeNumber(8, desktop) == "read-only")
      #expect(try await tool.readNumber(desktop) == "2")
      try await owner.set("demo.Form.Number", "5")
      #expect(try await tool.readNumber(desktop) == "5")
      try await owner.field("text2", "Publish", "({'demo.Form.Number': <6>}, {'read_only': <['demo.Form.Number']>})")
      #expect(try await tool.readNumber(desktop) == "6")
      #expect(try await tool.writeNumber(8, desktop) == "read-only")
    }
  }

  @Test("FocusedSceneValue", arguments: Tool.allCases)
  func focusedSceneValue(tool: Tool) async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.witness()
      for scene in ["window1", "window2"] {
        let path = try await owner.register(scene)
        for field in ["a", "b"] {
          try await owner.register("\(scene)_\(field)", "{}", "{'parent': <objectpath '\(path)'>}")
        }
      }
      try await owner.register(
        "number", "{'demo.Form.Number': <7>}",
        "{'parent': <objectpath '\(Focus1.field("window1"))'>, 'scope': <'scene'>}")
      #expect(try await tool.readNumber(desktop) == "nil")
      // Wherever the focus is inside the scene.
      for field in ["window1_a", "window1", "number", "window1_b"] {
        try await owner.focus(field)
        #expect(try await tool.readNumber(desktop) == "7", "\(field)")
      }
      #expect(try await tool.writeNumber(8, desktop) == "done")
      #expect(try await tool.readNumber(desktop) == "8")
      for field in ["window2_a", "window2"] {
        try await owner.focus(field)
        #expect(try await tool.readNumber(desktop) == "nil", "\(field)")
        #expect(try await tool.writeNumber(9, desktop) == "nil", "\(field)")
      }
      try await owner.focus("window1_b")
      #expect(try await tool.readNumber(desktop) == "8")
      try await owner.blur("window1_b")
      #expect(try await tool.readNumber(desktop) == "8")
      try await owner.blur("window1")
      #expect(try await tool.readNumber(desktop) == "nil")
    }
  }

  @Test("Constant", arguments: Tool.allCases)
  func constant(tool: Tool) async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.witness()
      try await owner.register(
        "constant", "{'demo.Form.Number': <1>, 'demo.Form.On': <true>}",
        "{'read_only': <['demo.Form.Number', 'demo.Form.On']>, 'focus': <true>}")
      for _ in 0..<2 {
        #expect(try await tool.writeNumber(0, desktop) == "read-only")
        #expect(try await tool.readNumber(desktop) == "1")
      }
      let stranger = try await desktop.witness()
      #expect(try await stranger.writing("demo.Form.On", "false") == "PropertyReadOnly")
      // Equal or not, it is not for others to write.
      #expect(try await stranger.writing("demo.Form.On", "true") == "PropertyReadOnly")
      let shown = try await desktop.busctl("introspect", "demo.Form")
      #expect(shown.output.count == 3)
      #expect(!shown.text.contains("writable"))
    }
  }
}
