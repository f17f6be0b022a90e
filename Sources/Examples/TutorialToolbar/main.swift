import FocusKit

// The second program of the tutorial: it shows and changes the number that has focus, in whichever program that is.

// snippet: toolbar
struct Toolbar {
  @FocusedValue(\.reset) private var reset

  func double() async throws {
    try await FocusClient.shared.update(\.number) { $0 *= 2 }
  }

  func clear() async throws {
    try await reset?()
  }

  func show() async {
    for await number in FocusClient.shared.changes(of: \.number) {
      print(number.map { "the number is \($0)" } ?? "no number has focus")
    }
  }
}
// end

// snippet: toolbar's terminal
let toolbar = Toolbar()
Task.detached { [toolbar] in await toolbar.show() }
while let line = readLine(), line != "quit" {
  do {
    switch line {
    case "double": try await toolbar.double()
    case "clear": try await toolbar.clear()
    default: print("double, clear or quit?")
    }
  } catch {
    print(error)
  }
}
// end
