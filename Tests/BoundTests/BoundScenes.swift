import BusSupport
import DBusTypes
import TestSupport
import Testing

/// The scenes of SEEDS.md with bound fields, the owner, the writer and the readers in processes of their own.
@Suite("Scenes of bound fields")
struct BoundScenes {
  @Test("LocalBinding", arguments: Toolkit.allCases)
  func localBinding(_ toolkit: Toolkit) async throws {
    try await TestDesktop.with { desktop in
      let owner = try await toolkit.owner(desktop)
      let client = try await desktop.peer()
      try await client.subscribe()
      let key = "demo.Size.Position"
      #expect(try await desktop.focusctl("get", key).text == "0.15")
      let steps: [(given: String, taken: Double, size: String)] = [
        ("0.8", 0.85, "large"), ("0.25", 0.5, "medium"), ("0.75", 0.85, "large"), ("0.2499", 0.15, "small"),
        ("0", 0.15, "small"), ("1", 0.85, "large"),
      ]
      var sizes: [String] = []
      for step in steps {
        // By hand and as a property by turns; the reply of `Write` holds what the owner made of the value.
        if sizes.count % 2 == 0 {
          let written = try await client.write(key, .double(try #require(Double(step.given))))
          #expect(written.value == .double(step.taken))
          #expect(written.field == "size")
        } else {
          let set = try await desktop.busctl("set-property", "demo.Size", "Position", "d", step.given)
          #expect(set.succeeded, "\(set)")
        }
        #expect(try await desktop.busctl("get-property", "demo.Size", "Position").text == "d \(step.taken)")
        #expect(try await desktop.focusctl("get", "--field", "size", "Position").text == "\(step.taken)")
        #expect(try await client.get(key) == .double(step.taken))
        if sizes.last != step.size { sizes.append(step.size) }
      }
      let words = try await owner.progress.wait(for: "\(sizes.count) sizes") { [count = sizes.count] progress in
        let words = progress.output.filter { $0 != "ready" }
        return words.count >= count ? words : nil
      }
      #expect(words == sizes)
      #expect(client.signals.values(of: key).compactMap { $0 } == [0.85, 0.5, 0.85, 0.15, 0.85].map { .double($0) })

      let own = "org.example.Size.OutOfRange"
      let error = await #expect(throws: RemoteError.self) { try await client.set(key, .double(1.5)) }
      #expect(error == RemoteError(name: own, message: "1.5 is not within 0 and 1"))
      let told = try await desktop.busctl("set-property", "demo.Size", "Position", "d", "1.5")
      #expect(!told.succeeded && told.errorText.contains("1.5 is not within 0 and 1"), "\(told)")
      let refused = try await desktop.focusctl("set", key, "1.5")
      #expect(refused.status == 4 && refused.errorText.contains("1.5 is not within 0 and 1"), "\(refused)")
      #expect(try await client.get(key) == .double(0.85))

      // The rest of the object is there too: a constant, a command, a signal.
      #expect(try await desktop.busctl("get-property", "demo.Size", "Name").text == "s \"Size\"")
      #expect(try await refusal { try await client.set("demo.Size.Name", .string("x")) } == "PropertyReadOnly")
      #expect(try await desktop.busctl("call", "demo.Size", "Reset").text == "d 0.15")
      #expect(try await client.get(key) == .double(0.15))
      try await client.signals("Resized") { signals in
        signals.contains { $0.path == Focus1.focused && $0.member == "Resized" && $0.arguments == [.string("small")] }
          ? () : nil
      }
      let shown = try await desktop.busctl("introspect", "demo.Size")
      for part in [".Position property d", ".Name property s", ".Reset method - d", ".Resized signal s"] {
        let columns = shown.output.map { $0.split(separator: " ").joined(separator: " ") }
        #expect(columns.contains { $0.hasPrefix(part) }, "\(part) in \(columns)")
      }
      try await owner.stop()
      try await client.signals("end") { $0.values(of: key).last == .some(nil) ? () : nil }
      #expect(try await client.fields().isEmpty)
    }
  }

  @Test("Binding: a child toggles the parent's isPlaying; a plain copy stays a copy")
  func binding() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.script(resource("toggle.py"))
      let key = "demo.Player.IsPlaying"
      let readers = [
        try await desktop.start([Products.focusctl, "watch", key]),
        try await desktop.start([Products.focusctl, "watch", "IsPlaying"]),
      ]
      for reader in readers { try await reader.line { $0 == "false" } }
      let toggled = try await desktop.focusctl("update", "IsPlaying", "toggle")
      #expect(toggled.succeeded, "\(toggled)")
      try await owner.line { $0 == "playing" }
      for reader in readers { #expect(try await reader.lines(2) == ["false", "true"]) }
      #expect(try await desktop.busctl("get-property", "demo.Player", "IsPlaying").text == "b true")
      // Without a binding a child can only read.
      let written = try await desktop.focusctl("update", "Copy", "toggle")
      #expect(written.status == 4, "\(written)")
      #expect(try await desktop.busctl("get-property", "demo.Player", "Copy").text == "b false")
      // The owner's own change is everyone's too.
      owner.send(line: "pause")
      for reader in readers { #expect(try await reader.lines(3) == ["false", "true", "false"]) }
      #expect(try await desktop.focusctl("get", "Copy").text == "false")
    }
  }

  @Test("Commands: the same call from a script reaches whichever field has focus; disabled and nil are told apart")
  func commands() async throws {
    try await TestDesktop.with { desktop in
      let first = try await desktop.script(resource("editor.py"), "first")
      let second = try await desktop.script(resource("editor.py"), "second")
      func who() async throws -> CommandResult { try await desktop.focusctl("run", "Who") }
      func order(_ owner: ManagedProcess, _ line: String) async throws {
        let before = owner.progress.now.output.count
        owner.send(line: line)
        try await owner.line(from: before) { $0 == line }
      }

      let nothing = try await who()
      #expect(nothing.status == 1 && nothing.output.isEmpty, "\(nothing)")
      for (owner, name) in [(first, "first"), (second, "second"), (first, "first")] {
        try await order(owner, "focus")
        #expect(try await who().text == name)
        #expect(try await desktop.busctl("call", "demo.Edit", "Who").text == "s \"\(name)\"")
        let inserted = try await desktop.focusctl("run", "demo.Edit.Insert", "from \(name)", "0")
        #expect(inserted.succeeded, "\(inserted)")
        #expect(inserted.output.first?.hasPrefix("from \(name)") == true)
        try await owner.line { $0 == "inserted from \(name)" }
      }
      // It greys out where the field says so, and the other field's does not.
      try await order(first, "disable Who")
      let disabled = try await who()
      #expect(disabled.status == 4 && disabled.errorText.contains("disabled"), "\(disabled)")
      #expect(try await desktop.focusctl("run", "--field", "second", "Who").text == "second")
      #expect(
        try await desktop.busctl("get-property", Focus1.bindings, "Commands").text
          == #"a{sb} 3 "demo.Edit.Insert" true "demo.Edit.Who" false "demo.First.Close" true"#)
      try await order(first, "enable Who")
      #expect(try await who().text == "first")
      try await order(first, "blur")
      #expect(try await who().status == 1)
    }
  }
}
