import Dispatch
import FocusKit
import Glibc
import Synchronization

// A program whose main thread runs a loop of its own over `poll`, as one of GTK, GLib or a game does. It publishes what
// belongs to the main actor; orders come line by line, and each is answered. With `known` the loop takes FocusKit's jobs.

struct NumberKey: FocusedValueKey {
  typealias Value = Binding<Int>
  static let name = "demo.Form.Number"
}

struct TitleKey: FocusedValueKey {
  typealias Value = String
  static let name = "demo.Form.Title"
}

struct SaveKey: FocusedValueKey {
  typealias Value = @MainActor () -> Void
  static let name = "demo.Form.Save"
}

struct RefreshKey: FocusedValueKey {
  typealias Value = () async -> Void
  static let name = "demo.Form.Refresh"
}

extension FocusedValues {
  var number: NumberKey.Value? {
    get { self[NumberKey.self] }
    set { self[NumberKey.self] = newValue }
  }
  var title: TitleKey.Value? {
    get { self[TitleKey.self] }
    set { self[TitleKey.self] = newValue }
  }
  var save: SaveKey.Value? {
    get { self[SaveKey.self] }
    set { self[SaveKey.self] = newValue }
  }
  var refresh: RefreshKey.Value? {
    get { self[RefreshKey.self] }
    set { self[RefreshKey.self] = newValue }
  }
}

/// What other threads want done on the main one: a function of C's with its argument, as GLib has it.
final class Jobs: Sendable {
  typealias Function = @convention(c) (UnsafeMutableRawPointer?) -> Int32

  private struct Job: @unchecked Sendable {
    let function: Function
    let argument: UnsafeMutableRawPointer
  }

  private let posted = Mutex<[Job]>([])
  private let ends: [Int32]

  init() {
    var ends: [Int32] = [0, 0]
    pipe(&ends)
    self.ends = ends
  }

  var descriptor: Int32 { ends[0] }

  func post(_ function: @escaping Function, _ argument: UnsafeMutableRawPointer) {
    let job = Job(function: function, argument: argument)
    posted.withLock { $0.append(job) }
    _ = write(ends[1], [1], 1)
  }

  func run() {
    var bytes = [UInt8](repeating: 0, count: 64)
    _ = read(descriptor, &bytes, bytes.count)
    let jobs = posted.withLock { posted in
      defer { posted = [] }
      return posted
    }
    for job in jobs { _ = job.function(job.argument) }
  }
}

@MainActor final class Model {
  var number = 1 {
    willSet { MainActor.preconditionIsolated() }
  }
  var saved = 0
}

func say(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  _ = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}

let jobs = Jobs()
let model = Model()
if CommandLine.arguments.contains("known") { FocusClient.useMainLoop { jobs.post($0, $1) } }
FocusClient.shared.onError { say("* \($0.name) \($0.message)") }
let field = FocusField("main")
  .focusedValue(\.number, Binding(get: { model.number }, set: { model.number = $0 }))
  .focusedValue(\.title, "plain")
  .focusedValue(\.save) { model.saved += 1 }
  .focusedValue(\.refresh) { model.saved += 100 }
  .command("demo.Form.Check") {}
  .register()

let level = State(wrappedValue: 0)
let observation = level.onChange { old, new in
  MainActor.preconditionIsolated()
  say("= \(old) \(new)")
}

var descriptors = [
  pollfd(fd: 0, events: Int16(POLLIN), revents: 0), pollfd(fd: jobs.descriptor, events: Int16(POLLIN), revents: 0),
]
while true {
  poll(&descriptors, 2, -1)
  if descriptors[1].revents != 0 { jobs.run() }
  guard descriptors[0].revents != 0 else { continue }
  guard let line = readLine() else { break }
  let words = line.split(separator: " ")
  switch words.first {
  case "number": say("= \(model.number) \(model.saved)")
  case "level": level.wrappedValue = words.last.flatMap { Int($0) } ?? 0
  case "block":
    say("= blocked")
    // Until the next line, the loop does not turn.
    _ = readLine()
    say("= done")
  case "occupy":
    let end = DispatchSemaphore(value: 0)
    for _ in 0..<1000 { DispatchQueue.global().async { end.wait() } }
    say("= occupied")
  default: say("! \(line)")
  }
}
