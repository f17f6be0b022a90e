import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// The host between a scripted pipe and a daemon.
@Suite struct HostTests {
  @Test func aTabIsASceneWithCommands() async throws {
    try await PipeStage.with { stage in
      stage.send(#"{"type":"tab","tab":1}"#)
      stage.send(#"{"type":"front","tab":1}"#)
      try await eventually("a tab") { try await stage.client.commands()["org.focusd.Tab.Next"] == true }
      #expect(try await stage.get("Document.Title") == nil)
      #expect(try await stage.client.commands()["org.focusd.Edit.Undo"] == nil)
      stage.show(title: "One")
      try await stage.shows("Document.Title", .string("One"))
      try await stage.shows("Document.Url", .string("https://example.org/"))
      try await eventually("the page's commands") { try await stage.client.commands()["org.focusd.Edit.Undo"] == true }
      async let run: Void = stage.runs("Tab.Next")
      #expect(
        try await stage.answer(1, #"{"type":"reply","call":CALL}"#)
          == #"{"arguments":[],"key":"Tab.Next","tab":1,"type":"run"}"#)
      try await run
      // The tab of whatever the process of the pipe's other end is.
      let field = try #require(try await stage.client.fields("FocusPath").first)
      #expect(
        try await stage.client.get("org.focusd.Focus1.Field.Process", at: Focus1.field(field))
          == .uint32(UInt32(stage.relay.processID)))
      stage.send(#"{"type":"front"}"#)
      try await eventually("nothing focused") { try await stage.client.fields("FocusPath").isEmpty }
      stage.send(#"{"type":"front","tab":1}"#)
      try await stage.shows("Document.Title", .string("One"))
      stage.send(#"{"type":"closed","tab":1}"#)
      try await eventually("no field") { try await stage.client.fields().isEmpty }
    }
  }

  /// What is run after a command that changes the tab acts on the tab that is in front then.
  @Test(arguments: 1...10) func theNextCommandIsOfTheTabInFront(_: Int) async throws {
    try await PipeStage.with { stage in
      stage.show()
      try await stage.shows("Document.Title", .string("Title"))
      let reply = #"{"type":"reply","call":CALL}"#
      async let opened: Void = stage.runs("Tab.New")
      let new = #"{"type":"tab","tab":2}"# + "\n" + #"{"type":"front","tab":2}"# + "\n"
      _ = try await stage.answer(1, new + reply)
      try await opened
      async let closed: Void = stage.runs("Tab.Close")
      let gone = #"{"type":"closed","tab":2}"# + "\n" + #"{"type":"front","tab":1}"# + "\n"
      #expect(
        try await stage.answer(2, gone + reply) == #"{"arguments":[],"key":"Tab.Close","tab":2,"type":"run"}"#)
      try await closed
      #expect(try await stage.get("Document.Title") == .string("Title"))
    }
  }

  /// A browser ends with its last tab, whose command has been done then; what else is under way has not.
  @Test func theBrowserEndsWithItsLastTab() async throws {
    try await PipeStage.with { stage in
      stage.show()
      try await stage.shows("Document.Title", .string("Title"))
      async let reloaded = errorName { try await stage.runs("Navigation.Reload") }
      _ = try await stage.relay.lines(2)
      async let closed = errorName { try await stage.runs("Tab.Close") }
      _ = try await stage.relay.lines(3)
      stage.relay.closeInput()
      #expect(try await closed == nil)
      #expect(try await reloaded == "UnknownObject")
    }
  }

  /// A page may have the browser ask before it is left.
  @Test func aTabThatDoesNotClose() async throws {
    try await PipeStage.with { stage in
      stage.show()
      try await stage.shows("Document.Title", .string("Title"))
      do {
        try await stage.runs("Tab.Close")
        Issue.record("it succeeded")
      } catch let error as RemoteError {
        // Usually it is the host that says so; the daemon does if the host is late, too.
        let texts = ["ask the user", "did not reply within 5 seconds"]
        #expect(error.shortName == "Timeout" && texts.contains { error.message.contains($0) }, "\(error)")
      }
    }
  }

  /// A browser in front does not take back the focus that another field was given since.
  @Test func focusElsewhereOutlivesTheDaemon() async throws {
    try await PipeStage.with { stage in
      stage.show()
      stage.focus(PipeStage.text("one"))
      try await stage.shows("Text.Content", .string("one"))
      let element = try #require(try await stage.client.fields("FocusPath").first)
      try await stage.desktop.crash()
      try await stage.shows("Text.Content", .string("one"))
      #expect(try await stage.client.fields("FocusPath").first == element)
      try await stage.client.register("note")
      try await stage.client.focus("note")
      try await stage.desktop.crash()
      stage.state(PipeStage.text("two"))
      try await eventually("the browser is back") {
        try await stage.client.read("org.focusd.Text.Content", at: Focus1.field(element)).value == .string("two")
      }
      #expect(try await stage.client.fields("FocusPath") == ["note"])
      // What it tells anew counts.
      stage.focus(PipeStage.text("three"), element: 2)
      try await stage.shows("Text.Content", .string("three"))
      _ = try await stage.client.call(.field("note", "Unregister"))
    }
  }

  /// The page has not told yet what somebody typed.
  @Test func aWriteThatDependsOnTheValueAsksThePage() async throws {
    try await PipeStage.with { stage in
      stage.show()
      stage.focus(PipeStage.text("one"))
      try await stage.shows("Text.Content", .string("one"))
      let read = try await stage.client.read("org.focusd.Text.Content")
      let write = stage.client.begin(
        .write("org.focusd.Text.Content", .string("one more"), [("revision", .uint64(read.revision))]))
      let reply = #"{"type":"reply","call":CALL,"document":1,"element":1,"state":\#(PipeStage.text("ones"))}"#
      #expect(try await stage.answer(1, ofRead: true, reply) == #"{"document":1,"element":1,"type":"read"}"#)
      #expect(try await write.refusal() == "Conflict")
      try await stage.shows("Text.Content", .string("ones"))
    }
  }

  @Test func anElementIsReadAndWritten() async throws {
    try await PipeStage.with { stage in
      stage.show()
      stage.focus(PipeStage.text("one"))
      try await stage.shows("Text.Content", .string("one"))
      #expect(try await stage.client.fields("FocusPath").count == 2)
      #expect(try await stage.get("Element.Name") == .string("Entry"))
      stage.state(PipeStage.text("one 😀"))
      try await stage.shows("Text.Length", .int32(5))
      #expect(try await stage.get("Text.Selection") == .structure([.int32(5), .int32(5)]))
      // (a write, the request, the reply, what the key holds then)
      let reply = #"{"type":"reply","call":CALL,"document":1,"element":1,"state":\#(PipeStage.text("two"))}"#
      async let written = stage.client.write("org.focusd.Text.Content", .string("TWO"))
      #expect(
        try await stage.answer(1, reply)
          == #"{"document":1,"element":1,"key":"Text.Content","type":"write","value":"TWO"}"#)
      #expect(try await written.value == .string("two"))
      async let inserted: Void = stage.runs("Text.Insert", [.string("x\n")])
      #expect(
        try await stage.answer(2, reply.replacingOccurrences(of: #""content":"two""#, with: #""content":"twx""#))
          == #"{"arguments":["x\n"],"document":1,"element":1,"key":"Text.Insert","type":"run"}"#)
      try await inserted
      #expect(try await stage.get("Text.Content") == .string("twx"))
      stage.send(#"{"type":"blur","tab":1}"#)
      try await stage.shows("Text.Content", nil)
      try await stage.shows("Document.Title", .string("Title"))
      stage.send(#"{"type":"gone","document":1}"#)
      try await eventually("one field") { try await stage.client.fields().count == 1 }
    }
  }

  /// Each answer of a page is an error of the writer.
  @Test func whatThePageRefusesIsRefused() async throws {
    let cases = [
      ("gone", "UnknownObject"), ("unfocused", "Failed"), ("elsewhere", "Failed"), ("read-only", "PropertyReadOnly"),
      ("refused", "Failed"), ("unshared", "AccessDenied"), ("nonsense", "Failed"),
    ]
    try await PipeStage.with { stage in
      stage.show()
      stage.focus(PipeStage.text("one"))
      try await stage.shows("Text.Content", .string("one"))
      for (index, (answer, error)) in cases.enumerated() {
        async let refusal = errorName {
          _ = try await stage.client.write("org.focusd.Text.Content", .string("two"))
        }
        _ = try await stage.answer(index + 1, #"{"type":"reply","call":CALL,"error":"\#(answer)"}"#)
        #expect(try await refusal == error, "\(answer)")
        #expect(try await stage.get("Text.Content") == .string("one"))
      }
      // These never reach the page.
      let (caret, selection) = ("org.focusd.Text.Caret", "org.focusd.Text.Selection")
      let refused: [(String, DBusValue, String)] = [
        (caret, .int32(-1), "InvalidArgs"), (selection, .structure([.int32(2), .int32(1)]), "InvalidArgs"),
        (caret, .string("x"), "TypeMismatch"), ("org.focusd.Text.Length", .int32(1), "PropertyReadOnly"),
        // Six bytes each in JSON.
        (
          "org.focusd.Text.Content", .string(String(repeating: "\u{1}", count: 200_000)), "LimitsExceeded"
        ),
      ]
      for (key, value, error) in refused {
        #expect(try await errorName { _ = try await stage.client.write(key, value) } == error, "\(key)")
      }
      // A page that does not answer.
      #expect(
        try await errorName { _ = try await stage.client.write("org.focusd.Text.Content", .string("x")) }
          == "Timeout")
      // Answers that nobody waits for change nothing but the element.
      stage.send(#"{"type":"reply","call":999,"error":"gone"}"#)
      stage.send(#"{"type":"reply","call":999,"document":9,"element":1,"state":{"role":"button"}}"#)
      stage.state(PipeStage.text("last"))
      try await stage.shows("Text.Content", .string("last"))
    }
  }

  @Test func rangesAndTogglesAreWritten() async throws {
    func slider(_ value: Double) -> String {
      #"{"role":"slider","range":{"access":"rw","value":\#(value),"minimum":0,"maximum":10,"step":0.5}}"#
    }
    try await PipeStage.with { stage in
      stage.show()
      stage.focus(slider(5))
      try await stage.shows("Range.Value", .double(5))
      let reply = #"{"type":"reply","call":CALL,"document":1,"element":1,"state":\#(slider(8.5))}"#
      async let written = stage.client.write("org.focusd.Range.Value", .double(8.25))
      #expect(
        try await stage.answer(1, reply)
          == #"{"document":1,"element":1,"key":"Range.Value","type":"write","value":8.25}"#)
      #expect(try await written.value == .double(8.5))
      #expect(
        try await errorName { _ = try await stage.client.write("org.focusd.Range.Value", .double(.infinity)) }
          == "InvalidArgs")
      stage.focus(#"{"role":"checkbox","checked":false,"checkable":"rw"}"#, element: 2)
      try await stage.shows("Toggle.Checked", .boolean(false))
      async let checked = stage.client.write("org.focusd.Toggle.Checked", .boolean(true))
      _ = try await stage.answer(
        2,
        #"{"type":"reply","call":CALL,"document":1,"element":2,"state":"#
          + #"{"role":"checkbox","checked":true,"checkable":"rw"}}"#)
      #expect(try await checked.value == .boolean(true))
    }
  }

  @Test func aWriteToAFieldThatLostFocusReachesItsElement() async throws {
    try await PipeStage.with { stage in
      stage.show()
      stage.focus(PipeStage.text("one"))
      try await stage.shows("Text.Content", .string("one"))
      let field = try #require(try await stage.client.fields("FocusPath").first)
      stage.focus(PipeStage.text("two"), element: 2)
      try await stage.shows("Text.Content", .string("two"))
      async let written = stage.client.write("org.focusd.Text.Content", .string("ONE"), at: Focus1.field(field))
      let request = try await stage.answer(
        1, #"{"type":"reply","call":CALL,"document":1,"element":1,"state":\#(PipeStage.text("ONE"))}"#)
      #expect(request.contains(#""element":1,"#))
      #expect(try await written.value == .string("ONE"))
      #expect(try await stage.get("Text.Content") == .string("two"))
      // Others may ask for focus for it.
      async let focused: Void = stage.client.focus(field)
      #expect(
        try await stage.answer(2, #"{"type":"reply","call":CALL}"#)
          == #"{"document":1,"element":1,"type":"focus"}"#)
      try await focused
    }
  }

  /// By its name, or else by what it is.
  @Test func aFieldIsLabelledForPeople() async throws {
    try await PipeStage.with { stage in
      stage.show()
      let long = String(repeating: "n", count: 257)
      for (element, (role, name, label)) in [("button", "Go", "Go"), ("link", "", "link"), ("button", long, "button")]
        .enumerated()
      {
        stage.focus(#"{"role":"\#(role)","name":"\#(name)"}"#, element: element + 1)
        try await eventually("the label '\(label)'") {
          guard let field = try await stage.client.fields("FocusPath").first else { return false }
          return try await stage.client.get("org.focusd.Focus1.Field.Label", at: Focus1.field(field)) == .string(label)
        }
      }
    }
  }

  /// Neither between two elements nor when the browser is behind does focus stop at the tab.
  @Test func focusMovesInOneStep() async throws {
    try await PipeStage.with { stage in
      let watch = try await stage.desktop.start([
        Products.focusctl, "--address", stage.desktop.bus.address, "watch", "Element.Name",
      ])
      try await watch.line("the state") { $0.hasSuffix("nil") }
      stage.show()
      for element in 1...8 {
        stage.focus(#"{"role":"button","name":"number \#(element)"}"#, element: element)
        try await stage.shows("Element.Name", .string("number \(element)"))
      }
      stage.send(#"{"type":"front"}"#)
      try await eventually("nothing focused") { try await stage.client.fields("FocusPath").isEmpty }
      stage.send(#"{"type":"front","tab":1}"#)
      try await stage.shows("Element.Name", .string("number 8"))
      // What a read shows may be on its way to the watch.
      try await eventually("the last line") { watch.progress.now.output.count >= 11 }
      watch.terminate()
      try await watch.finish()
      let told = watch.progress.now.output.map { $0.split(separator: " ").last ?? "" }
      #expect(told == ["nil", "1", "2", "3", "4", "5", "6", "7", "8", "nil", "8"])
    }
  }

  /// The daemon's answers come late, so that the next element has focus before the one before, or their tab, is registered.
  @Test(arguments: [1, 2])
  func focusWaitsForTheNextField(unregistered first: Int) async throws {
    try await PipeStage.with(isServed: false) { stage in
      let (daemon, calls) = (stage.client, Observed<[Incoming]>([]))
      daemon.answer { call, _ in
        calls.update { $0.append(call) }
        return call.member == "Register" ? .hold : .values([])
      }
      try await daemon.own(Focus1.name)
      @Sendable func path(_ number: Int) -> DBusValue { .objectPath(ObjectPath(known: Focus1.field("f\(number)"))) }
      func comes(_ registration: Int) async throws {
        try await calls.wait(for: "registration \(registration)") { calls in
          calls.count { $0.member == "Register" } >= registration ? () : nil
        }
      }
      func answer(_ registration: Int) async throws {
        try await comes(registration)
        daemon.perform { thread in
          thread.emitChanged(Focus1.manager, Focus1.managerInterface, [("FocusedField", path(registration))])
          thread.release { $0.member == "Register" ? .values([path(registration)]) : .hold }
        }
      }
      func moves(_ count: Int) async throws {
        try await stage.relay.progress.wait(for: "\(count) moves") { progress in
          progress.errors.count { $0.hasSuffix("focus is in a tab") } >= count ? () : nil
        }
      }
      stage.show()
      try await moves(1)
      if first > 1 { try await answer(1) }
      stage.focus(#"{"role":"button"}"#, element: 1)
      try await comes(first)
      stage.focus(#"{"role":"button"}"#, element: 2)
      try await moves(3)
      for registration in first...3 { try await answer(registration) }
      // Answered after the answers until here have been read.
      let host = calls.now[0].sender
      try await daemon.call(DaemonCall(to: host, Focus1.field("f3"), "org.freedesktop.DBus.Peer", "Ping"))
      stage.focus(#"{"role":"button"}"#, element: 3)
      try await comes(4)
      let others = calls.now.map(\.member).filter { $0 != "Register" }
      #expect(others.isEmpty, "\(others)")
      try await answer(4)
    }
  }

  /// What is secret is never published, told or logged, whatever the extension says of it.
  @Test func secretsAreWrittenAndNeverRead() async throws {
    let said = try await PipeStage.with { stage in
      let watch = try await stage.desktop.start([
        Products.focusctl, "--address", stage.desktop.bus.address, "watch", "Text.Content", "Element.Role",
      ])
      _ = try await watch.line("the state now") { !$0.isEmpty }
      stage.show()
      stage.focus(PipeStage.text("open"))
      try await stage.shows("Text.Content", .string("open"))
      stage.focus(PipeStage.text("hunter2", kind: "secret"), element: 2)
      try await stage.shows("Element.Role", .string("password"))
      // It was secret once.
      stage.state(PipeStage.text("hunter2"), element: 2)
      stage.focus(PipeStage.text("hunter2"), element: 2)
      // An entry that becomes secret hides what it showed.
      stage.focus(PipeStage.text("4711"), element: 3)
      try await stage.shows("Text.Content", .string("4711"))
      stage.state(PipeStage.text("4711 hunter2", kind: "secret"), element: 3)
      try await stage.shows("Element.Role", .string("password"))
      try await stage.shows("Text.Content", .string("not to be read"))
      let all = try await stage.client.readAll().values.map { "\($0)" }.joined()
      #expect(!all.contains("hunter2") && !all.contains("4711"))
      #expect(try await stage.client.readAll()["org.focusd.Text.Length"] == nil)
      async let written = stage.client.write("org.focusd.Text.Content", .string("filled in"))
      let request = try await stage.answer(
        1, #"{"type":"reply","call":CALL,"document":1,"element":3,"state":\#(PipeStage.text("hunter2"))}"#)
      #expect(request.contains("filled in"))
      #expect(try await written == Reading(value: .string(""), field: written.field, revision: 0))
      _ = try await watch.line("the entry") { $0.contains("4711") }
      watch.terminate()
      try await watch.finish()
      let told = watch.progress.now.output.joined()
      #expect(!told.contains("hunter2"), "\(told)")
    }
    for secret in ["hunter2", "4711", "open", "filled", "example"] {
      #expect(!said.contains { $0.contains(secret) }, "\(said)")
    }
  }
}

extension PipeStage {
  func runs(_ command: String, _ arguments: [DBusValue] = []) async throws {
    _ = try await client.invoke("org.focusd." + command, arguments)
  }
}
