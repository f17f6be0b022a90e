import BusSupport
import DBusTypes
import TestSupport
import Testing

/// What no browser sends, too much of what it does, and ends.
@Suite struct HostileTests {
  @Test func whatIsNoMessageIsLoggedByItsSize() async throws {
    let said = try await PipeStage.with { stage in
      for message in [
        "secret nonsense", "{", "[]", "", #"{"type":"secret"}"#, #"{"type":"tab","tab":"secret"}"#,
        #"{"type":"focus","tab":1,"document":1,"element":{"secret":1},"state":{"role":"x"}}"#,
        String(repeating: "[", count: 100_000), String(repeating: #"{"a":"#, count: 100_000),
        #"{"type":"tab","tab":1e400}"#,
      ] {
        stage.send(message)
      }
      stage.send("big 1048577")
      stage.send("big 3000000")
      stage.show()
      try await stage.shows("Document.Title", .string("Title"))
    }
    #expect(said.contains { $0.contains("a message of 15 bytes that it does not know") }, "\(said)")
    #expect(!said.contains { $0.contains("secret") || $0.contains("[[") }, "\(said)")
    // A host does not fill the journal.
    #expect(said.count { $0.contains("the browser sends") } <= 10)
  }

  @Test(arguments: ["hex 05", "hex 05000000 7b", "hex ffffffff 00", "hex 00000000"])
  func aPipeThatEndsInAMessageEndsTheHost(bytes: String) async throws {
    let said = try await PipeStage.with { stage in
      stage.show()
      try await stage.shows("Document.Title", .string("Title"))
      stage.send(bytes)
    }
    #expect(said.contains { $0.contains("the browser sends a message") }, "\(said)")
  }

  @Test func aFloodCostsNobodyElse() async throws {
    try await PipeStage.with { stage in
      stage.show(tab: 1)
      stage.send(#"{"type":"tab","tab":2,"shared":true}"#)
      stage.focus(PipeStage.text("front"))
      try await stage.shows("Text.Content", .string("front"))
      // Behind, then in front.
      for tab in [2, 1] {
        stage.send(
          "many 20000 "
            + #"{"type":"focus","tab":\#(tab),"document":9,"element":{},"state":\#(PipeStage.text("{}"))}"#)
        stage.send(
          "many 2000 " + #"{"type":"state","document":9,"element":1,"state":{"role":"button"}}"#)
        stage.send(
          "many 2000 " + #"{"type":"tab","tab":{},"title":"{}","shared":true}"#)
        #expect(try await stage.client.call(.ping).isEmpty)
        stage.focus(PipeStage.text("after \(tab)"))
        try await stage.shows("Text.Content", .string("after \(tab)"))
        #expect(try await stage.client.fields().count <= 16)
      }
    }
  }

  @Test func aBrowserThatDoesNotReadIsRefused() async throws {
    try await PipeStage.with { stage in
      stage.show()
      stage.focus(PipeStage.text("one"))
      try await stage.shows("Text.Content", .string("one"))
      stage.send("stop")
      let text = String(repeating: "x", count: 900_000)
      // The pipe and the queue hold some of it, and each is given up after a while.
      let errors = try await withThrowingTaskGroup(of: String?.self) { group in
        for _ in 0..<16 {
          group.addTask {
            try await errorName { _ = try await stage.client.write("org.focusd.Text.Content", .string(text)) }
          }
        }
        return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
      }
      #expect(errors.isSubset(of: ["Timeout", "LimitsExceeded"]), "\(errors)")
      stage.state(PipeStage.text("still there"))
      try await stage.shows("Text.Content", .string("still there"))
      stage.send("go on")
    }
  }

  @Test func aKilledHostLeavesNothing() async throws {
    try await TestDesktop.with { desktop in
      let client = try await desktop.peer()
      let relay = try await desktop.startHost("chromium")
      relay.send(line: #"{"type":"tab","tab":1}"#)
      relay.send(line: #"{"type":"front","tab":1}"#)
      try await eventually("a field") { try await client.fields("FocusPath").count == 1 }
      relay.send(line: "kill")
      try await eventually("no field") { try await client.fields().isEmpty }
      relay.closeInput()
      try await relay.finish()
    }
  }

  @Test func itComesBackToADaemonThatWasKilled() async throws {
    try await PipeStage.with { stage in
      stage.show()
      stage.focus(PipeStage.text("one"))
      try await stage.shows("Text.Content", .string("one"))
      try await stage.desktop.crash()
      try await stage.shows("Text.Content", .string("one"))
      stage.state(PipeStage.text("two"))
      try await stage.shows("Text.Content", .string("two"))
    }
  }

  /// A process that is no browser gets no field of a browser's.
  @Test func onlyABrowserIsTheProcess() async throws {
    try await PipeStage.with(browser: "gimp") { stage in
      stage.show()
      try await stage.shows("Document.Title", .string("Title"))
      let field = try #require(try await stage.client.fields("FocusPath").first)
      #expect(
        try await stage.client.get("org.focusd.Focus1.Field.Process", at: Focus1.field(field))
          != .uint32(UInt32(stage.relay.processID)))
    }
  }
}
