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
  private static func check(_ client: Client, at path: String) throws {
    for key in [password, notes, notes + "/0", notes + "/9", notes + "/-"] {
      #expect(refusal { _ = try client.read(key, at: path) } == "AccessDenied")
    }
    #expect(refusal { _ = try client.get("demo.Login", "Password", at: path) } == "AccessDenied")
    #expect(try client.getAll("demo.Login", at: path) == .properties([]))
    for shown in [
      try client.getAll("", at: path), try client.call(path, "org.focusd.Focus1.Bindings", "ReadAll").first,
      try client.get("org.focusd.Focus1.Bindings", "Keys", at: path),
      try client.getAll("org.focusd.Focus1.Bindings", at: path),
      try client.call(Client.manager, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects").first,
    ] {
      let text = "\(String(describing: shown))"
      #expect(shown != nil)
      #expect(!text.contains(mark) && !text.contains("demo.Login") && !text.contains("Password"), "\(text)")
    }
    let document = try client.call(path, "org.freedesktop.DBus.Introspectable", "Introspect").first?.basicText ?? ""
    #expect(document.contains(#"<property name="Password" type="s" access="write""#))
    #expect(!document.contains(mark))
  }

  @Test("Neither reads, lists and signals nor the log tell anything of them to others")
  func hidden() async throws {
    try await Daemon.with { daemon in
      let bus = daemon.bus
      let owner = try await Owner(daemon)
      let observer = try await GDBusPeer(on: bus)
      try await observer.subscribe(to: Daemon.name)
      try await owner.register("window", "{'demo.Window.Title': <'Log in'>}")
      let secret = "{'\(Self.password)': <'\(Self.mark) 1'>, '\(Self.notes)': <['\(Self.mark) 2', '\(Self.mark) 3']>}"
      try await owner.register(
        "login", secret, "{'sensitive': <true>, 'parent': <objectpath '\(Client.path("window"))'>}")
      try await owner.field("login", "Focus")
      let login = Client.path("login")
      try await onThread {
        let client = try Client(on: bus)
        for path in [Client.focused, login] { try Self.check(client, at: path) }
        #expect(try client.read("demo.Window.Title").value == .string("Log in"))

        // Others may write, and learn nothing by it: neither what is there, nor whether it was there before.
        for _ in 1...2 {
          let written = try client.write(Self.password, .string("\(Self.mark) 4"))
          #expect(written.value == .string(""))
          #expect(written.revision == 0)
          #expect(written.field == login)
        }
        try client.set("demo.Login", "Password", .string("\(Self.mark) 5"), at: login)
        try client.write(Self.notes, .strings(["\(Self.mark) 2", "\(Self.mark) 6", "\(Self.mark) 7"]))
        let underRevision = [(name: "revision", value: DBusValue.uint64(1))]
        #expect(refusal { try client.write(Self.password, .string(Self.mark), underRevision) } == "AccessDenied")
        for (key, value, error): (String, DBusValue, String) in [
          (Self.password, .int32(1), "TypeMismatch"), (Self.notes + "/9", .string(Self.mark), "AccessDenied"),
          (Self.notes + "/1", .string(Self.mark), "AccessDenied"),
          (Self.notes + "/-", .string(Self.mark), "AccessDenied"),
          (Self.password + "/0", .string(Self.mark), "AccessDenied"), (Self.mark, .string(Self.mark), "InvalidArgs"),
          ("demo.Login.\(Self.mark)", .string(Self.mark), "NotFocused"),
        ] {
          #expect(refusal { try client.write(key, value) } == error)
        }
        for path in [Client.focused, login] { try Self.check(client, at: path) }
      }
      let get = "org.freedesktop.DBus.Properties"
      for path in [Client.focused, login] {
        let shown = try await owner.peer.call(Daemon.name, path, get, "GetAll", "('demo.Login',)")
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
      let log = try await daemon.process.progress.wait(for: "a refusal in the log") { progress in
        progress.errors.contains { $0.contains("AccessDenied") } ? progress.errors : nil
      }
      #expect(!log.contains { $0.contains(Self.mark) || $0.contains("Log in") })
    }
  }

  @Test("Nobody is shown the values that outlive their owner")
  func lingering() async throws {
    try await Daemon.with { daemon in
      let bus = daemon.bus
      let owner = try await Owner(daemon)
      let observer = try await GDBusPeer(on: bus)
      try await observer.subscribe(to: Daemon.name)
      try await owner.register(
        "login", "{'\(Self.password)': <'\(Self.mark)'>, '\(Self.notes)': <['\(Self.mark)']>}",
        "{'sensitive': <true>, 'linger': <true>, 'focus': <true>}")
      try await owner.peer.kill()
      _ = try await observer.signals("end of the owner") { signals in
        signals.first { $0.arguments.contains("'Owner': <''>") }
      }
      try await onThread {
        let client = try Client(on: bus)
        for path in [Client.focused, Client.path("login")] { try Self.check(client, at: path) }
        try client.write(Self.password, .string("\(Self.mark) 2"))
        #expect(refusal { _ = try client.read(Self.password) } == "AccessDenied")
      }
      for signal in observer.signals { #expect(!signal.arguments.contains(Self.mark)) }
    }
  }
}
