import BusSupport
import DBusTypes
import TestSupport
import Testing

@Suite("Sensitive fields: their values are shown to their owner alone")
struct SensitiveTests {
  private static let password = "demo.Login.Password"
  private static let notes = "demo.Login.Notes"
  /// Every value that only the owner may see has this in it.
  private static let mark = "geheim"

  /// Whether another client is shown anything of a value, or the keys, at `path`.
  private static func check(_ client: Peer, at path: String) async throws {
    for key in [password, notes, notes + "/0", notes + "/9", notes + "/-"] {
      #expect(try await refusal { _ = try await client.read(key, at: path) } == "AccessDenied")
    }
    #expect(try await refusal { _ = try await client.get("demo.Login.Password", at: path) } == "AccessDenied")
    #expect(try await client.getAll("demo.Login", at: path).isEmpty)
    for call in [
      .getAll(at: path), .readAll(at: path), .get(Focus1.bindings + ".Keys", at: path),
      .getAll(Focus1.bindings, at: path), .managedObjects,
    ] as [DaemonCall] {
      let shown = try await client.call(call)
      let text = "\(shown)"
      #expect(!shown.isEmpty)
      #expect(!text.contains(mark) && !text.contains("demo.Login") && !text.contains("Password"), "\(text)")
    }
    let document = try await client.introspect(path)
    #expect(document.contains(#"<property name="Password" type="s" access="write""#))
    #expect(!document.contains(mark))
  }

  @Test(
    "Another's write takes a revision even if it changes nothing, else it would tell what is there",
    arguments: [false, true])
  func revision(isBound: Bool) async throws {
    try await TestDesktop.with { desktop in
      let (owner, client) = (try await desktop.peer(), try await desktop.peer())
      let (values, options): (Named, Named) = (
        [(Self.password, .string(Self.mark))], [("sensitive", .boolean(true)), ("focus", .boolean(true))]
      )
      if isBound {
        let object = Exported(
          owner, document(("demo.Login", property("Password", "s"))), [Self.password: .string(Self.mark)])
        try await owner.register("login", object: object.path, options)
      } else {
        try await owner.register("login", values, options)
      }
      for isWrite in [true, false] {
        let before = try await owner.read(Self.password).revision
        if isWrite {
          try await client.write(Self.password, .string(Self.mark))
        } else {
          try await client.set(Self.password, .string(Self.mark))
        }
        let after = try await owner.read(Self.password).revision
        #expect(after > before)
        // The owner is shown what is there.
        try await owner.write(Self.password, .string(Self.mark))
        #expect(try await owner.read(Self.password).revision == after)
      }
    }
  }

  @Test("An object's values and signals are told to nobody, whatever the scope", arguments: ["field", "session"])
  func everywhere(scope: String) async throws {
    try await TestDesktop.with { desktop in
      let (owner, client) = (try await desktop.peer(), try await desktop.peer())
      try await client.subscribe()
      let xml = document(
        ("demo.Login", property("Password", "s") + method("Do") + #"<signal name="Told"><arg type="s"/></signal>"#))
      let object = Exported(owner, xml, [Self.password: .string(Self.mark)])
      let options: Named = [("sensitive", .boolean(true)), ("scope", .string(scope))]
      try await owner.register("login", object: object.path, options, stored: [("demo.Other.Name", .string(Self.mark))])
      if scope == "field" { try await owner.focus("login") }
      object.change(Self.password, to: .string(Self.mark + "2"))
      object.emit("demo.Login", "Told", [.string(Self.mark)])
      try await owner.publish("login", [("demo.Other.Name", .string(Self.mark + "3"))])
      try await owner.settle()
      try await client.settle()
      #expect(!"\(client.signals)".contains(Self.mark))
      for path in [Focus1.focused, Focus1.field("login")] {
        #expect(try await client.readAll(at: path).isEmpty)
        #expect(try await !"\(client.getAll(at: path))".contains(Self.mark))
        let shown = try await client.introspect(path)
        #expect(shown.contains("Password") && !shown.contains(#"<signal name="Told""#), "\(shown)")
      }
    }
  }

  @Test("Neither reads, lists and signals nor the log tell anything of them to others")
  func hidden() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.witness()
      let observer = try await desktop.witness()
      try await observer.subscribe(to: Focus1.name)
      try await owner.register("window", "{'demo.Window.Title': <'Log in'>}")
      let secret = "{'\(Self.password)': <'\(Self.mark) 1'>, '\(Self.notes)': <['\(Self.mark) 2', '\(Self.mark) 3']>}"
      try await owner.register(
        "login", secret, "{'sensitive': <true>, 'parent': <objectpath '\(Focus1.field("window"))'>}")
      try await owner.field("login", "Focus")
      let login = Focus1.field("login")
      let client = try await desktop.peer()
      for path in [Focus1.focused, login] { try await Self.check(client, at: path) }
      #expect(try await client.read("demo.Window.Title").value == .string("Log in"))

      // Others may write, and learn nothing by it: neither what is there, nor whether it was there before.
      for _ in 1...2 {
        let written = try await client.write(Self.password, .string("\(Self.mark) 4"))
        #expect(written.value == .string(""))
        #expect(written.revision == 0)
        #expect(written.field == "login")
      }
      try await client.set("demo.Login.Password", .string("\(Self.mark) 5"), at: login)
      try await client.write(Self.notes, .strings(["\(Self.mark) 2", "\(Self.mark) 6", "\(Self.mark) 7"]))
      let underRevision = [(name: "revision", value: DBusValue.uint64(1))]
      #expect(
        try await refusal { try await client.write(Self.password, .string(Self.mark), underRevision) } == "AccessDenied"
      )
      for (key, value, error): (String, DBusValue, String) in [
        (Self.password, .int32(1), "TypeMismatch"), (Self.notes + "/9", .string(Self.mark), "AccessDenied"),
        (Self.notes + "/1", .string(Self.mark), "AccessDenied"),
        (Self.notes + "/-", .string(Self.mark), "AccessDenied"),
        (Self.password + "/0", .string(Self.mark), "AccessDenied"), (Self.mark, .string(Self.mark), "InvalidArgs"),
        ("demo.Login.\(Self.mark)", .string(Self.mark), "NotFocused"),
      ] {
        #expect(try await refusal { try await client.write(key, value) } == error)
      }
      for path in [Focus1.focused, login] { try await Self.check(client, at: path) }
      for path in [Focus1.focused, login] {
        let shown = try await owner.call(path, Focus1.properties, "GetAll", "('demo.Login',)")
        #expect(
          shown.contains("\(Self.mark) 5") && shown.contains("'\(Self.mark) 2', '\(Self.mark) 6', '\(Self.mark) 7'"))
      }
      try await owner.field("login", "Publish", "({'demo.Login.More': <'\(Self.mark) 8'>}, @a{sv} {})")
      try await owner.field("login", "Withdraw", "(['demo.Login.More'],)")
      try await owner.field("login", "Blur")
      try await owner.field("login", "Focus")
      try await owner.field("login", "Unregister")
      // The last signal: when it is here, all others are.
      try await owner.field("window", "Publish", "({'demo.Window.Title': <'Done'>}, @a{sv} {})")
      let signals = try await observer.signals("last signal") { signals in
        signals.last?.arguments.contains("Done") == true ? signals : nil
      }
      #expect(signals.contains { $0.member == "InterfacesAdded" && $0.arguments.contains("/login") })
      for signal in signals {
        let isSilent = !signal.arguments.contains(Self.mark) && !signal.arguments.contains("demo.Login")
        #expect(isSilent, "\(signal)")
      }
      let log = try await desktop.daemon.progress.wait(for: "a refusal in the log") { progress in
        progress.errors.contains { $0.contains("AccessDenied") } ? progress.errors : nil
      }
      #expect(!log.contains { $0.contains(Self.mark) || $0.contains("Log in") })
    }
  }

  @Test("Nobody is shown the values that outlive their owner")
  func lingering() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.witness()
      let observer = try await desktop.witness()
      try await observer.subscribe(to: Focus1.name)
      try await owner.register(
        "login", "{'\(Self.password)': <'\(Self.mark)'>, '\(Self.notes)': <['\(Self.mark)']>}",
        "{'sensitive': <true>, 'linger': <true>, 'focus': <true>}")
      try await owner.kill()
      _ = try await observer.signals("end of the owner") { signals in
        signals.first { $0.arguments.contains("'Owner': <''>") }
      }
      let client = try await desktop.peer()
      for path in [Focus1.focused, Focus1.field("login")] { try await Self.check(client, at: path) }
      try await client.write(Self.password, .string("\(Self.mark) 2"))
      #expect(try await refusal { _ = try await client.read(Self.password) } == "AccessDenied")
      // When its signal is here, all those before it are.
      try await client.register("last")
      let signals = try await observer.signals("last signal") { signals in
        signals.contains { $0.arguments.contains("/last'") } ? signals : nil
      }
      for signal in signals { #expect(!signal.arguments.contains(Self.mark)) }
    }
  }
}
