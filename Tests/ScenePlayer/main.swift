import FocusKit
import Foundation

// Plays a part of a scene: takes its orders line by line, and answers each with a line that begins with `=`, or with `!`
// where it failed. What comes unasked begins with `~` for a watched key, with `*` for the error handler.

let scene = Scene()
let toolbar = Toolbar()

func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

FocusClient.shared.onError { say("* \($0.name) \($0.message)") }

for await line in orders() {
  let words = line.split(separator: " ").map(String.init)
  do {
    say("= \(try await play(words[0], Array(words.dropFirst())))")
  } catch let error as FocusError {
    say("! \(error.name) \(error.message)")
  } catch {
    say("! \(error)")
  }
}

/// The lines of standard input, read on a thread of its own.
func orders() -> AsyncStream<String> {
  AsyncStream { continuation in
    Thread.detachNewThread {
      while let line = readLine() { continuation.yield(line) }
      continuation.finish()
    }
  }
}

@MainActor func play(_ verb: String, _ words: [String]) async throws -> String {
  switch verb {
  // The owner's part.
  case "register": try await scene.register(words)
  case "remove": scene.remove(words[0])
  case "focus": scene.focus = words[0] == "-" ? nil : words[0]
  case "take-focus": try await scene.field(words[0]).focus()
  case "focused": return scene.focus ?? "nil"
  case "source": return scene.sources[words[0]]?.get() ?? "none"
  case "change": try scene.sources[words[0]]?.set(words[1])
  case "press": scene.buttons[words[0]]?.press()
  case "copy": return "\(scene.buttons[words[0]]?.copy ?? false)"
  case "enable": try await scene.field(words[0]).setEnabled(\.save, words[1] == "true")
  case "saved": return "\(scene.saved.wrappedValue)"
  case "toggles": return "\(scene.toggles.wrappedValue)"
  // The unrelated view's.
  case "read": return try Focused.named(words[0], toolbar).get()
  case "assign": try Focused.named(words[0], toolbar).assign(words[1])
  case "write": return try await Focused.named(words[0], toolbar).write(words[1])
  case "write-at": return encoded(try await FocusClient.shared.write(words[0], try decoded(words[1]) as Bool))
  case "multiply": toolbar.number? *= 8
  case "rename": Binding(toolbar.$person)?.name.wrappedValue = words[0]
  case "press-focused": Binding(toolbar.$playing).map { Panel(isPlaying: $0).button.press() }
  case "can-save": return "\(toolbar.save != nil)"
  case "save": toolbar.save?()
  case "run-save": try await FocusClient.shared.run(\.save)
  case "ask-focus": try await FocusClient.shared.focus(words[0])
  case "append": try await append(try decoded(words[0]))
  case "grow": for _ in 0..<(try decoded(words[0]) as Int) { toolbar.lamps?.append(true) }
  case "count": for _ in 0..<(try decoded(words[0]) as Int) { toolbar.number? += 1 }
  case "update-lamps":
    for _ in 0..<(try decoded(words[0]) as Int) { try await FocusClient.shared.update(\.lamps) { $0.append(true) } }
  case "memory":
    let before = try residentKilobytes()
    try await strain(try decoded(words[0]))
    return "\(try residentKilobytes() - before)"
  case "toggle": return "\(try await toggle(try decoded(words[0])))"
  case "watch":
    let changes = try Focused.named(words[0], toolbar).changes()
    Task { for await value in changes { say("~ \(words[0]) \(value)") } }
  default: throw Misunderstood("no order '\(verb)'")
  }
  return "done"
}

/// Appends `count` elements to the list that has focus.
@MainActor func append(_ count: Int) async throws {
  for number in 0..<count { try await FocusClient.shared.write("demo.Todo.Items/-", Todo(description: "\(number)")) }
}

/// Toggles the third element of the list that has focus so often; returns how often it was taken.
@MainActor func toggle(_ count: Int) async throws -> Int {
  var taken = 0
  for number in 0..<count
  where try await FocusClient.shared.write("demo.Todo.Items/2/done", number % 2 == 0) == (number % 2 == 0) {
    taken += 1
  }
  return taken
}

/// Changes a watched state and begins and ends waits, each `count` times.
@MainActor func strain(_ count: Int) async throws {
  let state = State(wrappedValue: 0)
  let field = FocusField("strained").focusedValue(\.number, state.projectedValue).register()
  try await field.registered()
  let observer = Task { for await _ in state.changes() {} }
  for number in 0..<(10 * count) { state.wrappedValue = number }
  for _ in 0..<count {
    let task = Task { for await _ in FocusClient.shared.changes(of: \.number) {} }
    let unread = FocusClient.shared.changes(of: \.number)
    task.cancel()
    withExtendedLifetime(unread) {}
    await task.value
  }
  observer.cancel()
}

/// How much memory this process has.
func residentKilobytes() throws -> Int {
  let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
  let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
  return Int(line.filter(\.isNumber)) ?? 0
}
