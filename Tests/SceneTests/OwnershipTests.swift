import BusSupport
import TestSupport
import Testing

/// The contract's section *Who may do what*, from outside.
@Suite struct OwnershipTests {
  @Test func readOnlyKeysAreTheOwnersToWrite() async throws {
    try await TestDesktop.with { desktop in
      let (owner, stranger) = (try await desktop.witness(), try await desktop.witness())
      try await owner.register(
        "a", "{'demo.Form.Own': <1>, 'demo.Form.Free': <1>}", "{'read_only': <['demo.Form.Own']>, 'focus': <true>}")
      for path in [Focus1.focused, Focus1.field("a")] {
        #expect(try await stranger.writing("demo.Form.Own", "2", at: path) == "PropertyReadOnly")
        #expect(try await stranger.writing("demo.Form.Free", "2", at: path) == "done")
        #expect(try await owner.writing("demo.Form.Own", "3", at: path) == "done")
        let write = try await stranger.refusal(
          path, Focus1.bindings, "Write", "('demo.Form.Own', <2>, @a{sv} {})")
        #expect(write.shortName == "PropertyReadOnly")
        #expect(try await stranger.get("demo.Form.Own", at: path) == "3")
      }
      for (client, access) in [(owner, "readwrite"), (stranger, "read")] {
        let xml = try await client.call(Focus1.focused, Focus1.introspectable, "Introspect")
        #expect(xml.contains(#"name="Own" type="i" access="\#(access)""#))
        #expect(xml.contains(#"name="Free" type="i" access="readwrite""#))
      }
    }
  }

  @Test func aSensitiveFieldShowsItsValuesToItsOwnerAlone() async throws {
    try await TestDesktop.with { desktop in
      let (owner, stranger) = (try await desktop.witness(), try await desktop.witness())
      try await stranger.subscribe(to: Focus1.name)
      let window = try await owner.register("window", "{'demo.Form.Title': <'w'>, 'demo.Login.Password': <'outer'>}")
      try await owner.register(
        "password", "{'demo.Login.Password': <'hunter2'>}",
        "{'parent': <objectpath '\(window)'>, 'sensitive': <true>, 'focus': <true>}")
      let secrets = ["hunter2", "hunter3", "hunter4", "hunter5"]
      for path in [Focus1.focused, Focus1.field("password")] {
        #expect(try await owner.get("demo.Login.Password", at: path) == "'hunter2'")
        #expect(try await stranger.value("demo.Login.Password", at: path) == "AccessDenied")
        let read = try await stranger.refusal(path, Focus1.bindings, "Read", "('demo.Login.Password',)")
        #expect(read.shortName == "AccessDenied")
        for (member, arguments, interface) in [
          ("GetAll", "('',)", Focus1.properties), ("GetAll", "('demo.Login',)", Focus1.properties),
          ("ReadAll", "()", Focus1.bindings),
        ] {
          let shown = try await stranger.call(path, interface, member, arguments)
          #expect(!shown.contains("hunter") && !shown.contains("Password"), "\(path) \(member): \(shown)")
          #expect(try await owner.call(path, interface, member, arguments).contains("hunter2"))
        }
      }
      let managed = try await stranger.call(Focus1.manager, Focus1.objectManager, "GetManagedObjects")
      #expect(!managed.contains("hunter"))
      #expect(managed.contains("'outer'"))
      // Others may write it; it is the owner's to see.
      #expect(try await stranger.writing("demo.Login.Password", "'hunter3'") == "done")
      #expect(try await owner.get("demo.Login.Password") == "'hunter3'")
      #expect(try await stranger.writing("demo.Login.Password", "'hunter4'", at: Focus1.field("password")) == "done")
      #expect(try await stranger.writing("demo.Login.Password", "1") == "TypeMismatch")
      try await owner.field("password", "Publish", "({'demo.Login.Password': <'hunter5'>}, @a{sv} {})")
      try await owner.focus("window")
      #expect(try await stranger.get("demo.Login.Password") == "'outer'")
      try await owner.field("password", "Unregister")
      try await owner.register("end")
      _ = try await stranger.signals("the end") { $0.first { $0.arguments.contains(Focus1.field("end")) } }
      for signal in stranger.signals {
        for secret in secrets { #expect(!signal.arguments.contains(secret), "\(signal)") }
      }
      for line in desktop.log {
        for secret in secrets + ["outer"] { #expect(!line.contains(secret), "\(line)") }
      }
    }
  }

  @Test func noValueIsLogged() async throws {
    try await TestDesktop.with { desktop in
      let client = try await desktop.witness()
      try await client.register("a", "{'demo.Form.Name': <'hunter2'>}", "{'focus': <true>, 'linger': <true>}")
      try await client.set("demo.Form.Name", "'hunter3'")
      for arguments in [
        "('demo.Form.Name', <['hunter4']>, @a{sv} {})", "('hunter.Name', <'hunter5'>, {'hunter6': <'hunter7'>})",
      ] {
        _ = try await client.refusal(Focus1.focused, Focus1.bindings, "Write", arguments)
      }
      _ = try await client.refusal(
        Focus1.manager, Focus1.managerInterface, "Register",
        "('b', {'demo.Form.Name': <uint32 4711>}, {'x': <'hunter8'>})")
      try await client.field("a", "Unregister")
      let log = desktop.log
      #expect(!log.isEmpty)
      for line in log { #expect(!line.contains("hunter") && !line.contains("4711"), "\(line)") }
    }
  }
}
